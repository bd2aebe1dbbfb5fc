import { randomUUID } from 'node:crypto'
import {
  BULK_REASONS,
  type BulkAction,
  type BulkOutcome,
  type BulkReason,
  type BulkState,
  isUndoable,
} from '../../domain/bulk-change.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import { badUserInput, quote, rateLimited, SUBSCRIBE_REFUSALS, TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import {
  KEPT_BULK_CHANGES,
  MAX_BULK_IDS,
  MAX_RUNNING_BULK_CHANGES,
  MAX_TRIAL_DAYS,
} from '../../domain/limits.ts'
import { withOverride } from '../../domain/override.ts'
import * as store from '../../store/bulk/bulk-changes.ts'
import { type BulkRow, listBulkRows } from '../../store/bulk/bulk-rows.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { peopleOf, type UserContact } from '../../store/subscriptions/subscribers.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call, MemberActor } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { type KeyedPage, keyAfter, pageOf, pageSize } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { requireFeature, requirePackage } from '../call/require.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'

/** A bulk change, in words. */
export interface ShownBulkChange extends store.BulkChange {
  title: string
  reasons: { message: string; count: number }[]
}

export type ShownBulkRow = BulkRow & { user: UserContact | null }

/** Checks a change of many users in the background. Nothing changes until it is applied. */
export async function startBulkChange(call: Call, request: store.BulkRequest): Promise<ShownBulkChange> {
  const { appId } = call
  const { member } = call.actor as MemberActor
  checkSubjects(request.of)
  const id = `bulk_${randomUUID()}`
  return mutate(call, async (tx, moment) => {
    const { app, now } = await moment()
    checkAction(app.catalogue, request.action, now)
    await requireRoom(tx, appId)
    await store.insertBulkChange(tx, appId, { id, request, memberId: member.id, memberEmail: member.email })
    for (const old of await store.dropBulkChanges(tx, appId, KEPT_BULK_CHANGES))
      await addJob(tx, 'delete-bulk-change', { appId, id: old }, `delete bulk ${appId} ${old}`)
    await continueBulkChange(tx, appId, id)
    return shown(app.catalogue, await requireBulkChange(tx, appId, id))
  })
}

/** Makes the changes in the background, each as an operation of its own in the name of this member. */
export function applyBulkChange(call: Call, id: string): Promise<ShownBulkChange> {
  return begin(call, id, 'apply')
}

/** Takes the changes back, except those of users who were changed since. */
export function undoBulkChange(call: Call, id: string): Promise<ShownBulkChange> {
  return begin(call, id, 'undo')
}

/** Stops after the user who is being changed. The rest can be applied later, or the changes undone. */
export function stopBulkChange(call: Call, id: string): Promise<ShownBulkChange> {
  return begin(call, id, 'stop')
}

const STEPS = {
  apply: { from: ['CHECKED', 'STOPPED'], to: 'APPLYING', done: 'applied' },
  undo: { from: ['APPLIED', 'STOPPED'], to: 'UNDOING', done: 'undone' },
  stop: { from: ['APPLYING', 'UNDOING'], to: 'STOPPED', done: 'stopped' },
} as const satisfies Record<string, { from: BulkState[]; to: BulkState; done: string }>

function begin(call: Call, id: string, step: keyof typeof STEPS): Promise<ShownBulkChange> {
  const { from, to, done }: { from: readonly BulkState[]; to: BulkState; done: string } = STEPS[step]
  const { appId } = call
  const { member } = call.actor as MemberActor
  return mutate(call, async (tx, moment) => {
    const { app } = await moment()
    const found = isIdentifier(id) ? await store.lockBulkChange(tx, appId, id) : null
    if (!found) throw notFound(id)
    if (!from.includes(found.state))
      throw badUserInput(
        `This change is ${found.state}. Only a change that is ${from.join(' or ')} can be ${done}.`,
        'id',
      )
    if (step === 'undo' && !isUndoable(found.request.action))
      throw badUserInput('A subscription that was cancelled immediately cannot be restored', 'id')
    if (step !== 'stop') await requireRoom(tx, appId)
    await store.setBulkState(tx, appId, id, to)
    if (step !== 'stop') {
      await store.setBulkMember(tx, appId, id, member)
      await continueBulkChange(tx, appId, id)
    }
    return shown(app.catalogue, await requireBulkChange(tx, appId, id))
  })
}

/** Exact: a member's changes to an app run one after the other. */
async function requireRoom(tx: Tx, appId: string): Promise<void> {
  if ((await store.countRunningBulkChanges(tx, appId)) < MAX_RUNNING_BULK_CHANGES) return
  throw rateLimited(
    `${MAX_RUNNING_BULK_CHANGES} bulk changes of this app are running. Wait for one to finish, or stop it.`,
    10,
  )
}

