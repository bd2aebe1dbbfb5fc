import { againstBest, recordAgainstPgbench } from '../against-pgbench.ts'
import { verifyLedger } from '../ledger.ts'
import type { Pair } from '../pair.ts'
import { INSTALL_PGBENCH } from '../pgbench.ts'

const CONNECTIONS = [64, 256] as const
/** One client waits for no lock, so it may do best on a single row. 64 never did, and 8 mostly. */
const CLIENTS = [1, 8, 16]

export const hot: Pair = {
  name: 'hot',
  claims: [
    {
      name: 'hot',
      what: 'recordUsage on one counter at 64 connections ÷ pgbench on the same row, at its best of 1, 8 and 16 clients',
      bound: '≥',
      must: 4,
      aim: 8,
    },
    { name: 'hot at 256', what: 'the same at 256 connections', bound: '≥', must: 4, aim: 8 },
  ],
  async run(bench) {
    if (!bench.pgbench) return [INSTALL_PGBENCH, INSTALL_PGBENCH]
    const subject = await bench.subject()
    const rounds = await recordAgainstPgbench(bench, subject, {
      form: 'transaction',
      users: 1,
      connections: CONNECTIONS,
      clients: CLIENTS,
    })
    await verifyLedger(subject.database)
    return CONNECTIONS.map((connections) => againstBest(rounds, connections, CLIENTS))
  },
}
