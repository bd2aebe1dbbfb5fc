import type { Load, LoadGenerator, RawResult } from './load.ts'
import { autocannon } from './load-autocannon.ts'
import { wrk } from './load-wrk.ts'
import { start } from './processes.ts'

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
