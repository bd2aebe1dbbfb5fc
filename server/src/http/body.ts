import type { IncomingMessage, ServerResponse } from 'node:http'
import { badRequest, type ErrorCode, TollgateError } from '../domain/errors.ts'
import { MAX_BODY_BYTES, REQUEST_TIMEOUT_MS } from '../domain/limits.ts'

/** A body that is not read. GraphQL answers BAD_REQUEST, as for any malformed request; `code` of REST is more exact. */
export class RefusedBody extends TollgateError {
  readonly restCode: ErrorCode

  constructor(restCode: ErrorCode, message: string) {
    super('BAD_REQUEST', message)
    this.restCode = restCode
  }
}

/** Reads the body, or rejects it as soon as it is too large. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') {
      reject(
        new RefusedBody(
          'UNSUPPORTED_MEDIA_TYPE',
          `Content-Encoding ${JSON.stringify(encoding)} is not supported. Send the body uncompressed.`,
        ),
      )
      return
    }
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
      reject(tooLarge())
      return
    }
    // The client may have disconnected while its key was looked up; then no event follows.
    if (request.destroyed) {
      reject(endedEarly())
      return
    }
    // The body nearly always arrives with its headers, so usually no timer is needed.
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

const endedEarly = () => badRequest('The request body is incomplete')
const tooSlow = () => badRequest(`The request body must arrive within ${REQUEST_TIMEOUT_MS / 1_000} seconds`)
const tooLarge = () =>
  new RefusedBody('CONTENT_TOO_LARGE', `The request body must be at most ${MAX_BODY_BYTES} bytes`)

/** Whether an unread body blocks the next request on the connection. */
export function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Ends a response whose headers are sent. A little of an unread body is read first: otherwise the connection of a
 * client that is still sending would be reset, and the response lost. A client that keeps sending is cut off.
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
