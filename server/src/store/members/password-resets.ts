import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

interface PasswordReset {
  memberId: number
  /** null: the command line */
  madeBy: number | null
  createdAt: number
  expiresAt: number
}

/** Replaces an earlier link of the same member. */
export async function putPasswordReset(db: HomeDb, reset: PasswordReset, hash: Buffer): Promise<void> {
  await db.query(
    `insert into password_reset (member_id, hash, made_by, created_at, expires_at) values ($1, $2, $3, $4, $5)
     on conflict (member_id) do update set hash = excluded.hash, made_by = excluded.made_by,
       created_at = excluded.created_at, expires_at = excluded.expires_at`,
    [reset.memberId, hash, reset.madeBy, timestamp(reset.createdAt), timestamp(reset.expiresAt)],
  )
}

/** The member of a link; null: the link does not exist or has expired. */
export async function memberOfReset(
  db: HomeDb,
  hash: Buffer,
  now: number,
): Promise<{ id: number; email: string } | null> {
  const { rows } = await db.query<{ id: number; email: string }>(
    `select m.id, m.email from password_reset r join member m on m.id = r.member_id
     where r.hash = $1 and r.expires_at > $2`,
    [hash, timestamp(now)],
  )
  return rows[0] ?? null
}

/** Uses up a link; of two concurrent uses, one gets false. */
export async function takePasswordReset(db: HomeDb, hash: Buffer, now: number): Promise<boolean> {
  const { rowCount } = await db.query(`delete from password_reset where hash = $1 and expires_at > $2`, [
    hash,
    timestamp(now),
  ])
  return rowCount === 1
}

export async function deletePasswordResetsBy(db: HomeDb, maker: number): Promise<void> {
  await db.query(`delete from password_reset where made_by = $1`, [maker])
}

export async function deletePasswordReset(db: HomeDb, memberId: number): Promise<void> {
  await db.query(`delete from password_reset where member_id = $1`, [memberId])
}
