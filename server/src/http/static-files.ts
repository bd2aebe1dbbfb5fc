import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { endResponse } from './body.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** For compression: pictures and fonts are compressed already. */
const COMPRESSED = new Set(['.png', '.woff2'])

export interface StaticFile {
  plain: Buffer
  /** created on first use; null: it would not be smaller */
  zipped: (() => Promise<Buffer>) | null
  headers: Record<string, string>
}

/**
 * The files of a built site, in memory: no path leads to any other file, and a rebuild does not affect a running service.
 * The policy limits the sources that a page may load and run.
 */
export function filesIn(folder: string, policyOf: (page: string) => string): Map<string, StaticFile> {
  const files = new Map<string, StaticFile>()
  if (!existsSync(folder)) return files
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    // The build's own files beside the pages are not served.
    if (entry.isFile() && !name.startsWith('.'))
      files.set(name, staticFile(name, readFileSync(path), policyOf))
  }
  return files
}

function staticFile(name: string, plain: Buffer, policyOf: (page: string) => string): StaticFile {
  const type = extname(name)
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  let zipped: Promise<Buffer> | undefined
  return {
    plain,
    zipped: COMPRESSED.has(type)
      ? null
      : () => {
          zipped ??= promisify(gzip)(plain, { level: 9 })
          return zipped
        },
    headers: {
      'Content-Security-Policy': policyOf(type === '.html' ? plain.toString('utf8') : ''),
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Content-Type': TYPES[type] ?? 'application/octet-stream',
      'Cache-Control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: `"${hash}"`,
      Vary: 'Accept-Encoding',
    },
  }
}

/** Answers with a file; with status 304 if the client has it already. */
export async function sendFile(
  file: StaticFile,
  status: 200 | 404,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    endResponse(request, response.writeHead(405, { Allow: 'GET, HEAD' }))
    return
  }
  if (status === 200 && request.headers['if-none-match'] === file.headers.ETag) {
    endResponse(request, response.writeHead(304, file.headers))
    return
  }
  const zips = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  const zipped = zips && file.zipped ? await file.zipped() : null
  const body = zipped ?? file.plain
  response.writeHead(status, {
    ...file.headers,
    ...(zipped && { 'Content-Encoding': 'gzip' }),
    'Content-Length': body.length,
  })
  endResponse(request, response, request.method === 'HEAD' ? '' : body)
}

/** Whether the request is a browser's for a page, such as after a click on a link. */
export const isForReading = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')

export function sendText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' })
  endResponse(request, response, `${text}\n`)
}
