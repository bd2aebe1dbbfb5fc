import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Monotonic } from '../domain/clocks.ts'
import type { Metrics } from '../operations/upkeep/metrics.ts'
import { endPolitely } from './end-politely.ts'

interface ConnectionRules {
  /** maximum number of open connections */
  maxConnections: number
  /** how long a client may stop reading a response */
  stalledReaderMs: number
}

/** A connection with a response that has not been fully sent. */
interface Progress {
  /** bytes that the system has accepted */
  sent: number
  /** number of checks since that changed */
  looks: number
}

const LOOKS = 10
const WARN_EVERY_MS = 10_000
/** This many rejected clients at a time get a response; others are just closed. */
const MAX_REFUSALS = 16
const REFUSAL =
  'HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\n' +
  'X-Content-Type-Options: nosniff\r\nConnection: close\r\nContent-Length: 40\r\n\r\n' +
  'Too many open connections; retry later.\n'

/** Counts the connections of `server`, rejects those above the limit, and cuts off clients that do not read. */
export function guardConnections(
  server: Server,
  rules: ConnectionRules,
  log: Logger,
  metrics: Metrics,
  monotonic: Monotonic,
): OpenConnections {
  const open = new OpenConnections(rules, log, metrics, monotonic)
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection').on('connection', (socket) => {
    if (open.admit(socket)) for (const listener of listeners) listener.call(server, socket)
  })
  server.once('close', () => open.stop())
  return open
}

export class OpenConnections {
  readonly #rules: ConnectionRules
  readonly #log: Logger
  readonly #open = new Map<Socket, Progress>()
  readonly #looking: NodeJS.Timeout
  readonly #metrics: Metrics
  readonly #monotonic: Monotonic
  #refusals = 0
  #quietUntil = Number.NEGATIVE_INFINITY

  constructor(rules: ConnectionRules, log: Logger, metrics: Metrics, monotonic: Monotonic) {
    this.#monotonic = monotonic
    this.#rules = rules
    this.#log = log
    this.#metrics = metrics
    metrics.watchConnections(() => this.#open.size)
    this.#looking = setInterval(() => this.#look(), rules.stalledReaderMs / LOOKS).unref()
  }

  sockets(): Iterable<Socket> {
    return this.#open.keys()
  }

  stop(): void {
    clearInterval(this.#looking)
  }

  admit(socket: Socket): boolean {
    if (this.#open.size >= this.#rules.maxConnections) {
      this.#refuse(socket)
      return false
    }
    this.#open.set(socket, { sent: 0, looks: 0 })
    socket.once('close', () => this.#open.delete(socket))
    return true
  }

  #refuse(socket: Socket): void {
    this.#metrics.cutConnections.inc({ reason: 'limit' })
    this.#warn()
    socket.on('error', () => socket.destroy())
    if (this.#refusals >= MAX_REFUSALS) {
      socket.destroy()
      return
    }
    this.#refusals += 1
    socket.once('close', () => {
      this.#refusals -= 1
    })
    endPolitely(socket, REFUSAL)
  }

  #warn(): void {
    const now = this.#monotonic()
    if (now < this.#quietUntil) return
    this.#quietUntil = now + WARN_EVERY_MS
    this.#log.warn(
      { open: this.#open.size },
      'too many connections; rejecting new ones (TOLLGATE_MAX_CONNECTIONS)',
    )
  }

  /** One timer for all, instead of one per response. */
  #look(): void {
    for (const [socket, progress] of this.#open) {
      if (socket.writableLength === 0) {
        progress.looks = 0
        continue
      }
      const sent = sentBytes(socket)
      if (sent !== progress.sent) {
        progress.sent = sent
        progress.looks = 0
      } else if (++progress.looks >= LOOKS) {
        this.#metrics.cutConnections.inc({ reason: 'stalled' })
        this.#log.debug(
          { unread: socket.writableLength },
          'closed the connection of a client that did not read its response',
        )
        socket.destroy()
      }
    }
  }
}

/** Within one large write only the handle knows the progress; Node's own socket timeouts use it too. */
function sentBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten?: number; writeQueueSize?: number } | null
  }
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0)
}
