import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { endResponse } from './body.ts'
import { filesIn, isForReading, type StaticFile, sendFile, sendText } from './static-files.ts'

/**
 * The built documentation, below `/docs`. It is the same for everybody and needs neither a session nor the dashboard, so
 * it answers to any host name. It is read on the first visit: in a clone, its build ends after the first start.
 */
export function docsPages(folder: () => string) {
  let files = new Map<string, StaticFile>()

  return async function answer(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (path === '/docs') {
      endResponse(request, response.writeHead(308, { Location: '/docs/' }))
      return
    }
    if (files.size === 0) files = filesIn(folder(), policyOf)
    const file = fileAt(files, path.slice('/docs/'.length))
    if (file) return sendFile(file, 200, request, response)
    const page = files.get('404.html')
    if (page && isForReading(request)) return sendFile(page, 404, request, response)
    if (files.size > 0)
      return sendText(request, response, 404, 'Not found. The documentation starts at /docs/.')
    response.setHeader('Retry-After', '30')
    sendText(request, response, 503, NOT_BUILT)
  }
}

const NOT_BUILT =
  'The documentation is not built yet. In a clone, npm start builds it once the service runs, which takes up to a minute; npm run docs builds it now.'

/** Pages are linked without `.html`: `guides/trials` is a file, `decisions/` the index of a folder. */
function fileAt(files: Map<string, StaticFile>, name: string): StaticFile | undefined {
  if (name === '' || name.endsWith('/')) return files.get(`${name}index.html`)
  return files.get(name) ?? files.get(`${name}.html`)
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g

/** Scripts within a page are those of its build: they set the colours before the first paint. */
function policyOf(page: string): string {
  const hashes = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src 'self'${hashes.join('')}`,
    // The theme writes sizes and colours of code into style attributes; styles run no code.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
