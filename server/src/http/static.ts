import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { endResponse } from './body.ts'
import { isOurHost, notOurHost } from './our-host.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** Top-level paths of the dashboard. The pages route everything below them. */
const PAGES = /^\/(?:$|(?:sign-in|setup|invite|reset|members|account|apps)(?:$|\/))/

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    // The widgets write their sizes into style elements; styles run no code.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

interface StaticFile {
  plain: Buffer
  /** created on first use */
  zipped: Promise<Buffer> | null
  headers: Record<string, string>
}

/**
 * The built pages of the dashboard, in memory: no path leads to any other file, and a rebuild does not affect a running
 * service.
 */
export function dashboardPages(folder: string, publicUrl: () => string) {
  const files = filesIn(folder)

  return async function answer(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> {
    const name = PAGES.test(path) ? 'index.html' : path.slice(1)
    // A browser that follows a broken link gets a page, a program a plain response.
    const unknown = !files.has(name) && name !== 'index.html'
    if (unknown && !isForReading(request)) return false
    const file = files.get(unknown ? 'index.html' : name)
    if (!file) {
      response.writeHead(503, { 'Content-Type': 'text/plain; charset=utf-8' })
      endResponse(request, response, 'The dashboard is not built. In a clone, run npm run build.\n')
      return true
    }
    if (!isOurHost(request.headers.host, publicUrl())) {
      response.writeHead(421, { 'Content-Type': 'text/plain; charset=utf-8' })
      endResponse(request, response, `${notOurHost(publicUrl())}\n`)
      return true
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      endResponse(request, response.writeHead(405, { Allow: 'GET, HEAD' }))
      return true
    }
    if (!unknown && request.headers['if-none-match'] === file.headers.ETag) {
      endResponse(request, response.writeHead(304, file.headers))
      return true
    }
    const zips = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    const body = zips ? await zipped(file) : file.plain
    response.writeHead(unknown ? 404 : 200, {
      ...file.headers,
      ...(zips && { 'Content-Encoding': 'gzip' }),
      'Content-Length': body.length,
    })
    endResponse(request, response, request.method === 'HEAD' ? '' : body)
    return true
  }
}

const isForReading = ({ method, headers }: IncomingMessage): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')

function zipped(file: StaticFile): Promise<Buffer> {
  file.zipped ??= promisify(gzip)(file.plain, { level: 9 })
  return file.zipped
}

function filesIn(folder: string): Map<string, StaticFile> {
  const files = new Map<string, StaticFile>()
  if (!existsSync(folder)) return files
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    // The build's own files beside the pages are not served.
    if (entry.isFile() && !name.startsWith('.')) files.set(name, staticFile(name, readFileSync(path)))
  }
  return files
}

function staticFile(name: string, plain: Buffer): StaticFile {
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  return {
    plain,
    zipped: null,
    headers: {
      ...HEADERS,
      'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
      'Cache-Control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: `"${hash}"`,
      Vary: 'Accept-Encoding',
    },
  }
}
