import { type Db, timestamp } from './database.ts'

export interface Member {
  id: number
  email: string
}

export async function findMember(db: Db, email: string): Promise<(Member & { passwordHash: string }) | null> {
  const { rows } = await db.query<Member & { passwordHash: string }>(
    `select id, email, password_hash as "passwordHash" from member where email = $1`,
    [email],
  )
  return rows[0] ?? null
}

/** The first member of all, the owner. Null when there is one already: whoever comes second is too late. */
export async function insertFirstMember(db: Db, email: string, passwordHash: string): Promise<Member | null> {
  await db.query(`lock table member in share row exclusive mode`)
  const { rows } = await db.query<Member>(
    `insert into member (email, password_hash) select $1, $2 where not exists (select from member)
     returning id, email`,
    [email, passwordHash],
  )
  return rows[0] ?? null
}

export async function hasMembers(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(`select exists (select from member) as found`)
  return rows[0]?.found ?? false
}

export async function insertSession(
  db: Db,
  hash: Buffer,
  memberId: number,
  expiresAt: number,
): Promise<void> {
  await db.query(`insert into session (hash, member_id, expires_at) values ($1, $2, $3)`, [
    hash,
    memberId,
    timestamp(expiresAt),
  ])
}

export async function findSession(db: Db, hash: Buffer, now: number): Promise<Member | null> {
  const { rows } = await db.query<Member>(
    `select m.id, m.email from session s join member m on m.id = s.member_id
     where s.hash = $1 and s.expires_at > $2`,
    [hash, timestamp(now)],
  )
  return rows[0] ?? null
}

export async function deleteSession(db: Db, hash: Buffer): Promise<void> {
  await db.query(`delete from session where hash = $1`, [hash])
}

export async function deleteExpiredSessions(db: Db, now: number): Promise<void> {
  await db.query(`delete from session where expires_at <= $1`, [timestamp(now)])
}
