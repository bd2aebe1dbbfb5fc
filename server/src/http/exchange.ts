import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { answerJson, answerStream, JSON_TYPE } from './answer.ts'
import { readBody } from './body.ts'

/** A request of an API and its response, on either HTTP path. */
export interface Exchange {
  readonly method: string | undefined
  readonly headers: IncomingHttpHeaders
  /** address of the connection, which may be a proxy's */
  readonly remoteAddress: string | undefined
  readonly answered: boolean
  /** Reads the body; throws if it is rejected. */
  body(): Buffer | Promise<Buffer>
  setHeader(name: string, value: string): void
  answer(status: number, requestId: string, result: unknown, contentType?: string): void
  /** Streams JSON. */
  stream(requestId: string, pieces: AsyncIterable<string>): Promise<void>
}

/** The path through node:http, which handles any request. */
export class NodeExchange implements Exchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  get method(): string | undefined {
    return this.#request.method
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  get answered(): boolean {
    return this.#response.headersSent
  }

  body(): Promise<Buffer> {
    return readBody(this.#request)
  }

  setHeader(name: string, value: string): void {
    // The deadline may have ended it in the meantime.
    if (!this.#response.headersSent) this.#response.appendHeader(name, value)
  }

  answer(status: number, requestId: string, result: unknown, contentType = JSON_TYPE): void {
    const answer = { request: this.#request, response: this.#response, requestId, contentType }
    answerJson(answer, status, result)
  }

  stream(requestId: string, pieces: AsyncIterable<string>): Promise<void> {
    return answerStream({ request: this.#request, response: this.#response, requestId }, pieces)
  }
}
