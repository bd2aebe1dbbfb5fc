import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { API_KEY } from './server.ts'

const END_OF_HEAD = '\r\n\r\n'

/** A client of one connection that does little besides waiting: it shares the cores with what is measured. */
export class RawClient {
  readonly #socket: Socket
  readonly #host: string
  #received = ''
  #waiting: { resolve: (body: string) => void; reject: (error: Error) => void } | null = null

  private constructor(socket: Socket, host: string) {
    this.#socket = socket
    this.#host = host
    socket.setEncoding('latin1')
    socket.on('data', (text) => this.#receive(String(text)))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('the server has closed the connection')))
  }

  static async connect(url: string): Promise<RawClient> {
    const { hostname, port, host } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    return new RawClient(socket, host)
  }

  /** The data of the answer; `query` and values are of ASCII. */
  async ask<T>(query: string, variables: object): Promise<T> {
    const body = JSON.stringify({ query, variables })
    const answer = await new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(
        `POST /graphql HTTP/1.1\r\nHost: ${this.#host}\r\nAuthorization: ${API_KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}${END_OF_HEAD}${body}`,
        'latin1',
      )
    })
    const { data, errors } = JSON.parse(answer)
    if (errors) throw new Error(`unexpected errors: ${answer}`)
    return data
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(text: string): void {
    this.#received += text
    const end = this.#received.indexOf(END_OF_HEAD)
    if (end === -1) return
    const from = end + END_OF_HEAD.length
    const length = Number(/content-length: (\d+)/i.exec(this.#received.slice(0, end))?.[1])
    if (!(length >= 0)) this.#waiting?.reject(new Error(`an answer without a length: ${this.#received}`))
    if (this.#received.length < from + length) return
    const body = this.#received.slice(from, from + length)
    this.#received = this.#received.slice(from + length)
    this.#waiting?.resolve(body)
  }
}
