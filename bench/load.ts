import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { autocannon } from './load-autocannon.ts'
import { run, start } from './processes.ts'
import { markIn, type Request } from './requests.ts'

export interface Load {
  url: string
  request: Request
  /** requests are for numbers from 1 to this one, at random */
  upTo: number
  connections: number
  seconds: number
  /** looks at every answer, which costs the load generator time */
  lookAtAnswers?: boolean
}

export interface LoadResult {
  requests: number
  perSecond: number
  /** milliseconds */
  p50: number
  p99: number
  bytesPerAnswer: number
}

/** What a load generator reports; times in milliseconds. */
export interface RawResult {
  requests: number
  seconds: number
  bytes: number
  /** not answered, or not with 200 */
  failures: number
  /** answered otherwise than expected, as far as anybody looked */
  wrong: number
  p50: number
  p99: number
}

export interface LoadGenerator {
  name: string
  run(load: Load): Promise<LoadResult>
}

/** wrk where it is installed, since it takes the least of the machine; else autocannon. */
export async function findLoadGenerator(): Promise<LoadGenerator> {
  const child = start('wrk', ['-v'])
  const installed = await child.exited.then(
    () => true,
    () => false,
  )
  const version = /^wrk \S+/m.exec(child.output())?.[0]
  return installed ? generator(version ?? 'wrk', wrk) : generator('autocannon', autocannon)
}

function generator(name: string, raw: (load: Load) => Promise<RawResult>): LoadGenerator {
  return {
    name,
    async run(load) {
      const { requests, seconds, bytes, failures, wrong, p50, p99 } = await raw(load)
      if (failures > 0) throw new Error(`${failures} of ${requests} requests failed`)
      if (wrong > 0) throw new Error(`${wrong} of ${requests} answers did not hold ${load.request.expect}`)
      if (requests === 0) throw new Error('no request was answered')
      return { requests, perSecond: requests / seconds, p50, p99, bytesPerAnswer: bytes / requests }
    },
  }
}

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url))

async function wrk(load: Load): Promise<RawResult> {
  const { url, request, upTo, connections, seconds, lookAtAnswers } = load
  const output = await run('wrk', [
    '--threads=1',
    `--connections=${connections}`,
    `--duration=${seconds}s`,
    '--timeout=10s',
    `--script=${SCRIPT}`,
    url,
    '--',
    request.body,
    markIn(request),
    String(upTo),
    Object.entries(request.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    String(randomInt(2 ** 31)),
    lookAtAnswers ? request.expect : '',
  ])
  const line = /^RESULT (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk reported nothing: ${output.slice(-500)}`)
  const { micros, p50, p99, ...counts } = JSON.parse(line)
  return { ...counts, seconds: micros / 1e6, p50: p50 / 1e3, p99: p99 / 1e3 }
}
