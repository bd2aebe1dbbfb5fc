import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { openapiDocument } from '../rest/openapi.ts'
import { restOperations } from '../rest/operations.ts'
import { endResponse } from './body.ts'

export const OPENAPI_PATH = '/v1/openapi.json'

/** The OpenAPI document, without authentication. Generated once, on first use. */
export function openapiEndpoint() {
  let made: { plain: Buffer; zipped: Promise<Buffer>; etag: string } | undefined

  return async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    made ??= make()
    const headers = { 'Cache-Control': 'no-cache', ETag: made.etag, Vary: 'Accept-Encoding' }
    if (request.headers['if-none-match'] === made.etag) {
      endResponse(request, response.writeHead(304, headers))
      return
    }
    const zips = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    const body = zips ? await made.zipped : made.plain
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      ...(zips && { 'Content-Encoding': 'gzip' }),
      'Content-Length': body.length,
    })
    endResponse(request, response, request.method === 'HEAD' ? '' : body)
  }
}

function make() {
  const plain = Buffer.from(`${JSON.stringify(openapiDocument(restOperations()))}\n`)
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 22)
  return { plain, zipped: promisify(gzip)(plain, { level: 9 }), etag: `"${hash}"` }
}
