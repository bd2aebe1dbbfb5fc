import type { User } from '../domain/user.ts'
import type { Db } from './database.ts'

export interface UserRow extends User {
  uid: number
}

export const USER_ID_TAKEN = 'users_app_id_id_key'
export const BILLING_ID_TAKEN = 'users_billing_id'

const COLUMNS = `uid, id, billing_id as "billingId", name, email, metadata`

export async function insertUser(db: Db, appId: string, user: User): Promise<void> {
  await db.query(
    `insert into users (app_id, id, billing_id, name, email, metadata) values ($1, $2, $3, $4, $5, $6)`,
    [appId, user.id, user.billingId, user.name, user.email, JSON.stringify(user.metadata)],
  )
}

export async function updateUser(db: Db, appId: string, user: UserRow): Promise<void> {
  await db.query(`update users set id = $3, name = $4, metadata = $5 where app_id = $1 and uid = $2`, [
    appId,
    user.uid,
    user.id,
    user.name,
    JSON.stringify(user.metadata),
  ])
}

export async function findUser(db: Db, appId: string, id: string): Promise<UserRow | null> {
  const { rows } = await db.query<UserRow>(`select ${COLUMNS} from users where app_id = $1 and id = $2`, [
    appId,
    id,
  ])
  return rows[0] ?? null
}

export async function findUserByUid(db: Db, appId: string, uid: number): Promise<UserRow | null> {
  const { rows } = await db.query<UserRow>(`select ${COLUMNS} from users where app_id = $1 and uid = $2`, [
    appId,
    uid,
  ])
  return rows[0] ?? null
}

/** The user, held until the transaction ends: what changes a user's subscriptions goes one at a time. */
export async function lockUser(db: Db, appId: string, id: string): Promise<UserRow | null> {
  const { rows } = await db.query<UserRow>(
    `select ${COLUMNS} from users where app_id = $1 and id = $2 for no key update`,
    [appId, id],
  )
  return rows[0] ?? null
}

export async function lockUserByUid(db: Db, appId: string, uid: number): Promise<void> {
  await db.query(`select from users where app_id = $1 and uid = $2 for no key update`, [appId, uid])
}

/** In the order of their making, from the one after `after`. */
export async function listUsers(db: Db, appId: string, after: number, limit: number): Promise<UserRow[]> {
  const { rows } = await db.query<UserRow>({
    name: 'list-users',
    text: `select ${COLUMNS} from users where app_id = $1 and uid > $2 order by uid limit $3`,
    values: [appId, after, limit],
  })
  return rows
}
