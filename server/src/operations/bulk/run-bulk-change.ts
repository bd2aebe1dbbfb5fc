import { BULK_REASONS, type BulkAction, bulkRefusal } from '../../domain/bulk-change.ts'
import { TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_BULK_ROWS, MAX_PAGE } from '../../domain/limits.ts'
import { overrideAt } from '../../domain/override.ts'
import { isAtLeast } from '../../domain/role.ts'
import { endedAt } from '../../domain/subscription.ts'
import * as store from '../../store/bulk/bulk-changes.ts'
import * as rowStore from '../../store/bulk/bulk-rows.ts'
import { transaction } from '../../store/connection/database.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { findMemberById, type Member } from '../../store/members/members.ts'
import { holders } from '../../store/subscriptions/subscribers.ts'
import { livePlans, triedBefore } from '../../store/subscriptions/subscription-list.ts'
import { findSubscriptions, type SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { findUsers } from '../../store/users/users.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import { listedSubscriptionRows } from '../subscriptions/newest-subscriptions.ts'
import { listedPage } from '../users/list-users.ts'
import { continueBulkChange } from './bulk-changes.ts'
import { changeBack, changeOne } from './change-one.ts'

/** Rows of one step. Each is a transaction or more, so a step takes a second or two. */
const STEP_ROWS = 50
/** Rows deleted by one job. */
const DELETED_ROWS = 10_000

interface At {
  appId: string
  id: string
}

/**
 * One step of a bulk change: checks one page of the list, or changes some rows. The next step is a job of its own, so
 * that a change of any size survives a restart and never delays a shutdown.
 */
export async function runBulkChange(service: Service, { appId, id }: At): Promise<void> {
  const found = await store.findBulkChange(service.pool, appId, id)
  if (!found) return
  const more = await step(service, appId, found).catch(async (error) => {
    const why = error instanceof TollgateError ? error.message : 'Internal error'
    await store.noteBulkProblem(service.pool, appId, found, `${why}. The change will be retried.`)
    throw error
  })
  if (more) await continueBulkChange(service.pool, appId, id)
}

async function step(service: Service, appId: string, found: store.BulkChange): Promise<boolean> {
  switch (found.state) {
    case 'CHECKING':
      return check(service, appId, found)
    case 'APPLYING':
      return move(service, appId, found, 'CHANGE')
    case 'UNDOING':
      return move(service, appId, found, 'DONE')
    default:
      return false
  }
}

/** Deletes a change that is no longer listed, some rows at a time. */
export async function deleteBulkChange({ pool }: Service, { appId, id }: At): Promise<void> {
  if (await rowStore.deleteBulkRows(pool, appId, id, DELETED_ROWS))
    await addJob(pool, 'delete-bulk-change', { appId, id }, `delete bulk ${appId} ${id}`)
}

async function check(service: Service, appId: string, found: store.BulkChange): Promise<boolean> {
  try {
    const { rows, next } = await nextSubjects(service, appId, found)
    const checked = await checkRows(service, appId, found, rows)
    return await transaction(service.pool, async (tx) => {
      const locked = await store.lockBulkChange(tx, appId, found.id)
      // Another process may have taken this step.
      if (
        locked?.state !== 'CHECKING' ||
        locked.continueAt !== found.continueAt ||
        locked.rows !== found.rows
      )
        return false
      if (locked.rows + checked.length > MAX_BULK_ROWS) {
        const most = MAX_BULK_ROWS.toLocaleString('en')
        await store.endBulkCheck(tx, appId, locked, `More than ${most} match. Use a narrower filter.`)
        return false
      }
      await rowStore.addBulkRows(tx, appId, locked, checked, next)
      if (next === null) await store.endBulkCheck(tx, appId, locked, null)
      return next !== null
    })
  } catch (error) {
    if (!(error instanceof TollgateError) || error.retryAfter !== null) throw error
    await store.endBulkCheck(service.pool, appId, found, error.message)
    return false
  }
}

/** A user, and the subscription if the change is about that one. */
interface Subject {
  userUid: number
  subscription: SubscriptionRow | null
}

async function nextSubjects(
  service: Service,
  appId: string,
  { request: { action, of }, continueAt }: store.BulkChange,
): Promise<{ rows: Subject[]; next: string | null }> {
  const call: Call = {
    service,
    appId,
    actor: { kind: 'member', member: NOBODY, mutation: null },
    idempotency: null,
    deadline: null,
  }
  const page = { first: MAX_PAGE, after: continueAt }
  const ofUsers = (uids: readonly number[]) => uids.map((userUid) => ({ userUid, subscription: null }))
  if (of.list === 'USERS') {
    if ('ids' in of) {
      const users = await findUsers(service.pool, appId, of.ids.filter(isIdentifier))
      return { rows: ofUsers([...users.values()].map(({ uid }) => uid)), next: null }
    }
    const { search, packageId, state } = of
    // Oldest first, so that users who are created meanwhile do not move the pages.
    const found = await listedPage(call, { search: search ?? '', packageId, state, order: 'OLDEST' }, page)
    return { rows: ofUsers(found.rows.map(({ uid }) => uid)), next: found.next }
  }
  const { now } = await requireApp(service.pool, appId)
  const found =
    'ids' in of
      ? { rows: await findSubscriptions(service.pool, appId, of.ids.filter(isIdentifier), now), next: null }
      : await listedSubscriptionRows(call, of, 'OLDEST', page)
  // A trial or an override is about the user.
  const isAboutIt = action.kind === 'CANCEL' || action.kind === 'CHANGE_PLAN'
  const rows = found.rows.map((row) => ({ userUid: row.userUid, subscription: isAboutIt ? row : null }))
  return { rows, next: found.next }
}

/** Reading a list needs no member. */
const NOBODY = { id: 0, email: '', role: 'VIEWER', createdAt: 0, lastSeenAt: null } as const

async function checkRows(
  service: Service,
  appId: string,
  { request: { action } }: store.BulkChange,
  rows: readonly Subject[],
): Promise<(rowStore.CheckedRow & { message: string | null })[]> {
  const { pool } = service
  const { now } = await requireApp(pool, appId)
  const uids = rows.map(({ userUid }) => userUid)
  const plans = new Map((await livePlans(pool, appId, uids, now)).map((row) => [row.userUid, row]))
  const had = await hadBefore(pool, appId, action, uids, now)
  return rows.map(({ userUid, subscription }) => {
    const about = subscription ?? plans.get(userUid) ?? null
    const reason = bulkRefusal(
      action,
      about && {
        packageId: about.packageId,
        isAddon: about.isAddon,
        provider: about.provider,
        cancelAt: about.cancelAt,
        ended: endedAt(about, now) !== null,
        isFollowed: about.next !== null,
      },
      had.has(userUid),
    )
    const subscriptionId = about?.id ?? null
    return { userUid, subscriptionId, reason, message: reason === null ? null : BULK_REASONS[reason] }
  })
}

/** The users who had a trial of the plan, or have an override of the feature. */
async function hadBefore(
  pool: Service['pool'],
  appId: string,
  action: BulkAction,
  uids: readonly number[],
  now: number,
): Promise<ReadonlySet<number>> {
  if (action.kind === 'START_TRIAL') return triedBefore(pool, appId, uids, action.packageId)
  if (action.kind !== 'SET_OVERRIDE') return new Set()
  const { featureId } = action.override
  const held = await holders(pool, appId, uids, now)
  return new Set(
    [...held].flatMap(([uid, { overrides }]) => (overrideAt(overrides, featureId, now) ? [uid] : [])),
  )
}

/** Changes some rows, or takes them back, one after the other. */
async function move(
  service: Service,
  appId: string,
  found: store.BulkChange,
  from: 'CHANGE' | 'DONE',
): Promise<boolean> {
  const { pool } = service
  const { id } = found
  const member = await findMemberById(pool, found.memberId)
  const obstacle = await obstacleOf(service, appId, found, member)
  if (!member || obstacle) {
    await store.endBulkWork(pool, appId, found, 'STOPPED', obstacle)
    return false
  }
  const rows = await rowStore.rowsToMove(pool, appId, id, from, STEP_ROWS)
  for (const row of rows) {
    // A member may stop it.
    if ((await store.findBulkChange(pool, appId, id))?.state !== found.state) return false
    const one = { service, appId, member, bulkId: id, action: found.request.action, row }
    if (from === 'CHANGE') {
      const { problem, made } = await changeOne(one)
      await rowStore.moveRow(pool, appId, id, row, problem === null ? 'DONE' : 'REFUSED', problem, made)
    } else {
      const { problem } = await changeBack(one)
      await rowStore.moveRow(pool, appId, id, row, problem === null ? 'UNDONE' : 'KEPT', problem, null)
    }
  }
  if (rows.length === STEP_ROWS) return true
  await store.endBulkWork(pool, appId, found, from === 'CHANGE' ? 'APPLIED' : 'UNDONE')
  return false
}

/** Why the rest cannot be processed in the name of this member; null: it can. */
async function obstacleOf(
  { pool }: Service,
  appId: string,
  { memberEmail }: store.BulkChange,
  member: Member | null,
): Promise<string | null> {
  if (!member) return `${memberEmail} was removed. Another member can continue.`
  if (!isAtLeast(member.role, 'EDITOR'))
    return `${memberEmail} is a ${member.role.toLowerCase()} now. Another member can continue.`
  return (await requireApp(pool, appId)).archivedAt !== null
    ? 'The app was archived. Restore it to continue.'
    : null
}
