import type { IncomingMessage, ServerResponse } from 'node:http'
import { endResponse } from './body.ts'

/** One line of text. */
export function answerText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string,
): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' })
  endResponse(request, response, `${body}\n`)
}
