import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

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
