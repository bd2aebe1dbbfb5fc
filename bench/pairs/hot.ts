import { againstBest, recordAgainstPgbench } from '../against-pgbench.ts'
import { verifyLedger } from '../ledger.ts'
import type { Pair } from '../pair.ts'
import { INSTALL_PGBENCH } from '../pgbench.ts'

const CONNECTIONS = [64, 256] as const
const CLIENTS = [8, 16, 64]
/** One client waits for no lock: the most that bare SQL gets out of one row, at no concurrency. */
const ALONE = 1

export const hot: Pair = {
  name: 'hot',
  claims: [
    {
      name: 'hot',
      what: 'recordUsage on one counter at 64 connections ÷ pgbench on the same row, at its best of 8, 16 and 64 clients',
      bound: '≥',
      must: 4,
      aim: 8,
    },
    { name: 'hot at 256', what: 'the same at 256 connections', bound: '≥', must: 4, aim: 8 },
    {
      name: 'hot, one client',
      what: 'the same as `hot`, against a single client of pgbench, which waits for no lock',
      bound: '≥',
      must: null,
      aim: null,
    },
  ],
  async run(bench) {
    if (!bench.pgbench) return this.claims.map(() => INSTALL_PGBENCH)
    const subject = await bench.subject()
    const rounds = await recordAgainstPgbench(bench, subject, {
      form: 'transaction',
      users: 1,
      connections: CONNECTIONS,
      clients: [ALONE, ...CLIENTS],
    })
    await verifyLedger(subject.database)
    return [
      ...CONNECTIONS.map((connections) => againstBest(rounds, connections, CLIENTS)),
      againstBest(rounds, 64, [ALONE]),
    ]
  },
}
