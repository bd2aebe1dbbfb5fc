import { type IncomingHttpHeaders, type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS } from '../domain/limits.ts'
import { JSON_TYPE, pour } from './answer.ts'
import { endPolitely } from './end-politely.ts'
import type { Exchange } from './exchange.ts'
import { type PlainHead, readPlainHead, startsWith } from './plain-request.ts'

export interface PlainRoutes {
  handlers: ReadonlyMap<string, (exchange: Exchange) => Promise<void>>
  /** Whether to close connections after the current response. */
  closing(): boolean
  broke(error: unknown): void
  /** for every response, one per line */
  headers: string
  /** for the Date header */
  clock(): number
}

const SWEEP_MS = 1_000

/** Receives all connections of `server` first, and passes those that are not plain to node:http. */
export function takePlainConnections(server: Server, routes: PlainRoutes): PlainConnections {
  const [handOver] = server.listeners('connection') as ((socket: Socket) => void)[]
  if (!handOver) throw new Error('node:http has an unexpected connection listener')
  const plain = new PlainConnections(routes, (socket) => handOver.call(server, socket))
  server.removeAllListeners('connection').on('connection', (socket) => plain.take(socket))
  return plain
}

/**
 * The fast path of an API request. A plain POST that arrives in one piece on a kept-alive connection, which is what
 * most clients send, is read and answered on its socket. node:http takes more than half of the time of such a request.
 * A connection on which anything else arrives is passed to node:http for good.
 */
export class PlainConnections {
  readonly #routes: PlainRoutes
  readonly #handOver: (socket: Socket) => void
  readonly #open = new Map<Socket, PlainConnection>()
  /** Time for idle connections, in sweeps: no clock is read per request, and no clock step closes them. */
  #sweeps = 0

  constructor(routes: PlainRoutes, handOver: (socket: Socket) => void) {
    this.#routes = routes
    this.#handOver = handOver
    setInterval(() => this.#closeUntil(++this.#sweeps), SWEEP_MS).unref()
  }

  readonly #sweepAfter = (ms: number): number => this.#sweeps + Math.ceil(ms / SWEEP_MS)

  take(socket: Socket): void {
    const leave = () => this.#open.delete(socket)
    this.#open.set(socket, new PlainConnection(socket, this.#routes, this.#sweepAfter, leave, this.#handOver))
  }

  /** Whether it is still on the fast path. */
  has(socket: Socket): boolean {
    return this.#open.has(socket)
  }

  endIdle(): void {
    this.#closeUntil(NEVER)
  }

  #closeUntil(sweep: number): void {
    for (const connection of this.#open.values()) if (connection.idleUntil < sweep) connection.end()
  }
}

/** While a request is being handled. */
const NEVER = Number.POSITIVE_INFINITY

class PlainConnection {
  /** the last sweep before it counts as idle for too long */
  idleUntil: number
  readonly #socket: Socket
  readonly #routes: PlainRoutes
  readonly #sweepAfter: (ms: number) => number
  readonly #leave: () => void
  readonly #toNode: (socket: Socket) => void
  /** Clients send the same head with nearly every request. */
  #head: PlainHead | null = null
  /** whether something arrived before the last response */
  #early = false
  #ended = false