/** The steps of an app run one after the other: those of two changes take turns. */
export const continueBulkChange = (db: HomeDb, appId: string, id: string): Promise<void> =>
  addJob(db, 'bulk-change', { appId, id }, `bulk ${appId} ${id}`, `bulk ${appId}`)

export async function bulkChange(call: Call, id: string): Promise<ShownBulkChange> {
  const { pool } = call.service
  await requireApp(pool, call.appId)
  return shown(await catalogueOf(call), await requireBulkChange(pool, call.appId, id))
}

/** The last ones, newest first. */
export async function bulkChanges(call: Call): Promise<ShownBulkChange[]> {
  const { pool } = call.service
  await requireApp(pool, call.appId)
  const found = await store.listBulkChanges(pool, call.appId, KEPT_BULK_CHANGES)
  const catalogue = await catalogueOf(call)
  return found.map((one) => shown(catalogue, one))
}

export async function bulkChangeRows(
  { service: { pool }, appId }: Call,
  id: string,
  outcome: BulkOutcome | null,
  { first, after }: Page,
): Promise<KeyedPage<ShownBulkRow>> {
  await requireApp(pool, appId)
  await requireBulkChange(pool, appId, id)
  const size = pageSize(first)
  const rows = await listBulkRows(pool, appId, id, outcome, keyAfter(after ?? '0'), size + 1)
  const page = pageOf(rows, size, ({ number }) => number)
  const people = await peopleOf(
    pool,
    appId,
    page.rows.map(({ userUid }) => userUid),
  )
  return { ...page, rows: page.rows.map((row) => ({ ...row, user: people.get(row.userUid) ?? null })) }
}

async function requireBulkChange(db: HomeDb, appId: string, id: string): Promise<store.BulkChange> {
  const found = isIdentifier(id) ? await store.findBulkChange(db, appId, id) : null
  if (!found) throw notFound(id)
  return found
}

const notFound = (id: string) =>
  new TollgateError('BULK_CHANGE_NOT_FOUND', `Bulk change not found: ${quote(id)}`)

function checkSubjects(of: store.BulkSubjects): void {
  if (!('ids' in of)) return
  if (of.ids.length < 1 || of.ids.length > MAX_BULK_IDS)
    throw badUserInput(`ids must contain from 1 to ${MAX_BULK_IDS} ids`, 'ids')
}

/** Refuses actions that would be refused for every row. */
function checkAction(catalogue: Catalogue, action: BulkAction, now: number): void {
  if (action.kind === 'CHANGE_PLAN' || action.kind === 'START_TRIAL') {
    const plan = requirePackage(catalogue, action.packageId)
    if (plan.isAddon) throw badUserInput(`${quote(plan.id)} is an add-on, not a plan`, 'packageId')
    if (plan.status !== 'PUBLISHED') throw badUserInput('Package is not published', 'packageId')
    if (plan.archived) throw badUserInput(SUBSCRIBE_REFUSALS.archived, 'packageId')
  }
  if (action.kind === 'START_TRIAL' && !(action.days >= 1 && action.days <= MAX_TRIAL_DAYS))
    throw badUserInput(`days must be an integer from 1 to ${MAX_TRIAL_DAYS}`, 'days')
  if (action.kind === 'SET_OVERRIDE') {
    const feature = requireFeature(catalogue, action.override.featureId)
    withOverride(null, action.override, feature.type, now)
    if (feature.archived && action.override.mode !== 'DENY')
      throw badUserInput(
        `The feature ${quote(feature.id)} is archived. Restore it before setting overrides for it.`,
        'featureId',
      )
  }
}

function shown(catalogue: Catalogue, found: store.BulkChange): ShownBulkChange {
  const reasons = Object.entries(found.skipped).map(([reason, count]) => ({
    message: BULK_REASONS[reason as BulkReason],
    count,
  }))
  return {
    ...found,
    title: titleOf(catalogue, found.request.action),
    reasons: reasons.sort((a, b) => b.count - a.count),
  }
}

function titleOf({ packages, features }: Catalogue, action: BulkAction): string {
  const plan = (id: string) => packages.get(id)?.name ?? id
  switch (action.kind) {
    case 'CHANGE_PLAN':
      return `Change plan to ${plan(action.packageId)}`
    case 'START_TRIAL':
      return `Start a ${action.days}-day trial of ${plan(action.packageId)}`
    case 'CANCEL':
      return action.atPeriodEnd ? 'Cancel at the end of the period' : 'Cancel immediately'
    case 'SET_OVERRIDE': {
      const { featureId } = action.override
      return `Set an override of ${features.get(featureId)?.name ?? featureId}`
    }
  }
}
