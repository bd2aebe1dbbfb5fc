import { type Db, timestamp } from './database.ts'

/** `tries` at once, and one more every `everyMs`. */
export interface Pace {
  tries: number
  everyMs: number
}

/** How far the clocks of several nodes may lie apart. */
const CLOCK_SKEW_MS = 10 * 60 * 1000

/**
 * Takes one try of a source; the milliseconds to wait, and nothing is taken, where it has none left. One statement, so
 * that processes and connections that try at once are counted one by one. A time that lies further ahead than tries could
 * have put it was written before the clock was set back, and counts for nothing.
 */
export async function takeTry(db: Db, source: Buffer, now: number, pace: Pace): Promise<number> {
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
  // Nothing at all: another process has just made the row, which this statement cannot see yet.
  if (!row) return everyMs
  return row.taken ? 0 : Math.max(row.fullAt + everyMs - emptyAt, 1)
}

/** Gives a try back that was no guess after all. */
export async function giveTryBack(db: Db, source: Buffer, { everyMs }: Pace): Promise<void> {
  await db.query(`update sign_in_pace set full_at = full_at - $2::interval where source = $1`, [
    source,
    `${everyMs} milliseconds`,
  ])
}

export async function forgetTries(db: Db, source: Buffer): Promise<void> {
  await db.query(`delete from sign_in_pace where source = $1`, [source])
}
