import type { Override } from '../../domain/override.ts'
import type { User } from '../../domain/user.ts'
import type { Tx } from '../connection/database.ts'
import { allRows, anyRows, firstRows } from '../connection/merge-answers.ts'
import { type HomeDb, type OwnBillingId, rowsOf, type UserDb } from '../connection/places.ts'
import { moveRecentUsage } from '../usage/activity.ts'

export interface UserRow extends User {
  uid: number
  overrides: Override[] | null
}

export const USER_ID_TAKEN = 'users_app_id_id_key'
export const BILLING_ID_TAKEN = 'users_billing_id'

const COLUMNS = `uid, id, billing_id as "billingId", name, email, metadata, overrides`

export async function insertUser(db: UserDb, appId: string, user: User): Promise<void> {
  const { rows } = await db.query<OwnBillingId>(
    `insert into users (app_id, id, billing_id, name, email, metadata) values ($1, $2, $3, $4, $5, $6)
     returning ${OWN}`,
    [appId, user.id, user.billingId, user.name, user.email, JSON.stringify(user.metadata)],
  )
  await db.places.noteBillingIds(appId, [], rows)
}

const OWN = `uid, billing_id as "billingId"`

/**
 * Only the last hundred ids are remembered. An id is theirs until this statement, not until its transaction began: in
 * between, others may have used it.
 */
const withFormerId = `jsonb_path_query_array(coalesce(former_ids, '[]') || $8::jsonb, '$[last - 99 to last]')`

async function formerId(db: HomeDb, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ former: string }>(
    `select jsonb_build_object('id', $1::text, 'until', clock_timestamp())::text as former`,
    [id],
  )
  return rows[0]?.former
}

/** The user was locked as `before`. */
export async function updateUser(db: UserDb, appId: string, before: UserRow, user: UserRow): Promise<void> {
  if (user.id !== before.id) await db.places.rename(appId, user.uid, before.id, user.id)
  const former = user.id === before.id ? null : await formerId(db, before.id)
  await db.query(
    `update users set id = $3, billing_id = $4, name = $5, email = $6, metadata = $7,
       former_ids = case when $8::jsonb is null then former_ids else ${withFormerId} end
     where app_id = $1 and uid = $2`,
    [appId, user.uid, user.id, user.billingId, user.name, user.email, JSON.stringify(user.metadata), former],
  )
  await db.places.noteBillingIds(appId, [before], [user])
  if (user.id !== before.id) await moveRecentUsage(db, appId, before.id, user.id)
}

export async function findUser(db: HomeDb, appId: string, id: string): Promise<UserRow | null> {
  const { rows } = await db.places.of(appId, id, (users) =>
    users.query<UserRow>(`select ${COLUMNS} from users where app_id = $1 and id = $2`, [appId, id]),
  )
  return rows[0] ?? null
}

/** The same; until the transaction ends the user is not deleted. */
export async function holdUser(tx: Tx, appId: string, id: string): Promise<UserRow | null> {
  const { rows } = await tx.places.of(appId, id, (users) =>
    users.query<UserRow>(`select ${COLUMNS} from users where app_id = $1 and id = $2 for key share`, [
      appId,
      id,
    ]),
  )
  return rows[0] ?? null
}

/** The existing users among these ids, by id. */
export async function findUsers(
  db: HomeDb,
  appId: string,
  ids: readonly string[],
): Promise<Map<string, UserRow>> {
  const find = rowsOf<UserRow>({
    text: `select ${COLUMNS} from users where app_id = $1 and id = any($2)`,
    values: [appId, ids],
  })
  return new Map((await db.places.each(find, allRows())).map((row) => [row.id, row]))
}

export async function findListedUser(
  db: HomeDb,
  appId: string,
  id: string,
): Promise<(UserRow & { createdAt: number }) | null> {
  const find = rowsOf<UserRow & { createdAt: number }>({
    text: `select ${COLUMNS}, created_at as "createdAt" from users where app_id = $1 and id = $2`,
    values: [appId, id],
  })
  const [row] = await db.places.of(appId, id, find)
  return row ?? null
}

export async function findUserByUid(db: HomeDb, appId: string, uid: number): Promise<UserRow | null> {
  const find = rowsOf<UserRow>({
    text: `select ${COLUMNS} from users where app_id = $1 and uid = $2`,
    values: [appId, uid],
  })
  return (await db.places.ofUid(appId, uid, find))?.[0] ?? null
}

