import type { IncomingMessage, ServerResponse } from 'node:http'
import { isOurHost, notOurHost } from './our-host.ts'
import { filesIn, isForReading, sendFile, sendText } from './static-files.ts'

/** Top-level paths of the dashboard. The pages route everything below them. */
const PAGES = /^\/(?:$|(?:sign-in|setup|invite|reset|members|account|apps)(?:$|\/))/

const POLICY = [
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
].join('; ')

/** The built pages of the dashboard. */
export function dashboardPages(folder: string, publicUrl: () => string) {
  const files = filesIn(folder, () => POLICY)

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
    if (!file) sendText(request, response, 503, 'The dashboard is not built. In a clone, run npm run build.')
    else if (!isOurHost(request.headers.host, publicUrl()))
      sendText(request, response, 421, notOurHost(publicUrl()))
    else await sendFile(file, unknown ? 404 : 200, request, response)
    return true
  }
}
