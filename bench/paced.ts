import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { anyUser } from './distribution.ts'
import type { Load, LoadResult } from './load.ts'
import { markIn } from './requests.ts'
import { quantile } from './rounds.ts'

/** Before the first call is due: the thread that keeps the pace has to start. */
const HEAD_START_MS = 200
/** How long answers may still arrive after the last call was due. */
const PATIENCE_MS = 10_000

export interface PacedResult extends LoadResult {
  /** how late the sender itself woke up for a call: 99th percentile in milliseconds, contained in the latencies */
  late: number
}

/**
 * Sends calls at a given rate, as many independent callers would: at random times (Poisson) that do not depend on the answers. The
 * latency counts from the time a call was due, so that a stall of the server counts for every call that had to wait.
 */
export async function paced(load: Load & { perSecond: number }): Promise<PacedResult> {
  const { seconds, perSecond, connections } = load
  const anyRequest = requestText(load)
  const sockets: Socket[] = []
  for (let i = 0; i < connections; i++) sockets.push(await open(load.url))
  const due = poissonTimes(now() + HEAD_START_MS, perSecond, seconds)
  const pacer = new Worker(new URL('pacer.mjs', import.meta.url), { workerData: due })
  const latencies = new Float64Array(due.length)
  const lateness = new Float64Array(due.length)
  let bytes = 0
  try {
    await new Promise<void>((resolve, reject) => {
      let [called, sent, answered] = [0, 0, 0]
      const send = () => {
        while (sent < called) {
          const connection = idle.pop()
          if (!connection) return
          const call = sent++
          connection(anyRequest(), (size) => {
            latencies[call] = now() - (due[call] ?? Number.NaN)
            bytes += size
            idle.push(connection)
            if (++answered === due.length) resolve()
            else send()
          })
        }
      }
      const idle = sockets.map((socket) => connectionOn(socket, load.request.expect, reject))
      pacer.on('error', reject)
      pacer.on('message', (count: number) => {
        const time = now()
        for (const end = called + count; called < end; called++)
          lateness[called] = time - (due[called] ?? Number.NaN)
        send()
      })
      const tooLong = new Error(`calls were unanswered ${PATIENCE_MS / 1e3} s after the last one was due`)
      setTimeout(reject, HEAD_START_MS + seconds * 1e3 + PATIENCE_MS, tooLong).unref()
    })
  } finally {
    for (const socket of sockets) socket.destroy()
    await pacer.terminate()
  }
  const tookSeconds = (now() - (due[0] ?? Number.NaN)) / 1e3
  return {
    requests: due.length,
    perSecond: due.length / tookSeconds,
    p50: quantile(latencies.sort(), 0.5),
    p99: quantile(latencies, 0.99),
    bytesPerAnswer: bytes / due.length,
    late: quantile(lateness.sort(), 0.99),
  }
}

/** The clock that all threads share, in milliseconds. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6

function poissonTimes(from: number, perSecond: number, seconds: number): Float64Array {
  const count = Math.max(1, Math.round(perSecond * seconds))
  const times = new Float64Array(new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT))
  let time = from
  for (let i = 0; i < count; i++) {
    times[i] = time
    time -= (Math.log(1 - Math.random()) / perSecond) * 1e3
  }
  return times
}

function requestText({ url, request, upTo, distribution = 'uniform' }: Load): () => string {
  const { host, pathname } = new URL(url)
  const headers = {
    Host: host,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(request.body),
    ...request.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const mark = markIn(request)
  const [head, tail] = `POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${request.body}`.split(mark)
  return () => `${head}${String(anyUser(upTo, distribution)).padStart(mark.length, '0')}${tail}`
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return socket.setEncoding('latin1')
}

type Connection = (text: string, answered: (bytes: number) => void) => void

/** One call at a time. */
function connectionOn(socket: Socket, expect: string, failed: (error: Error) => void): Connection {
  let received = ''
  let done: (bytes: number) => void = () => {}
  socket.on('error', failed)
  socket.on('close', () => failed(new Error('the server closed a connection')))
  socket.on('data', (chunk) => {
    received += chunk
    const head = received.indexOf('\r\n\r\n')
    if (head === -1) return
    const length = Number(/\ncontent-length: (\d+)/i.exec(received)?.[1])
    const bytes = received.length
    if (bytes < head + 4 + length) return
    if (!received.startsWith('HTTP/1.1 200 ') || !received.includes(expect))
      return failed(new Error(`expected ${expect} and got ${received.slice(0, 500)}`))
    received = ''
    done(bytes)
  })
  return (text, answered) => {
    done = answered
    socket.write(text)
  }
}