/** The same, unless the app is being deleted or the key that signed the token is revoked. */
export async function findTokenUser(
  db: HomeDb,
  appId: string,
  uid: number,
  tokenKey: string,
): Promise<UserRow | null> {
  const find = rowsOf<UserRow>({
    // Citus sends what it finds here to the other server, and fails if that has no columns.
    text: `select ${COLUMNS} from users where app_id = $1 and uid = $2
       and exists (select 1 from app where id = $1 and deleting_since is null) and not exists
       (select 1 from token_key k where k.app_id = $1 and k.id = $3 and k.revoked_at is not null)`,
    values: [appId, uid, tokenKey],
  })
  return (await db.places.ofUid(appId, uid, find))?.[0] ?? null
}

/** The user, locked until the transaction ends: changes to a user's subscriptions are serialised. */
export async function lockUser(db: UserDb, appId: string, id: string): Promise<UserRow | null> {
  const { rows } = await db.query<UserRow>(
    `select ${COLUMNS} from users where app_id = $1 and id = $2 for no key update`,
    [appId, id],
  )
  return rows[0] ?? null
}

/** The same; false: the user was deleted. */
export async function lockUserByUid(db: UserDb, appId: string, uid: number): Promise<boolean> {
  const { rowCount } = await db.query(`select from users where app_id = $1 and uid = $2 for no key update`, [
    appId,
    uid,
  ])
  return rowCount === 1
}

/** Oldest first, starting after `after`. */
export async function listUsers(db: HomeDb, appId: string, after: number, limit: number): Promise<UserRow[]> {
  const ask = rowsOf<UserRow>({
    name: 'list-users',
    text: `select ${COLUMNS} from users where app_id = $1 and uid > $2 order by uid limit $3`,
    values: [appId, after, limit],
  })
  return db.places.each(
    ask,
    firstRows(limit, (a, b) => a.uid - b.uid),
  )
}

export async function findUserByBillingId(
  db: HomeDb,
  appId: string,
  billingId: string,
): Promise<UserRow | null> {
  const find = rowsOf<UserRow>({
    text: `select ${COLUMNS} from users where app_id = $1 and billing_id = $2`,
    values: [appId, billingId],
  })
  const [row] = await db.places.each(find, anyRows())
  return row ?? null
}

/** Creates a user for a payer; null if the id or billing id exists. */
export async function insertPayer(db: UserDb, appId: string, payer: User): Promise<number | null> {
  const { rows } = await db.query<OwnBillingId>(
    `insert into users (app_id, id, billing_id, name, email, metadata) select $1, $2, $3, $4, $5, '{}'
     where ${IS_FREE('$3')} on conflict do nothing returning ${OWN}`,
    [appId, payer.id, payer.billingId, payer.name, payer.email],
  )
  await db.places.noteBillingIds(appId, [], rows)
  return rows[0]?.uid ?? null
}

/** No user of another place has this billing id. */
const IS_FREE = (billingId: string) =>
  `not exists (select 1 from user_billing_id where app_id = $1 and billing_id = ${billingId})`

/**
 * Stores a user's billing id, unless another user has it. An existing one is kept, except that one starting with
 * `giveWay` is replaced by one that does not.
 */
export async function keepBillingId(
  db: UserDb,
  appId: string,
  uid: number,
  billingId: string,
  giveWay: string,
): Promise<void> {
  const before = db.places.acrossServers ? await findUserByUid(db, appId, uid) : null
  const { rows } = await db.query<OwnBillingId>(
    `update users set billing_id = $3 where app_id = $1 and uid = $2
       and (billing_id is null or (starts_with(billing_id, $4) and not starts_with($3, $4)))
       and not exists (select 1 from users where app_id = $1 and billing_id = $3) and ${IS_FREE('$3')}
     returning ${OWN}`,
    [appId, uid, billingId, giveWay],
  )
  if (before && rows.length > 0) await db.places.noteBillingIds(appId, [before], rows)
}

/** Sets a user's details from the provider. False: they have changed since `user` was read. */
export async function followCustomer(
  db: UserDb,
  appId: string,
  user: UserRow,
  customer: { email: string | null; name: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update users set email = $5, name = $6 where app_id = $1 and uid = $2
       and email is not distinct from $3 and name is not distinct from $4`,
    [appId, user.uid, user.email, user.name, customer.email, customer.name],
  )
  return rowCount === 1
}

/** The provider no longer knows this customer. */
export async function forgetBillingId(tx: Tx, appId: string, billingId: string): Promise<void> {
  await tx.places.writeEach(async (db) => {
    const { rows } = await db.query<{ uid: number }>(
      `update users set billing_id = null where app_id = $1 and billing_id = $2 returning uid`,
      [appId, billingId],
    )
    const before = rows.map(({ uid }) => ({ uid, billingId }))
    await db.places.noteBillingIds(appId, before, [])
  })
}
