import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  body: string
}

/** A connection that can send anything; it parses the answers as HTTP/1.1. */
export class RawConnection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #wake: () => void = () => {}
  #closed = false
  /** the service has said that it closes it after this answer */
  #closing = false

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.setNoDelay(true)
    this.#socket.on('error', () => {})
    this.#socket.on('data', (piece) => {
      this.#received = this.#received.length === 0 ? piece : Buffer.concat([this.#received, piece])
      this.#wake()
    })
    this.#socket.on('close', () => {
      this.#closed = true
      this.#wake()
    })
  }

  /** Nothing more can be sent on it. */
  get closed(): boolean {
    return this.#closed || this.#closing
  }

  write(bytes: string | Buffer): void {
    this.#socket.write(bytes)
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** The next answer; null when the connection ends before, `late` when nothing comes in time. */
  async read(withinMs: number): Promise<RawAnswer | null | 'late'> {
    const until = performance.now() + withinMs
    for (;;) {
      const answer = this.#take()
      if (answer) return answer
      if (this.#closed) return null
      const left = until - performance.now()
      if (left <= 0) return 'late'
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  #take(): RawAnswer | null {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end === -1) return null
    const head = this.#received.toString('latin1', 0, end)
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    if (/^connection: close$/im.test(head)) this.#closing = true
    const from = end + 4
    if (status === 100) {
      this.#received = this.#received.subarray(from)
      return this.#take()
    }
    if (length === undefined && /^transfer-encoding: chunked$/im.test(head))
      return this.#takeChunks(status, from)
    const to = from + Number(length ?? 0)
    if (this.#received.length < to) return null
    const body = this.#received.toString('utf8', from, to)
    this.#received = this.#received.subarray(to)
    return { status, body }
  }

  #takeChunks(status: number, from: number): RawAnswer | null {
    let body = ''
    for (let at = from; ; ) {
      const line = this.#received.indexOf('\r\n', at)
      if (line === -1) return null
      const size = Number.parseInt(this.#received.toString('latin1', at, line), 16)
      const next = line + 2 + size + 2
      if (this.#received.length < next) return null
      body += this.#received.toString('utf8', line + 2, line + 2 + size)
      at = next
      if (size > 0) continue
      this.#received = this.#received.subarray(at)
      return { status, body }
    }
  }
}
