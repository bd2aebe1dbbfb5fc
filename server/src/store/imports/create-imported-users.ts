import { randomUUID } from 'node:crypto'
import type { Subscription } from '../../domain/subscription.ts'
import { numberArray, textArray } from '../connection/arrays.ts'
import { type Tx, timestamp } from '../connection/database.ts'
import type { UserDb } from '../connection/places.ts'
import type { ImportProblem } from './user-import-rows.ts'

/** A row of an import whose user is created. */
export interface NewUserRow {
  line: number
  /** null: erased since it was staged */
  userId: string | null
  email: string | null
  billingId: string | null
  name: string | null
  metadata: string | null
  plan: string | null
}

/** The plans that new users may get, at one moment. */
export interface ImportPlans {
  now: number
  /** null: the plan can be given */
  problemOf(id: string): string | null
  termsOf(id: string): Pick<Subscription, 'version' | 'versionAsOf'>
}

export interface Problem {
  problem: ImportProblem
  message?: string
}

/** The rows whose users were created or removed, and problems of the others. */
export interface MovedUsers {
  moved: { line: number; uid: number | null }[]
  problems: Map<number, Problem>
}

/** Creates the users and subscribes them to their plans. A user who exists by now is left alone. */
export async function createImportedUsers(
  tx: Tx,
  appId: string,
  rows: readonly NewUserRow[],
  plans: ImportPlans,
): Promise<MovedUsers> {
  const problems = new Map<number, Problem>()
  const good: Identified[] = []
  for (const row of rows) {
    const { line, userId, plan } = row
    const message = plan === null ? null : plans.problemOf(plan)
    if (message !== null) problems.set(line, { problem: 'BAD_PLAN', message })
    else if (userId !== null) good.push({ ...row, userId })
  }
  const uids = await tx.places.ofMany(
    appId,
    good,
    ({ userId }) => userId,
    (db, some) => createSome(db, appId, some, plans),
  )
  const moved: MovedUsers['moved'] = []
  for (const [i, { line }] of good.entries()) {
    const uid = uids[i] ?? null
    if (uid === null) problems.set(line, { problem: 'USER_EXISTS' })
    else moved.push({ line, uid })
  }
  return { moved, problems }
}

type Identified = NewUserRow & { userId: string }

/** The number of each user; null: the id was taken. */
async function createSome(
  db: UserDb,
  appId: string,
  rows: readonly Identified[],
  plans: ImportPlans,
): Promise<(number | null)[]> {
  const { rows: made } = await db.query<{ id: string; uid: number; billingId: string | null }>(
    `insert into users (app_id, id, billing_id, name, email, metadata)
     select $1, n.* from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::json[]) as n
     on conflict (app_id, id) do nothing returning id, uid, billing_id as "billingId"`,
    [
      appId,
      textArray(rows, (r) => r.userId),
      textArray(rows, (r) => r.billingId),
      textArray(rows, (r) => r.name),
      textArray(rows, (r) => r.email),
      textArray(rows, (r) => r.metadata ?? '{}'),
    ],
  )
  await db.places.noteBillingIds(appId, [], made)
  const uids = new Map(made.map(({ id, uid }) => [id, uid]))
  await subscribe(
    db,
    appId,
    rows.flatMap(({ userId, plan }) => {
      const uid = uids.get(userId)
      return uid === undefined || plan === null ? [] : [{ uid, plan, ...plans.termsOf(plan) }]
    }),
    plans.now,
  )
  return rows.map(({ userId }) => uids.get(userId) ?? null)
}

interface PlanOfUser extends Pick<Subscription, 'version' | 'versionAsOf'> {
  uid: number
  plan: string
}

async function subscribe(db: UserDb, appId: string, made: readonly PlanOfUser[], now: number): Promise<void> {
  if (made.length === 0) return
  await db.places.holdReferences(
    appId,
    made.map(({ plan }) => plan),
    null,
  )
  await db.query(
    `insert into subscription (app_id, is_addon, started_at, anchor, id, user_uid, package_id, package_version, version_as_of)
     select $1, false, $2, $2, n.* from unnest($3::text[], $4::bigint[], $5::text[], $6::int[], $7::int[]) as n`,
    [
      appId,
      timestamp(now),
      textArray(made, () => `sub_${randomUUID()}`),
      numberArray(made, (s) => s.uid),
      textArray(made, (s) => s.plan),
      numberArray(made, (s) => s.version),
      numberArray(made, (s) => s.versionAsOf),
    ],
  )
}
