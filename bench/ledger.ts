import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { withClient } from './postgres.ts'
import type { Database } from './seed.ts'

/**
 * Runs a round of writes and counts what it left in the ledger: no fewer rows than were answered, and no more
 * than those and the `unanswered` that the load generator abandoned at its end, which may arrive up to `lateMs` later.
 */
export function countingRows<T>(
  database: Database,
  work: () => Promise<T>,
  answeredIn: (result: T) => { answered: number; unanswered: number; lateMs?: number },
): Promise<T> {
  return withClient(database.url, async (client) => {
    const before = await rowsOf(client)
    const result = await work()
    const { answered, unanswered, lateMs = 0 } = answeredIn(result)
    const rows = (await steadyRowsOf(client, Math.max(lateMs, 100))) - before
    if (rows < answered || rows > answered + unanswered) {
      throw new Error(`${answered} calls were answered as recorded, and the ledger has ${rows} more rows`)
    }
    return result
  })
}

async function rowsOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>('select count(*) from usage_ledger')
  return Number(rows[0]?.count)
}

async function steadyRowsOf(client: Client, quietMs: number): Promise<number> {
  for (let last = await rowsOf(client); ; ) {
    await sleep(quietMs)
    const now = await rowsOf(client)
    if (now === last) return now
    last = now
  }
}

/** Throws unless every counter equals the sum of its ledger rows. */
export function verifyLedger(database: Database): Promise<void> {
  return withClient(database.url, async (client) => {
    const { rows } = await client.query<{ wrong: string }>(
      `select count(*) as wrong
       from usage_counter c full join (
         select app_id, user_uid, feature_id, reset_period, period_start, sum(delta) as used
         from usage_ledger group by 1, 2, 3, 4, 5) l
         using (app_id, user_uid, feature_id, reset_period, period_start)
       where c.used is distinct from l.used`,
    )
    if (rows[0]?.wrong !== '0') throw new Error(`${rows[0]?.wrong} counters differ from their ledger rows`)
  })
}
