import cannon from 'autocannon'
import { anyUser } from './distribution.ts'
import type { Load, RawResult } from './load.ts'
import { markIn } from './requests.ts'
import { quantile } from './rounds.ts'

/** Requests made in advance, all connections together: building each as it is sent would slow the sender. */
const PREPARED = 6_400

export async function autocannon(load: Load): Promise<RawResult> {
  const { url, request, upTo, distribution = 'uniform', connections, seconds, lookAtAnswers } = load
  const mark = markIn(request)
  const anyRequest = () => {
    const number = String(anyUser(upTo, distribution)).padStart(mark.length, '0')
    return { body: request.body.replace(mark, number) }
  }
  const running = cannon({
    url,
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...request.headers },
    connections,
    duration: seconds,
    timeout: 10,
    setupClient: (client) =>
      client.setRequests(Array.from({ length: Math.ceil(PREPARED / connections) }, anyRequest)),
    ...(lookAtAnswers && { verifyBody: (body: string) => body.includes(request.expect) }),
  })
  // Its own histogram counts in whole milliseconds, which is too coarse for a lone request.
  const times: number[] = []
  // Its own duration includes the time it takes to make the requests.
  let began = Number.POSITIVE_INFINITY
  let ended = 0
  running.on('response', (_client: unknown, _status: number, _bytes: number, milliseconds: number) => {
    times.push(milliseconds)
    ended = performance.now()
    began = Math.min(began, ended - milliseconds)
  })
  const result = await running
  const sorted = Float64Array.from(times).sort()
  return {
    requests: times.length,
    seconds: (ended - began) / 1e3,
    bytes: result.throughput.total,
    failures: result.errors + result.timeouts + result.non2xx,
    wrong: result.mismatches,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
  }
}
