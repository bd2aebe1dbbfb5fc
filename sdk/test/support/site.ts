import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const TEST = fileURLToPath(new URL('..', import.meta.url))

/** An application's own site, on an origin of its own. */
export interface Site {
  url: string
  /** how many tokens its backend has handed out */
  tokens: number
  close(): Promise<void>
}

export interface SitePage {
  /** what stands in the body before the script runs */
  body: string
  /** a module; its imports are relative to the folder of the tests */
  script: string
  /** what its backend answers at /token */
  token(): Promise<string>
  /** what its backend does at /use */
  use?(): Promise<unknown>
}

export async function serveSite({ body, script, token, use }: SitePage): Promise<Site> {
  const bundle = await bundled(script)
  const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body>${body}<script type="module" src="/page.js"></script>`
  const server = createServer(async (request, response) => {
    switch (request.url) {
      case '/':
        return response.setHeader('Content-Type', 'text/html').end(html)
      case '/page.js':
        return response.setHeader('Content-Type', 'text/javascript').end(bundle)
      case '/token':
        site.tokens++
        return response.end(await token())
      case '/use':
        await use?.()
        return response.end()
      default:
        return response.writeHead(404).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const site: Site = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens: 0,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return site
}

async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: TEST, loader: 'tsx' },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
    write: false,
    logLevel: 'warning',
  })
  return outputFiles[0]?.text ?? ''
}
