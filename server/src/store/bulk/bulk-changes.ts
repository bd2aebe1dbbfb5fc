import type { BulkAction, BulkReason, BulkState } from '../../domain/bulk-change.ts'
import type { Tx } from '../connection/database.ts'
import type { HomeDb } from '../connection/places.ts'
import type { SubscriptionState } from '../subscriptions/subscription-list.ts'

/** The users or subscriptions that a change is about: these, or all that a list shows. */
export type BulkSubjects =
  | { list: 'USERS' | 'SUBSCRIPTIONS'; ids: string[] }
  | { list: 'USERS'; search: string | null; packageId: string | null; state: SubscriptionState | null }
  | {
      list: 'SUBSCRIPTIONS'
      search: string | null
      packageId: string | null
      state: SubscriptionState | null
      provider: string | null
    }

export interface BulkRequest {
  action: BulkAction
  of: BulkSubjects
}

export interface BulkChange {
  id: string
  state: BulkState
  request: BulkRequest
  /** who checked it, and later who applied or undid it */
  memberId: number
  memberEmail: string
  createdAt: number
  /** the page of the list where checking continues; null: the first one */
  continueAt: string | null
  rows: number
  /** rows that the check found to be changeable */
  changing: number
  /** number of rows that cannot be changed, by reason */
  skipped: Partial<Record<BulkReason, number>>
  done: number
  refused: number
  undone: number
  kept: number
  problem: string | null
}

const SELECT = `select id, state, request, member_id as "memberId", member_email as "memberEmail", created_at as "createdAt",
  continue_at as "continueAt", rows, changing, skipped, done, refused, undone, kept, problem from bulk_change`

const RUNNING = `'CHECKING', 'APPLYING', 'UNDOING'`

export async function insertBulkChange(
  db: HomeDb,
  appId: string,
  made: Pick<BulkChange, 'id' | 'request' | 'memberId' | 'memberEmail'>,
): Promise<void> {
  await db.query(
    `insert into bulk_change (app_id, id, state, request, member_id, member_email)
     values ($1, $2, 'CHECKING', $3, $4, $5)`,
    [appId, made.id, JSON.stringify(made.request), made.memberId, made.memberEmail],
  )
}

export async function findBulkChange(db: HomeDb, appId: string, id: string): Promise<BulkChange | null> {
  const { rows } = await db.query<BulkChange>(`${SELECT} where app_id = $1 and id = $2`, [appId, id])
  return rows[0] ?? null
}

/** The same, locked: one step of a change runs at a time. */
export async function lockBulkChange(tx: Tx, appId: string, id: string): Promise<BulkChange | null> {
  const { rows } = await tx.query<BulkChange>(`${SELECT} where app_id = $1 and id = $2 for update`, [
    appId,
    id,
  ])
  return rows[0] ?? null
}

/** Newest first. */
export async function listBulkChanges(db: HomeDb, appId: string, limit: number): Promise<BulkChange[]> {
  const { rows } = await db.query<BulkChange>(`${SELECT} where app_id = $1 order by seq desc limit $2`, [
    appId,
    limit,
  ])
  return rows
}

/** Ends older ones than the last `keep`, except those that run at the moment, so that their rows can be deleted. */
export async function dropBulkChanges(tx: Tx, appId: string, keep: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update bulk_change set state = 'FAILED', problem = 'This change is no longer kept'
     where app_id = $1 and state not in (${RUNNING}) and id in (
       select id from bulk_change where app_id = $1 order by seq desc offset $2 limit 100)
     returning id`,
    [appId, keep],
  )
  return rows.map(({ id }) => id)
}

/** How many of the app run at the moment. */
export async function countRunningBulkChanges(db: HomeDb, appId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) as count from bulk_change where app_id = $1 and state in (${RUNNING})`,
    [appId],
  )
  return rows[0]?.count ?? 0
}

/** Notes why the change waits, unless it was stopped meanwhile. */
export async function noteBulkProblem(
  db: HomeDb,
  appId: string,
  { id, state }: Pick<BulkChange, 'id' | 'state'>,
  problem: string,
): Promise<void> {
  await db.query('update bulk_change set problem = $4 where app_id = $1 and id = $2 and state = $3', [
    appId,
    id,
    state,
    problem,
  ])
}

/** Ends the work on a change, unless another step or a member did. */
export async function endBulkWork(
  db: HomeDb,
  appId: string,
  { id, state }: Pick<BulkChange, 'id' | 'state'>,
  to: BulkState,
  problem: string | null = null,
): Promise<void> {
  await db.query(
    'update bulk_change set state = $4, problem = $5 where app_id = $1 and id = $2 and state = $3',
    [appId, id, state, to, problem],
  )
}

export async function setBulkState(db: HomeDb, appId: string, id: string, state: BulkState): Promise<void> {
  await db.query('update bulk_change set state = $3, problem = null where app_id = $1 and id = $2', [
    appId,
    id,
    state,
  ])
}

/** Once the rows are found, ids and search texts are dropped: they would outlive the users they name. */
export async function endBulkCheck(
  db: HomeDb,
  appId: string,
  { id, request }: BulkChange,
  problem: string | null,
): Promise<void> {
  const found: BulkRequest = { ...request, of: { list: request.of.list, ids: [] } }
  await db.query(
    'update bulk_change set state = $3, problem = $4, request = $5, continue_at = null where app_id = $1 and id = $2',
    [appId, id, problem === null ? 'CHECKED' : 'FAILED', problem, JSON.stringify(found)],
  )
}

/** The member in whose name it continues. */
export async function setBulkMember(
  db: HomeDb,
  appId: string,
  id: string,
  member: { id: number; email: string },
): Promise<void> {
  await db.query('update bulk_change set member_id = $3, member_email = $4 where app_id = $1 and id = $2', [
    appId,
    id,
    member.id,
    member.email,
  ])
}
