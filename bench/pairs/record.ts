import { againstBest, recordAgainstPgbench } from '../against-pgbench.ts'
import { verifyLedger } from '../ledger.ts'
import type { Measurement, Pair } from '../pair.ts'
import { INSTALL_PGBENCH } from '../pgbench.ts'

const USUAL = 64
const MANY = 256
const CLIENTS = [8, 16, 64]

export const record: Pair = {
  name: 'record',
  claims: [
    {
      name: 'record',
      what: 'recordUsage through HTTP, durable, at 64 connections ÷ pgbench writing the same counter and ledger row as bare SQL, at its best of 8, 16 and 64 clients',
      bound: '≥',
      must: 0.85,
      aim: 1.3,
    },
    {
      name: 'record at 256',
      what: 'the same, both at 256',
      bound: '≥',
      must: 2.5,
      aim: 4,
    },
    {
      name: 'record, one statement',
      what: 'the same as `record`, against pgbench writing both rows in one statement instead of a transaction of two',
      bound: '≥',
      must: null,
      aim: null,
    },
    {
      name: '… at 256',
      what: 'the same, both at 256',
      bound: '≥',
      must: null,
      aim: null,
    },
  ],
  async run(bench) {
    if (!bench.pgbench) return this.claims.map(() => INSTALL_PGBENCH)
    const subject = await bench.subject()
    const sides = {
      users: subject.database.users,
      connections: [USUAL, MANY],
      clients: [...CLIENTS, MANY],
    }
    const measured: Measurement[] = []
    for (const form of ['transaction', 'statement'] as const) {
      const rounds = await recordAgainstPgbench(bench, subject, { form, ...sides })
      measured.push(againstBest(rounds, USUAL, CLIENTS), againstBest(rounds, MANY, [MANY]))
    }
    await verifyLedger(subject.database)
    return measured
  },
}
