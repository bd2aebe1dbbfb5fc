import { firstSequenceOf, SEQUENCES_PER_DAY } from '../../domain/event.ts'
import type { Pool, Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import { withoutWaiting } from '../connection/without-waiting.ts'

// The log has a partition per day of publication, so that old events are dropped with their partition.

const partitionOf = (day: number): string => `event_log_${day}`

/** Creates the partitions of these days that do not exist. The caller holds the publisher's lock. */
export async function prepareEventDays(tx: Tx, days: readonly number[]): Promise<void> {
  const { rows } = await tx.query<{ day: number }>(
    `select block as day from event_block where block = any($1)`,
    [days],
  )
  const missing = days.filter((day) => !rows.some((row) => row.day === day))
  for (const day of missing) {
    await tx.query(`insert into event_block (block) values ($1)`, [day])
    await createPartition(tx, day)
  }
}

/** Attaching a table, unlike creating it as a partition, does not block readers and writers of the others. */
async function createPartition(tx: Tx, day: number): Promise<void> {
  const name = partitionOf(day)
  await tx.query(`create table ${name} (like event_log)`)
  await tx.query(
    `alter table event_log attach partition ${name}
     for values from (${firstSequenceOf(day)}) to (${firstSequenceOf(day + 1)})`,
  )
}

/** For a restore: creates the partitions of the restored list. */
export async function restoreEventPartitions(tx: Tx): Promise<void> {
  const { rows } = await tx.query<{ day: number }>(
    `select block as day from event_block where to_regclass('event_log_' || block) is null order by block`,
  )
  for (const { day } of rows) await createPartition(tx, day)
}

/** Drops the oldest partition if no app keeps events of that day any more. Null: there is none, or readers are using it. */
export async function dropOldestEventDay(pool: Pool): Promise<number | null> {
  const [oldest] = await outdatedDays(pool)
  if (oldest === undefined) return null
  const isDropped = await withoutWaiting(pool, 'here', async (tx) => {
    await tx.query(`drop table if exists ${partitionOf(oldest)}`)
    await tx.query(`delete from event_block where block = $1`, [oldest])
  })
  return isDropped ? oldest : null
}

/** The first day that an app keeps in full. */
export const FIRST_KEPT_DAY = `floor(extract(epoch from now()) / 86400)::int - app.event_days`

async function outdatedDays(db: HomeDb): Promise<number[]> {
  const { rows } = await db.query<{ day: number }>(
    `select block as day from event_block
     where block < (select coalesce(min(${FIRST_KEPT_DAY}), 0) from app) order by block limit 1`,
  )
  return rows.map(({ day }) => day)
}

/** Deletes at most `limit` events of apps that keep them for a shorter time than others; returns their number. */
export async function pruneEvents(db: HomeDb, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from event_log e using (
       select app.id as app_id, oldest.sequence from app cross join lateral (
         select sequence from event_log
         where app_id = app.id and sequence < (${FIRST_KEPT_DAY})::bigint * ${SEQUENCES_PER_DAY}
         order by sequence limit $1) oldest
       limit $1) old
     where (e.app_id, e.sequence) = (old.app_id, old.sequence)`,
    [limit],
  )
  return rowCount ?? 0
}
