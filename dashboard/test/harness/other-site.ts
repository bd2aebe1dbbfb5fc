import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'

/** Somebody else's web site, whose one page is what the last call of `show` made it. */
export interface OtherSite {
  /** as the same site with another port: the browser sends cookies that are for the same site alone */
  near: string
  /** as another site */
  far: string
  show(html: string): void
  close(): Promise<void>
}

export async function openOtherSite(): Promise<OtherSite> {
  let page = ''
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(page)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    near: `http://127.0.0.1:${port}`,
    far: `http://localhost:${port}`,
    show(html) {
      page = `<!doctype html><title>Other site</title>${html}`
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Notes the Cookie header of every request to this address, undefined where there was none. Asked of the browser
 * itself: playwright loses it for what a page asks of another origin.
 */
export async function cookiesSent(page: Page, url: string): Promise<() => (string | undefined)[]> {
  const asked = new Set<string>()
  const headers = new Map<string, string | undefined>()
  const session = await page.context().newCDPSession(page)
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith(url)) asked.add(requestId)
  })
  session.on('Network.requestWillBeSentExtraInfo', ({ requestId, headers: { Cookie } }) => {
    headers.set(requestId, Cookie)
  })
  await session.send('Network.enable')
  return () => [...asked].map((id) => headers.get(id))
}
