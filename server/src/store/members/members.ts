import type { Role } from '../../domain/role.ts'
import { timestamp } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'

export interface Member {
  id: number
  email: string
  role: Role
  createdAt: number
  /** of one of their sessions; null: they have none */
  lastSeenAt: number | null
  /** number of browsers they are signed in with, if counted */
  sessions?: number
}

const SELECT = `select m.id, m.email, m.role, m.created_at as "createdAt",
  (select max(last_seen_at) from session where member_id = m.id) as "lastSeenAt" from member m`

export async function findMember(
  db: HomeDb,
  email: string,
): Promise<(Member & { passwordHash: string }) | null> {
  const { rows } = await db.query<Member & { passwordHash: string }>(
    `${SELECT.replace('m.id,', 'm.id, m.password_hash as "passwordHash",')} where m.email = $1`,
    [email],
  )
  return rows[0] ?? null
}

export async function findMemberById(db: HomeDb, id: number): Promise<Member | null> {
  const { rows } = await db.query<Member>(`${SELECT} where m.id = $1`, [id])
  return rows[0] ?? null
}

export async function listMembers(db: HomeDb): Promise<Member[]> {
  const sessions = `(select count(*) from session where member_id = m.id and expires_at > now()) as sessions`
  const { rows } = await db.query<Member>(`${SELECT.replace('m.id,', `${sessions}, m.id,`)} order by m.id`)
  return rows
}

/** Creates the first member, the owner. Null: there is one already. */
export async function insertFirstMember(
  db: HomeDb,
  email: string,
  passwordHash: string,
): Promise<Member | null> {
  await lockMembers(db)
  return (await hasMembers(db)) ? null : insertMember(db, email, passwordHash, 'OWNER')
}

/** Null: the address is taken. */
export async function insertMember(
  db: HomeDb,
  email: string,
  passwordHash: string,
  role: Role,
): Promise<Member | null> {
  const { rows } = await db.query<Member>(
    `insert into member (email, password_hash, role) values ($1, $2, $3) on conflict do nothing
     returning id, email, role, created_at as "createdAt", null as "lastSeenAt"`,
    [email, passwordHash, role],
  )
  return rows[0] ?? null
}

/** Members and open invitations. */
export async function countPeople(db: HomeDb, now: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select (select count(*) from member) + (select count(*) from invitation where expires_at > $1) as count',
    [timestamp(now)],
  )
  return rows[0]?.count ?? 0
}

/** Serialises changes that depend on the number of owners or members. */
export async function lockMembers(db: HomeDb): Promise<void> {
  await db.query(`lock table member in share row exclusive mode`)
}

export async function hasMembers(db: HomeDb): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(`select exists (select from member) as found`)
  return rows[0]?.found ?? false
}

export async function setRole(db: HomeDb, id: number, role: Role): Promise<void> {
  await db.query(`update member set role = $2 where id = $1`, [id, role])
}

export async function setPassword(db: HomeDb, id: number, passwordHash: string): Promise<void> {
  await db.query(`update member set password_hash = $2 where id = $1`, [id, passwordHash])
}

/** False: the password has been changed in the meantime. */
export async function replacePasswordHash(
  db: HomeDb,
  id: number,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update member set password_hash = $3 where id = $1 and password_hash = $2`,
    [id, from, to],
  )
  return rowCount === 1
}

export async function deleteMember(db: HomeDb, id: number): Promise<void> {
  await db.query(`delete from session where member_id = $1`, [id])
  await db.query(`delete from member where id = $1`, [id])
}

export interface Invitation {
  id: string
  email: string
  role: Role
  invitedBy: string
  createdAt: number
  expiresAt: number
}

const INVITATION = `select id, email, role, invited_by as "invitedBy", created_at as "createdAt",
  expires_at as "expiresAt" from invitation`

/** Replaces an earlier invitation for the same address. */
export async function insertInvitation(db: HomeDb, invitation: Invitation, hash: Buffer): Promise<void> {
  await db.query(`delete from invitation where email = $1`, [invitation.email])
  await db.query(
    `insert into invitation (id, email, role, hash, invited_by, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      invitation.id,
      invitation.email,
      invitation.role,
      hash,
      invitation.invitedBy,
      timestamp(invitation.createdAt),
      timestamp(invitation.expiresAt),
    ],
  )
}

export async function listInvitations(db: HomeDb, now: number): Promise<Invitation[]> {
  const { rows } = await db.query<Invitation>(
    `${INVITATION} where expires_at > $1 order by created_at desc, id`,
    [timestamp(now)],
  )
  return rows
}

export async function findInvitation(db: HomeDb, hash: Buffer, now: number): Promise<Invitation | null> {
  const { rows } = await db.query<Invitation>(`${INVITATION} where hash = $1 and expires_at > $2`, [
    hash,
    timestamp(now),
  ])
  return rows[0] ?? null
}

export async function deleteInvitationsBy(db: HomeDb, email: string): Promise<void> {
  await db.query(`delete from invitation where invited_by = $1`, [email])
}

/** False: there is none. Of two concurrent uses, one gets false. */
export async function deleteInvitation(db: HomeDb, id: string): Promise<boolean> {
  const { rowCount } = await db.query(`delete from invitation where id = $1`, [id])
  return rowCount === 1
}
