import { appNotFound, badUserInput, quote, TollgateError, unavailable } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_WRITE_CONFLICTS } from '../../domain/limits.ts'
import { named, type SentencePart, type Subject } from '../../domain/sentence.ts'
import { termsOf } from '../../domain/subscription.ts'
import { namesOf, subjectKey } from '../../store/audit/names.ts'
import { loadApp } from '../../store/catalogue/catalogue.ts'
import { lookUpKeys, type Tx, transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { ImportPlans } from '../../store/imports/create-imported-users.ts'
import { isBillingIdTaken, moveRows, type WayThrough } from '../../store/imports/move-user-import.ts'
import {
  type ImportOutcome,
  listImportRows,
  type UserImportRow,
} from '../../store/imports/user-import-rows.ts'
import * as store from '../../store/imports/user-imports.ts'
import { requireApp } from '../apps/apps.ts'
import { appIsArchived } from '../call/archived-app.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { type KeyedPage, keyAfter, pageOf, pageSize } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import type { Service } from '../call/service.ts'
import { planProblem } from './plan-of-import.ts'

export async function userImports({ service, appId }: Call): Promise<store.UserImport[]> {
  await requireApp(service.pool, appId)
  return store.listUserImports(service.pool, appId)
}

export async function userImport({ service, appId }: Call, id: string): Promise<store.UserImport> {
  await requireApp(service.pool, appId)
  return requireImport(service.pool, appId, id)
}

export async function userImportRows(
  { service: { pool }, appId }: Call,
  id: string,
  outcome: ImportOutcome | null | undefined,
  { first, after }: Page,
): Promise<KeyedPage<ShownImportRow>> {
  await requireApp(pool, appId)
  await requireImport(pool, appId, id)
  const size = pageSize(first)
  const rows = await listImportRows(pool, appId, id, outcome ?? null, keyAfter(after ?? '0'), size + 1)
  const page = pageOf(rows, size, (row) => row.line)
  const subjectOf = (id: string): Subject => ({ kind: 'USER', appId, id })
  const ids = page.rows.flatMap(({ userId }) => (userId === null || !isIdentifier(userId) ? [] : [userId]))
  const names = await namesOf(pool, ids.map(subjectOf))
  const userOf = (id: string): SentencePart => {
    const key = subjectKey(subjectOf(id))
    return named(names.get(key) ?? id, names.has(key) ? subjectOf(id) : null)
  }
  return {
    ...page,
    rows: page.rows.map((row) => ({ ...row, user: row.userId === null ? null : userOf(row.userId) })),
  }
}

/** A row of the file and its user. */
export type ShownImportRow = UserImportRow & { user: SentencePart | null }

/** Applies an import after its dry run. The work continues in the background. */
export function applyUserImport(call: Call, id: string): Promise<store.UserImport> {
  return begin(call, id, 'apply')
}

/** Restores the previous values, except for users changed since. */
export function undoUserImport(call: Call, id: string): Promise<store.UserImport> {
  return begin(call, id, 'undo')
}

const STATES = {
  apply: { from: 'CHECKED', under: 'APPLYING', done: 'APPLIED' },
  undo: { from: 'APPLIED', under: 'UNDOING', done: 'UNDONE' },
} as const

async function begin(call: Call, id: string, way: WayThrough): Promise<store.UserImport> {
  const { appId } = call
  const { service } = call
  const { from, under } = STATES[way]
  const begun = await mutate(call, async (tx, moment) => {
    const found = await requireImport(tx, appId, id)
    if (found.state !== from) {
      throw badUserInput(
        `This import is ${found.state}. Only an import that is ${from} can be ${way === 'apply' ? 'applied' : 'undone'}.`,
      )
    }
    if (way === 'apply' && found.newUsers > 0) checkTakesUsers(appId, (await moment()).app.archived)
    await store.setImportState(tx, appId, id, under)
    return requireImport(tx, appId, id)
  })
  service.ongoing.run(`the import ${id}`, () => moveImport(service, appId, id, way))
  return begun
}

/** Applies all rows. If interrupted, the applied rows stay, and running it again applies the rest. */
export async function moveImport(
  service: Service,
  appId: string,
  id: string,
  way: WayThrough,
): Promise<void> {
  const { pool } = service
  try {
    await moveBatches(service, appId, id, way)
  } catch (error) {
    const why = service.ongoing.stopping ? 'The server was stopped' : 'Internal error'
    const { from, under } = STATES[way]
    await store.setImportState(
      pool,
      appId,
      id,
      from,
      `${why}. ${way === 'apply' ? 'Apply' : 'Undo'} the import again to process the remaining rows.`,
      under,
    )
    throw error
  }
}

const BATCH = 5_000

/**
 * Applies all rows, in batches. If a billing id is taken concurrently, the whole batch fails; it is retried in parts,
 * the first of which finds the id taken.
 */
async function moveBatches(service: Service, appId: string, id: string, way: WayThrough): Promise<void> {
  const { pool } = service
  for (let [limit, lost] = [BATCH, 0]; ; ) {
    if (service.ongoing.stopping) throw unavailable('The server was stopped')
    try {
      const more = await transaction(service.longQueries, async (tx) => {
        await lookUpKeys(tx)
        return moveRows(tx, appId, id, way, limit, () => plansOf(tx, appId))
      })
      if (!more) break
      limit = BATCH
      lost = 0
    } catch (error) {
      if (!isBillingIdTaken(error)) throw error
      if (limit === 1 && ++lost > MAX_WRITE_CONFLICTS) throw error
      limit = Math.ceil(limit / 2)
    }
  }
  const { under, done } = STATES[way]
  await store.setImportState(pool, appId, id, done, null, under)
}

/** The plans that new users may get, as of this transaction. */
async function plansOf(tx: Tx, appId: string): Promise<ImportPlans> {
  const { now } = await requireApp(tx, appId)
  const app = await loadApp(tx, appId)
  if (!app) throw appNotFound(appId)
  const { packages } = app.catalogue
  return {
    now,
    problemOf: (id) => planProblem(id, app.catalogue),
    termsOf: (id) => {
      const found = packages.get(id)
      if (!found) throw new Error(`the plan ${id} is not in the catalogue`)
      return termsOf(found)
    },
  }
}

/** Archived apps take no new users. */
export function checkTakesUsers(appId: string, archived: boolean): void {
  if (archived) throw appIsArchived(appId)
}

/** The report: every row of the file with its outcome. */
export async function* importReport(
  { service: { pool }, appId }: Call,
  id: string,
): AsyncGenerator<UserImportRow[]> {
  let after = 0
  for (;;) {
    const rows = await listImportRows(pool, appId, id, null, after, BATCH)
    const last = rows.at(-1)
    if (!last) return
    after = last.line
    yield rows
  }
}

async function requireImport(db: HomeDb, appId: string, id: string): Promise<store.UserImport> {
  const found = isIdentifier(id) ? await store.findUserImport(db, appId, id) : null
  if (!found) throw new TollgateError('IMPORT_NOT_FOUND', `Import not found: ${quote(id)}`)
  return found
}
