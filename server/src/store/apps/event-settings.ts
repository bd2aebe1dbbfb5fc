import type { HomeDb } from '../connection/places.ts'

export interface EventSettings {
  /** whether each recorded call is an event */
  usageRecorded: boolean
  /** how long events are kept */
  keptDays: number
}

export async function readEventSettings(db: HomeDb, id: string): Promise<EventSettings> {
  const { rows } = await db.query<EventSettings>(
    `select usage_events as "usageRecorded", event_days as "keptDays" from app where id = $1`,
    [id],
  )
  if (!rows[0]) throw new Error(`the app ${id} no longer exists`)
  return rows[0]
}

/** Null: unchanged. */
export async function writeEventSettings(
  db: HomeDb,
  id: string,
  { usageRecorded, keptDays }: { usageRecorded: boolean | null; keptDays: number | null },
): Promise<void> {
  await db.query(
    `update app set usage_events = coalesce($2, usage_events), event_days = coalesce($3, event_days) where id = $1`,
    [id, usageRecorded, keptDays],
  )
}
