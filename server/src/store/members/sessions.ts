import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import type { Member } from './members.ts'

export interface Session {
  id: number
  hash: Buffer
  createdAt: number
  lastSeenAt: number
  expiresAt: number
  userAgent: string | null
}

interface NewSession {
  hash: Buffer
  memberId: number
  /** the password they signed in with, hashed */
  passwordHash: string
  now: number
  expiresAt: number
  userAgent: string | null
}

/**
 * False: the member is gone, or has another password by now. A transaction that sets one waits for this, then ends the
 * session.
 */
export async function insertSession(db: HomeDb, session: NewSession): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into session (hash, member_id, created_at, last_seen_at, expires_at, user_agent)
     select $1, id, $3, $3, $4, $5 from member where id = $2 and password_hash = $6 for share`,
    [
      session.hash,
      session.memberId,
      timestamp(session.now),
      timestamp(session.expiresAt),
      session.userAgent,
      session.passwordHash,
    ],
  )
  return rowCount === 1
}

export async function findSession(db: HomeDb, hash: Buffer, now: number): Promise<Member | null> {
  const { rows } = await db.query<Member>({
    name: 'find-session',
    text: `select m.id, m.email, m.role, m.created_at as "createdAt", s.last_seen_at as "lastSeenAt"
     from session s join member m on m.id = s.member_id where s.hash = $1 and s.expires_at > $2`,
    values: [hash, timestamp(now)],
  })
  return rows[0] ?? null
}

export async function touchSession(db: HomeDb, hash: Buffer, now: number): Promise<void> {
  await db.query(`update session set last_seen_at = greatest(last_seen_at, $2) where hash = $1`, [
    hash,
    timestamp(now),
  ])
}

/** Newest first. */
export async function listSessions(db: HomeDb, memberId: number, now: number): Promise<Session[]> {
  const { rows } = await db.query<Session>(
    `select id, hash, created_at as "createdAt", last_seen_at as "lastSeenAt", expires_at as "expiresAt",
       user_agent as "userAgent" from session where member_id = $1 and expires_at > $2 order by id desc`,
    [memberId, timestamp(now)],
  )
  return rows
}

export async function deleteSession(db: HomeDb, hash: Buffer): Promise<void> {
  await db.query(`delete from session where hash = $1`, [hash])
}

/** False: the member has no such session. */
export async function deleteSessionById(db: HomeDb, memberId: number, id: number): Promise<boolean> {
  const { rowCount } = await db.query(`delete from session where member_id = $1 and id = $2`, [memberId, id])
  return rowCount === 1
}

/** All of a member's sessions except the one with this hash. */
export async function deleteSessionsOf(db: HomeDb, memberId: number, except: Buffer | null): Promise<void> {
  await db.query(`delete from session where member_id = $1 and hash is distinct from $2`, [memberId, except])
}

export async function deleteExpiredSessions(db: HomeDb, now: number): Promise<void> {
  await db.query(`delete from session where expires_at <= $1`, [timestamp(now)])
}
