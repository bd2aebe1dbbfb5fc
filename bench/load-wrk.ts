import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { SCATTER } from './distribution.ts'
import type { Load, RawResult } from './load.ts'
import { run } from './processes.ts'
import { markIn } from './requests.ts'

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url))

export async function wrk(load: Load): Promise<RawResult> {
  const { url, request, upTo, distribution, connections, seconds, lookAtAnswers } = load
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
    distribution === 'zipf' ? String(SCATTER) : '',
  ])
  const line = /^RESULT (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk reported nothing: ${output.slice(-500)}`)
  const { micros, p50, p99, ...counts } = JSON.parse(line)
  return { ...counts, seconds: micros / 1e6, p50: p50 / 1e3, p99: p99 / 1e3 }
}
