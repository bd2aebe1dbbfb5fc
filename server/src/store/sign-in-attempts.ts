import { type Db, timestamp } from './database.ts'

/**
 * Notes one more try for an account, unless there were too many lately: then false. One statement, so that
 * processes and connections that try at once are counted one by one.
 */
export async function noteAttempt(
  db: Db,
  account: Buffer,
  now: number,
  { most, windowMs }: { most: number; windowMs: number },
): Promise<boolean> {
  const since = timestamp(now - windowMs)
  await db.query(`delete from sign_in_attempt where last_at <= $1`, [since])
  const { rowCount } = await db.query(
    `insert into sign_in_attempt as a (account, times, last_at) values ($1, array[$2::timestamptz], $2)
     on conflict (account) do update set last_at = $2,
       times = array(select t from unnest(a.times) t where t > $3) || $2::timestamptz(3)
     where (select count(*) from unnest(a.times) t where t > $3) < $4`,
    [account, timestamp(now), since, most],
  )
  return rowCount === 1
}

export async function forgetAttempts(db: Db, account: Buffer): Promise<void> {
  await db.query(`delete from sign_in_attempt where account = $1`, [account])
}
