import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { answerJson, answerStream } from './answer.ts'
import { readBody } from './body.ts'

/** A GraphQL request and its answer, on either HTTP path. */
export interface Exchange {
  readonly method: string | undefined
  readonly headers: IncomingHttpHeaders
  /** of the connection, which may be a proxy's */
  readonly remoteAddress: string | undefined
  /** Whether an answer has been started. */
  readonly answered: boolean
  /** The whole body; throws where it is refused. */
  body(): Buffer | Promise<Buffer>
  /** Adds a header to the answer. */
  setHeader(name: string, value: string): void
  answer(status: number, requestId: string, result: object): void
  /** Answers with JSON that is still being produced. */
  stream(requestId: string, pieces: AsyncIterable<string>): Promise<void>
}

/** The path through node:http, which understands any request. */
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
    // Its deadline may have answered it in the meantime.
    if (!this.#response.headersSent) this.#response.appendHeader(name, value)
  }

  answer(status: number, requestId: string, result: object): void {
    answerJson({ request: this.#request, response: this.#response, requestId }, status, result)
  }

  stream(requestId: string, pieces: AsyncIterable<string>): Promise<void> {
    return answerStream({ request: this.#request, response: this.#response, requestId }, pieces)
  }
}
