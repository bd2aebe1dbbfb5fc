import { availableParallelism } from 'node:os'
import type { LoadResult } from '../load.ts'
import { type Measurement, type Pair, ratioOf, tellRound } from '../pair.ts'
import { compare, interleave, median } from '../rounds.ts'

const CONNECTIONS = 64

const claim = (name: string, operation: string) =>
  ({
    name,
    what: `${operation} with TOLLGATE_WORKERS=2 ÷ with one process, 64 connections`,
    bound: '≥',
    must: 1.2,
    aim: 1.6,
  }) as const

export const workers: Pair = {
  name: 'workers',
  claims: [claim('workers check', 'canUseFeature'), claim('workers record', 'recordUsage')],
  async run({ scale, database, start }) {
    const users = await database(scale.users)
    const two = await start(users, { TOLLGATE_WORKERS: '2' })
    const processes = (await two.server.memory())?.processes
    if (processes === 1) {
      await two.server.stop()
      const reason = 'the server ran as one process in spite of TOLLGATE_WORKERS=2'
      return [reason, reason]
    }
    const one = await start(users, { TOLLGATE_WORKERS: '1' })
    const rounds = await interleave(
      scale.rounds,
      {
        'check, two workers': () => two.check(CONNECTIONS),
        'check, one': () => one.check(CONNECTIONS),
        'record, two workers': () => two.record(CONNECTIONS),
        'record, one': () => one.record(CONNECTIONS),
      },
      tellRound,
    )
    await two.server.stop()
    await one.server.stop()
    return [
      gain(rounds['check, two workers'], rounds['check, one']),
      gain(rounds['record, two workers'], rounds['record, one']),
    ]
  },
}

function gain(two: LoadResult[], one: LoadResult[]): Measurement {
  const rates = (results: LoadResult[]) => results.map((r) => r.perSecond)
  return {
    ...ratioOf(compare(rates(two), rates(one)), '/s'),
    p50: median(two.map((r) => r.p50)),
    p99: median(two.map((r) => r.p99)),
    note: `${availableParallelism()} cores, shared with PostgreSQL and the load generator`,
  }
}
