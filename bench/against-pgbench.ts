import { countingRows } from './ledger.ts'
import type { LoadResult } from './load.ts'
import { type Bench, type Measurement, ratioOf, tellRate, tellRound } from './pair.ts'
import { type Form, INSTALL_PGBENCH } from './pgbench.ts'
import { compare, interleave, median } from './rounds.ts'
import type { Subject } from './subject.ts'

interface Sides {
  form: Form
  /** recording for users 1 to this one */
  users: number
  /** connections to the server */
  connections: readonly number[]
  /** clients of pgbench */
  clients: readonly number[]
}

/** What was measured on both sides, by number of connections or clients. */
export interface Rounds {
  ours: Map<number, LoadResult[]>
  pgbench: Map<number, number[]>
}

/** Records through the server and by pgbench's bare SQL in turn. */
export async function recordAgainstPgbench(
  { scale, pgbench }: Bench,
  { record, database }: Subject,
  { form, users, connections, clients }: Sides,
): Promise<Rounds> {
  if (!pgbench) throw new Error(INSTALL_PGBENCH)
  const bareSql = (count: number) => () =>
    countingRows(
      database,
      () => {
        const { distribution, seconds } = scale
        return pgbench.record(database, { form, users, distribution, clients: count, seconds })
      },
      ({ transactions }) => ({ answered: transactions, unanswered: 0 }),
    )
  const results = await interleave<string, LoadResult | { perSecond: number }>(
    scale.rounds,
    Object.fromEntries([
      ...connections.map((count) => [`tollgate at ${count}`, () => record(count, users)]),
      ...clients.map((count) => [`pgbench at ${count}`, bareSql(count)]),
    ]),
    (round, side, result) =>
      'p99' in result ? tellRound(round, side, result) : tellRate(round, side, result.perSecond),
  )
  return {
    ours: new Map(connections.map((n) => [n, (results[`tollgate at ${n}`] ?? []) as LoadResult[]])),
    pgbench: new Map(clients.map((n) => [n, (results[`pgbench at ${n}`] ?? []).map((r) => r.perSecond)])),
  }
}

/** The server at that many connections, against pgbench at whichever of those client counts did best. */
export function againstBest(rounds: Rounds, connections: number, clients: readonly number[]): Measurement {
  const ours = rounds.ours.get(connections) ?? []
  const rivals = clients.map((count) => ({ count, rates: rounds.pgbench.get(count) ?? [] }))
  const best = rivals.reduce((a, b) => (median(b.rates) > median(a.rates) ? b : a))
  return {
    ...ratioOf(
      compare(
        ours.map((r) => r.perSecond),
        best.rates,
      ),
      '/s',
    ),
    p50: median(ours.map((r) => r.p50)),
    p99: median(ours.map((r) => r.p99)),
    note: `pgbench at ${best.count} ${best.count === 1 ? 'client' : 'clients'}`,
  }
}
