import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { endResponse, hasUnreadBody } from './body.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

interface Answer {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
  contentType?: string
}

export function answerJson(answer: Answer, status: number, result: unknown): void {
  const { request, response } = answer
  if (response.destroyed) return
  // A string is sent in one write with the headers; a buffer would take two.
  const body = JSON.stringify(result)
  response.writeHead(status, [...headersOf(answer), 'Content-Length', String(Buffer.byteLength(body))])
  endResponse(request, response, body)
}

/** Streams JSON. */
export async function answerStream(answer: Answer, pieces: AsyncIterable<string>): Promise<void> {
  const { response } = answer
  response.writeHead(200, headersOf(answer))
  await pour(pieces, response)
  response.end()
}

/** Writes pieces as they are produced, no faster than the client reads, each framed by `framed`. */
export async function pour(
  pieces: AsyncIterable<string>,
  to: Writable,
  framed: (piece: string) => string = (piece) => piece,
): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (to.destroyed) return
      if (!to.write(framed(piece))) await room(to)
    }
  } catch (error) {
    // The status has been sent, so only a broken connection shows the caller that the response is incomplete.
    to.destroy()
    throw error
  }
}

/** Waits until the client has read what was written, or is gone. Leaves no listener behind. */
function room(to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      to.off('drain', done).off('close', done)
      resolve()
    }
    to.on('drain', done).on('close', done)
  })
}

function headersOf({ request, requestId, contentType = JSON_TYPE }: Answer): string[] {
  const headers = ['Content-Type', contentType, 'Cache-Control', 'no-store', 'X-Request-Id', requestId]
  if (hasUnreadBody(request)) headers.push('Connection', 'close')
  return headers
}
