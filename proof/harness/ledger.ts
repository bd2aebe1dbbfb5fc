import type { Client } from 'pg'
import { withClient } from '../../bench/postgres.ts'
import { readArchive } from '../../server/src/tools/backup/ledger-archive.ts'
import type { Trial } from '../trial.ts'
import { SCARCE_LIMIT } from './app.ts'
import type { Writers } from './writers.ts'

/** What was acknowledged. */
type Acknowledged = Pick<Writers, 'recorded' | 'subscribed'>

/**
 * Compares what was acknowledged with the database and with what was archived of its ledger. Everything that was started
 * must have been answered.
 */
export async function checkBooks(
  trial: Trial,
  databaseUrl: string,
  writers: Acknowledged,
  archives: readonly string[] = [],
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    if (archives.length > 0) await readTogether(client, archives)
    await checkEvents(trial, client, writers)
    await checkCounters(trial, client)
    await checkBasePlans(trial, client, writers.subscribed)
  })
}

/** Has the name of the ledger lead to all of its entries, those in archives too. */
async function readTogether(client: Client, archives: readonly string[]): Promise<void> {
  await client.query('create temp table entries as select * from usage_ledger')
  for (const archive of archives) {
    const lines: string[] = []
    await readArchive(archive, (_, line) => void lines.push(line))
    await client.query(
      `insert into entries (app_id, user_uid, feature_id, reset_period, period_start, seq, action, delta, used, recorded_at)
       select e."appId", e."userUid", e."featureId", e."resetPeriod", e."periodStart", e.seq, e.action, e.delta, e.used,
         e."recordedAt"
       from json_to_recordset($1) as e ("appId" text, "userUid" bigint, "featureId" text, "resetPeriod" text,
         "periodStart" timestamptz, seq bigint, action text, delta bigint, used bigint, "recordedAt" timestamptz)`,
      [`[${lines.join(',')}]`],
    )
  }
  // Temporary tables come before all others.
  await client.query('alter table entries rename to usage_ledger')
}

/** The event numbers in the ledger. A repeated one was counted twice. */
export async function countedEvents(trial: Trial, client: Client): Promise<Set<number>> {
  const { rows } = await client.query<{ number: number; times: number }>(
    `select delta::int as number, count(*)::int as times from usage_ledger where feature_id = 'call' group by 1`,
  )
  for (const { number, times } of rows)
    trial.fault('counted twice', `event ${number} is in the ledger ${times} times`, times - 1)
  return new Set(rows.map(({ number }) => number))
}

async function checkEvents(trial: Trial, client: Client, { recorded }: Acknowledged): Promise<void> {
  const counted = await countedEvents(trial, client)
  for (const { number, feature } of recorded) {
    if (feature === 'call' && !counted.has(number))
      trial.fault('lost', `event ${number} is not in the ledger`)
  }
  const scarce = await client.query<{ id: string; rows: number }>(
    `select u.id, count(*)::int as rows from usage_ledger l join users u on u.uid = l.user_uid
     where l.feature_id = 'scarce' group by 1`,
  )
  const found = new Map(scarce.rows.map((row) => [row.id, row.rows]))
  const acknowledged = new Map<string, number>()
  for (const { user, feature } of recorded) {
    if (feature === 'scarce') acknowledged.set(user, (acknowledged.get(user) ?? 0) + 1)
  }
  for (const user of new Set([...found.keys(), ...acknowledged.keys()])) {
    const [is, should] = [found.get(user) ?? 0, acknowledged.get(user) ?? 0]
    const detail = `${user} was told of ${should} uses of scarce, and the ledger has ${is}`
    trial.fault('lost', detail, Math.max(0, should - is))
    trial.fault('counted twice', detail, Math.max(0, is - should))
  }
}

/** A counter is the sum of its ledger rows and, unless SET above it, no budget is exceeded. */
export async function checkCounters(trial: Trial, client: Client): Promise<void> {
  const astray = await client.query<{ id: string; feature: string; used: string; sum: string }>(
    `select u.id, c.feature_id as feature, c.used::text, l.sum::text
     from usage_counter c join users u on u.uid = c.user_uid
     join lateral (select coalesce(sum(delta), 0) as sum from usage_ledger l
       where l.app_id = c.app_id and l.user_uid = c.user_uid and l.feature_id = c.feature_id
         and l.reset_period = c.reset_period and l.period_start = c.period_start) l on true
     where c.used <> l.sum`,
  )
  for (const { id, feature, used, sum } of astray.rows)
    trial.fault('counter mismatch', `the counter of ${id} for ${feature} says ${used}, its ledger ${sum}`)
  const over = await client.query<{ id: string; used: string }>(
    `select u.id, c.used::text from usage_counter c join users u on u.uid = c.user_uid
     where c.feature_id = 'scarce' and c.used > $1`,
    [SCARCE_LIMIT],
  )
  for (const { id, used } of over.rows)
    trial.fault('over budget', `${id} has used ${used} of ${SCARCE_LIMIT}`)
}

/** Of two base plans taken at once a user has one, and its caller got the matching answer. */
export async function checkBasePlans(
  trial: Trial,
  client: Client,
  subscribed: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const { rows } = await client.query<{ id: string; live: string[] }>(
    `select u.id, array_agg(s.id) as live from subscription s join users u on u.uid = s.user_uid
     where not s.is_addon and s.cancelled_at is null group by 1`,
  )
  const live = new Map(rows.map((row) => [row.id, row.live]))
  for (const [id, plans] of live)
    trial.fault('second base plan', `${id} has ${plans.length} live base plans`, plans.length - 1)
  for (const [id, told] of subscribed) {
    const held = live.get(id) ?? []
    if (told.some((one) => !held.includes(one)))
      trial.fault('lost', `${id} was told of ${told}, and has ${held}`)
    if (told.length > 1) trial.fault('second base plan', `${id} was told of ${told}`)
    if (told.length === 0) trial.fault('lost', `${id} was told of no base plan, and has ${held}`)
  }
}
