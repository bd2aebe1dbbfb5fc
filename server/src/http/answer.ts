import type { IncomingMessage, ServerResponse } from 'node:http'
import { endResponse, hasUnreadBody } from './body.ts'

export interface Answer {
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

/** Answers with JSON that is still being made, no faster than the caller takes it in. */
export async function answerStream(answer: Answer, pieces: AsyncIterable<string>): Promise<void> {
  const { response } = answer
  response.writeHead(200, headersOf(answer))
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return
      if (!response.write(piece)) await room(response)
    }
    response.end()
  } catch (error) {
    // The status is long gone: only a broken connection still tells the caller that this is not the whole answer.
    response.destroy()
    throw error
  }
}

/** Until the caller has taken in what was written, or is gone. Leaves no listener behind. */
function room(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
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