  constructor(
    socket: Socket,
    routes: PlainRoutes,
    sweepAfter: (ms: number) => number,
    leave: () => void,
    toNode: (socket: Socket) => void,
  ) {
    this.#socket = socket
    this.#routes = routes
    this.#sweepAfter = sweepAfter
    this.idleUntil = sweepAfter(HEADERS_TIMEOUT_MS)
    this.#leave = leave
    this.#toNode = toNode
    socket.on('data', this.#onData).on('end', this.#onEnd).on('error', ignore).on('close', this.#onClose)
  }

  get socket(): Socket {
    return this.#socket
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Reads nothing more from it. */
  end(): void {
    this.idleUntil = NEVER
    this.#socket.off('data', this.#onData)
    endPolitely(this.#socket)
  }

  /** After a response: ready for the next request, once the client has read the last response. */
  readonly next = (): void => {
    const socket = this.#socket
    if (this.#ended || this.#routes.closing()) this.end()
    else if (socket.writableNeedDrain && socket.writableLength > 0) socket.once('drain', this.next)
    else if (this.#early) this.#handOver()
    else this.idleUntil = this.#sweepAfter(KEEP_ALIVE_MS)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.idleUntil === NEVER) {
      // Put back, so that it is not lost if the client stops sending now.
      this.#early = true
      this.#socket.pause().unshift(chunk)
      return
    }
    const head = this.#head && startsWith(chunk, this.#head) ? this.#head : readPlainHead(chunk)
    const handler = head && this.#routes.handlers.get(head.path)
    if (!handler || chunk.length !== head.bytes.length + head.bodyBytes) {
      this.#handOver(chunk)
      return
    }
    this.#head = head
    this.idleUntil = NEVER
    handler(new PlainExchange(this, head.headers, chunk.subarray(head.bytes.length), this.#routes)).catch(
      (error) => {
        this.#routes.broke(error)
        this.destroy()
      },
    )
  }

  readonly #onEnd = (): void => {
    this.#ended = true
    if (this.idleUntil !== NEVER) this.end()
  }

  readonly #onClose = (): void => this.#leave()

  #handOver(chunk?: Buffer): void {
    const socket = this.#socket
    socket.off('data', this.#onData).off('end', this.#onEnd).off('error', ignore).off('close', this.#onClose)
    this.#leave()
    if (chunk) socket.unshift(chunk)
    this.#toNode(socket)
    socket.resume()
  }
}

// The client is gone; 'close' follows.
const ignore = (): void => {}

class PlainExchange implements Exchange {
  readonly method = 'POST'
  readonly headers: IncomingHttpHeaders
  answered = false
  readonly #connection: PlainConnection
  readonly #body: Buffer
  readonly #routes: PlainRoutes
  #moreHeaders = ''

  constructor(connection: PlainConnection, headers: IncomingHttpHeaders, body: Buffer, routes: PlainRoutes) {
    this.#connection = connection
    this.headers = headers
    this.#body = body
    this.#routes = routes
  }

  get remoteAddress(): string | undefined {
    return this.#connection.socket.remoteAddress
  }

  body(): Buffer {
    return this.#body
  }

  setHeader(name: string, value: string): void {
    if (!/^[ -~]*$/.test(value)) throw new Error(`a value of the header ${name} cannot be sent`)
    this.#moreHeaders += `${name}: ${value}\r\n`
  }

  answer(status: number, requestId: string, result: unknown, contentType = JSON_TYPE): void {
    const { socket } = this.#connection
    const body = JSON.stringify(result)
    const bytes = Buffer.byteLength(body)
    const head = this.#headOf(status, requestId, contentType)
    // Headers are ASCII. If the body is too, nothing needs encoding.
    const encoding = bytes === body.length ? 'latin1' : 'utf8'
    if (!socket.destroyed) socket.write(`${head}Content-Length: ${bytes}\r\n\r\n${body}`, encoding)
    this.#connection.next()
  }

  async stream(requestId: string, pieces: AsyncIterable<string>): Promise<void> {
    const { socket } = this.#connection
    socket.write(`${this.#headOf(200, requestId, JSON_TYPE)}Transfer-Encoding: chunked\r\n\r\n`)
    await pour(pieces, socket, chunked)
    if (!socket.destroyed) socket.write('0\r\n\r\n')
    this.#connection.next()
  }

  #headOf(status: number, requestId: string, contentType: string): string {
    this.answered = true
    const kept = this.#routes.closing() ? 'close' : KEPT
    return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: ${contentType}\r\nCache-Control: no-store\r\n${this.#routes.headers}X-Request-Id: ${requestId}\r\n${this.#moreHeaders}Date: ${dateOf(this.#routes.clock())}\r\nConnection: ${kept}\r\n`
  }
}

const KEPT = `keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1_000}`

const chunked = (piece: string): string => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`

let second = 0
let date = ''

/** The Date header, computed once a second. */
function dateOf(now: number): string {
  const present = Math.floor(now / 1_000)
  if (present !== second) {
    second = present
    date = new Date(now).toUTCString()
  }
  return date
}
