import type { IncomingMessage, ServerResponse } from 'node:http'
import { badRequest } from '../domain/errors.ts'
import { MAX_BODY_BYTES, REQUEST_TIMEOUT_MS } from '../domain/limits.ts'

/** The whole body, or a refusal as soon as it is seen to be too large. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      reject(
        badRequest(`Content-Encoding ${JSON.stringify(encoding)} is not supported: send the body as it is`),
      )
      return
    }
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
      reject(tooLarge())
      return
    }
    // It may have gone while its key was looked up, and then says nothing any more.
    if (request.destroyed) {
      reject(endedEarly())
      return
    }
    // Nearly always it came together with its headers, and a timer for each request would cost.
    const slow = request.complete ? undefined : setTimeout(() => reject(tooSlow()), REQUEST_TIMEOUT_MS)
    const chunks: Buffer[] = []
    let bytes = 0
    const onData = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) {
        request.off('data', onData)
        clearTimeout(slow)
        reject(tooLarge())
      } else {
        chunks.push(chunk)
      }
    }
    request.on('data', onData)
    request.on('end', () => {
      clearTimeout(slow)
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes))
    })
    request.on('error', () => {
      clearTimeout(slow)
      reject(endedEarly())
    })
  })
}

const endedEarly = () => badRequest('The request ended before its body did')
const tooSlow = () => badRequest(`The request body must arrive within ${REQUEST_TIMEOUT_MS / 1_000} seconds`)
const tooLarge = () => badRequest(`The request body must be at most ${MAX_BODY_BYTES} bytes`)

/** Whether something of the request's body stands in the way of the next request on its connection. */
export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Ends an answer whose headers are out. A body that nobody has read is let go of, but a little of it is taken in
 * first: the connection of a client in the middle of sending would be reset, and our answer lost with it. One that
 * goes on sending is cut off, and so is one that never comes to an end.
 */
export function endResponse(
  request: IncomingMessage,
  response: ServerResponse,
  last: string | Buffer = '',
): void {
  if (!hasUnreadBody(request)) {
    response.end(last)
    return
  }
  response.write(last)
  const slow = setTimeout(() => request.destroy(), REQUEST_TIMEOUT_MS)
  request.on('close', () => clearTimeout(slow))
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) request.destroy()
  })
  request.on('end', () => response.end())
  request.resume()
}
