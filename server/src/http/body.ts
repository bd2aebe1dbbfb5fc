import type { IncomingMessage } from 'node:http'
import { badRequest } from '../domain/errors.ts'
import { MAX_BODY_BYTES } from '../domain/limits.ts'

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
    const chunks: Buffer[] = []
    let bytes = 0
    const onData = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) {
        request.off('data', onData)
        reject(tooLarge())
      } else {
        chunks.push(chunk)
      }
    }
    request.on('data', onData)
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes)),
    )
    request.on('error', () => reject(badRequest('The request ended before its body did')))
  })
}

const tooLarge = () => badRequest(`The request body must be at most ${MAX_BODY_BYTES} bytes`)

/**
 * Lets go of a body that nobody will read. A little of it is taken in, so that a client in the middle of sending
 * gets to read our answer; one that goes on is cut off.
 */
export function discardBody(request: IncomingMessage): void {
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) request.destroy()
  })
  request.resume()
}
