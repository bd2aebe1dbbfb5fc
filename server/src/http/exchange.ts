import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { answerJson, answerStream } from './answer.ts'
import { readBody } from './body.ts'

/** A GraphQL request and the answer to it, whichever way they go. */
export interface Exchange {
  readonly method: string | undefined
  readonly headers: IncomingHttpHeaders
  /** of the connection, which may be a proxy's */
  readonly remoteAddress: string | undefined
  /** Whether an answer is on its way already. */
  readonly answered: boolean
  /** The whole body; throws where it may not be taken in. */
  body(): Buffer | Promise<Buffer>
  /** Adds a header to the answer. */
  setHeader(name: string, value: string): void
  answer(status: number, requestId: string, result: object): void
  /** Answers with JSON that is still being made. */
  stream(requestId: string, pieces: AsyncIterable<string>): Promise<void>
}

/** The way through node:http, which understands whatever comes. */
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
    // Its deadline may have answered it meanwhile.
    if (!this.#response.headersSent) this.#response.appendHeader(name, value)
  }

  answer(status: number, requestId: string, result: object): void {
    answerJson({ request: this.#request, response: this.#response, requestId }, status, result)
  }

  stream(requestId: string, pieces: AsyncIterable<string>): Promise<void> {
    return answerStream({ request: this.#request, response: this.#response, requestId }, pieces)
  }
}
