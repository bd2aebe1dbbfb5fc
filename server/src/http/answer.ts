import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { endResponse, hasUnreadBody } from './body.ts'

interface Answer {
  request: IncomingMessage
  response: ServerResponse
  requestId: string
}

/** Answers with JSON. */
export function answerJson(answer: Answer, status: number, result: object): void {
  const { request, response } = answer
  if (response.destroyed) return
  // A string goes out in one write together with the headers; a buffer would take two.
  const body = JSON.stringify(result)
  response.writeHead(status, [...headersOf(answer), 'Content-Length', String(Buffer.byteLength(body))])
  endResponse(request, response, body)
}

/** Answers with JSON that is still being made. */
export async function answerStream(answer: Answer, pieces: AsyncIterable<string>): Promise<void> {
  const { response } = answer
  response.writeHead(200, headersOf(answer))
  await pour(pieces, response)
  response.end()
}

/** Writes what is still being made, no faster than the other end takes it in, each piece in the form of `framed`. */
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
    // The status is long gone: only a broken connection still tells the caller that this is not the whole answer.
    to.destroy()
    throw error
  }
}

/** Until the other end has taken in what was written, or is gone. Leaves no listener behind. */
function room(to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      to.off('drain', done).off('close', done)
      resolve()
    }
    to.on('drain', done).on('close', done)
  })
}

function headersOf({ request, requestId }: Answer): string[] {
  const headers = [
    'Content-Type',
    'application/json; charset=utf-8',
    'Cache-Control',
    'no-store',
    'X-Request-Id',
    requestId,
  ]
  if (hasUnreadBody(request)) headers.push('Connection', 'close')
  return headers
}
