import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

/** `tries` at once, and one more every `everyMs`. */
export interface Pace {
  tries: number
  everyMs: number
}

/** How far the clocks of several nodes may differ. */
const CLOCK_SKEW_MS = 10 * 60 * 1000

/**
 * Takes one attempt from a source, or returns the milliseconds to wait if none is left. It is one statement, so that
 * concurrent attempts of all processes are counted one by one. A time further ahead than attempts could have put it was
 * written before the clock was set back, and is ignored.
 */
export async function takeTry(db: HomeDb, source: Buffer, now: number, pace: Pace): Promise<number> {
  const { tries, everyMs } = pace
  const emptyAt = now + tries * everyMs
  await db.query(`delete from sign_in_pace where full_at <= $1`, [timestamp(now)])
  const { rows } = await db.query<{ fullAt: number; taken: boolean }>(
    `with taken as (
       insert into sign_in_pace as p (source, full_at) values ($1, $2::timestamptz + $3::interval)
       on conflict (source) do update set
         full_at = $3::interval + case when p.full_at > $5 then $2 else greatest(p.full_at, $2) end
         where p.full_at + $3::interval <= $4 or p.full_at > $5
       returning full_at
     )
     select full_at as "fullAt", true as taken from taken
     union all
     select full_at, false from sign_in_pace where source = $1 and not exists (select from taken)`,
    [
      source,
      timestamp(now),
      `${everyMs} milliseconds`,
      timestamp(emptyAt),
      timestamp(emptyAt + CLOCK_SKEW_MS),
    ],
  )
  const [row] = rows
  // No row: another process has just inserted it, and this statement cannot see it yet.
  if (!row) return everyMs
  return row.taken ? 0 : Math.max(row.fullAt + everyMs - emptyAt, 1)
}

/** Returns an attempt that turned out not to be a guess. */
export async function giveTryBack(db: HomeDb, source: Buffer, { everyMs }: Pace): Promise<void> {
  await db.query(`update sign_in_pace set full_at = full_at - $2::interval where source = $1`, [
    source,
    `${everyMs} milliseconds`,
  ])
}

export async function forgetTries(db: HomeDb, source: Buffer): Promise<void> {
  await db.query(`delete from sign_in_pace where source = $1`, [source])
}
