import { isEmail, notAnEmail } from '../../domain/email.ts'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { checkIdentifier, isIdentifier, isStorable } from '../../domain/identifier.ts'
import { KEPT_IMPORTS, MAX_IDENTIFIER_CHARACTERS, MAX_TEXT_CHARACTERS } from '../../domain/limits.ts'
import { checkMetadata, type Json } from '../../domain/metadata.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import type { LoadedApp } from '../../store/catalogue/catalogue.ts'
import { lookUpKeys, type Tx, transaction } from '../../store/connection/database.ts'
import { type StagedRow, stageRows, usersInImport } from '../../store/imports/stage-import-rows.ts'
import * as rowStore from '../../store/imports/user-import-rows.ts'
import * as store from '../../store/imports/user-imports.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { holdErasures } from '../../store/privacy/erased-refs.ts'
import { type Call, type MemberActor, momentOf } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { checkTakesUsers, moveImport } from './apply-import.ts'
import { type Columns, type CsvRow, csvRows } from './csv-rows.ts'
import { planProblem } from './plan-of-import.ts'

interface ImportOrder {
  id: string
  columns: Columns
  /** whether unknown ids are new users; null: if the file has a column `name`, `plan` or `metadata` */
  create: boolean | null
  /** only checks and previews, until `applyUserImport` */
  dryRun: boolean
  /** effect of an empty cell: keep the value, or clear it */
  empty: 'keep' | 'clear'
  bytes: number
}

interface ImportAnswer {
  import: string
  dryRun: boolean
  rows: number
  changed: number
  /** users created, or to be created */
  created: number
  unchanged: number
  bad: number
  badRows: { line: number; id: string | null; problem: string | null; message: string | null }[]
  badRowsLeftOut: number
}

/** Several times a minute; without it, an import counts as abandoned. */
const HEARTBEAT_MS = 5_000

/** Reads a file of users, stages each row with the user's current values, and applies it unless it is a dry run. */
export async function importUsers(
  call: Call<MemberActor>,
  order: ImportOrder,
  file: AsyncIterable<Buffer>,
): Promise<ImportAnswer> {
  const { pool } = call.service
  const { appId } = call
  const { id } = order
  checkIdentifier('import', id)
  if (order.create) checkTakesUsers(appId, (await momentOf(call)).app.archived)
  await mutate(call, async (tx) => {
    const made = { id, memberEmail: call.actor.member.email, bytesTotal: order.bytes }
    if (!(await store.insertUserImport(tx, appId, made))) {
      throw badUserInput(`An import with the id ${quote(id)} already exists`)
    }
    for (const old of await store.dropImports(tx, appId, KEPT_IMPORTS)) {
      await addJob(tx, 'delete-import', { appId, id: old, after: 0 })
    }
  })
  const heartbeat = setInterval(() => {
    call.service.ongoing.run(`the heartbeat of the import ${id}`, () => store.touchImport(pool, appId, id))
  }, HEARTBEAT_MS)
  try {
    await stage(call, order, file).catch(async (error: unknown) => {
      const message = error instanceof TollgateError ? error.message : 'Internal error'
      await store.setImportState(pool, appId, id, 'FAILED', message)
      throw error
    })
    await store.setImportState(pool, appId, id, 'CHECKED')
    if (!order.dryRun) {
      await store.setImportState(pool, appId, id, 'APPLYING')
      await moveImport(call.service, appId, id, 'apply')
    }
  } finally {
    clearInterval(heartbeat)
  }
  return answerOf(call, order)
}

/** Bad rows listed in the response; the report contains all of them. */
const MAX_LISTED_ROWS = 10_000

async function answerOf({ service: { pool }, appId }: Call, order: ImportOrder): Promise<ImportAnswer> {
  const { id, dryRun } = order
  const made = await store.findUserImport(pool, appId, id)
  if (!made) throw new Error(`the import ${id} no longer exists`)
  const wrong = [
    ...(await rowStore.listImportRows(pool, appId, id, 'BAD', 0, MAX_LISTED_ROWS)),
    ...(await rowStore.listImportRows(pool, appId, id, 'REFUSED', 0, MAX_LISTED_ROWS)),
  ]
  const listed = wrong.sort((a, b) => a.line - b.line).slice(0, MAX_LISTED_ROWS)
  const bad = made.bad + made.refused
  return {
    import: id,
    dryRun,
    rows: made.rows,
    changed: dryRun ? made.changed : made.applied,
    created: dryRun ? made.newUsers : made.created,
    unchanged: made.unchanged,
    bad,
    badRows: listed.map(({ line, userId, problem, message }) => ({ line, id: userId, problem, message })),
    badRowsLeftOut: bad - listed.length,
  }
}

const BATCH = 5_000

/** The next batch is read while one is looked up. */
async function stage(call: Call, order: ImportOrder, file: AsyncIterable<Buffer>): Promise<void> {
  const { longQueries } = call.service
  const moment = await momentOf(call)
  let bytesRead = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of file) {
      bytesRead += chunk.length
      yield chunk
    }
  }
  let staging: Promise<void> = Promise.resolve()
  let waiting: CsvRow[] = []
  const flush = async (rows: CsvRow[]) => {
    const upTo = bytesRead
    await staging
    staging = transaction(longQueries, (tx) => stageBatch(tx, call.appId, order, moment, rows, upTo))
    // It is awaited later.
    staging.catch(() => {})
  }
  for await (const rows of csvRows(counted(), order.columns, order.create ?? false)) {
    waiting = waiting.concat(rows)
    while (waiting.length >= BATCH) await flush(waiting.splice(0, BATCH))
  }
  await flush(waiting)
  await staging
}

async function stageBatch(
  tx: Tx,
  appId: string,
  order: ImportOrder,
  { app, now }: Moment,
  rows: readonly CsvRow[],
  bytesRead: number,
): Promise<void> {
  const { id: importId } = order
  const good: StagedRow[] = []
  const bad: rowStore.BadRow[] = []
  for (const row of rows) {
    const checked = checkRow(row, order, app)
    if ('problem' in checked) bad.push(checked)
    else good.push(checked)
  }
  await holdErasures(tx, appId)
  await lookUpKeys(tx)
  const staged = await stageRows(tx, appId, importId, good, now)
  if (staged.leftOut) {
    const lines = new Set(staged.leftOut)
    const left = good.filter(({ line }) => lines.has(line))
    const ids = left.map(({ id }) => id)
    const named = await usersInImport(tx, appId, importId, ids)
    bad.push(...left.map((row) => duplicate(row, named.has(row.id))))
  }
  if (bad.length > 0) await rowStore.insertBadRows(tx, appId, importId, bad)
  await store.noteProgress(tx, appId, importId, {
    bytesRead,
    rows: rows.length,
    bad: bad.length + staged.bad,
    unchanged: staged.unchanged,
    changed: staged.changed,
    created: staged.created,
  })
}

function duplicate({ line, id: userId }: StagedRow, sameUser: boolean): rowStore.BadRow {
  return sameUser
    ? { line, userId, problem: 'DUPLICATE_ID', message: 'An earlier row has the same id' }
    : {
        line,
        userId,
        problem: 'DUPLICATE_BILLING_ID',
        message: 'An earlier row has the same billingId',
      }
}

function checkRow(
  row: CsvRow,
  { empty, create }: Pick<ImportOrder, 'empty' | 'create'>,
  { archived, catalogue }: Pick<LoadedApp, 'archived' | 'catalogue'>,
): StagedRow | rowStore.BadRow {
  if ('problem' in row) return { ...row, userId: null }
  const { line, cells } = row
  const { id, email, billingId, name, plan } = cells
  const userId = isIdentifier(id) ? id : null
  const bad = (problem: rowStore.ImportProblem, message: string): rowStore.BadRow => ({
    line,
    userId,
    problem,
    message,
  })
  if (id === '') return bad('UNKNOWN_USER', 'The row has no id')
  if (id.length > MAX_IDENTIFIER_CHARACTERS) {
    return bad('TOO_LONG', `id must be at most ${MAX_IDENTIFIER_CHARACTERS} characters long: ${quote(id)}`)
  }
  if (userId === null) return bad('UNKNOWN_USER', `User not found: ${quote(id)}`)
  if (email !== null && email.length > MAX_TEXT_CHARACTERS) {
    return bad('TOO_LONG', `email must be at most ${MAX_TEXT_CHARACTERS} characters long: ${quote(email)}`)
  }
  if (email && !isEmail(email)) return bad('BAD_EMAIL', notAnEmail(email))
  if (billingId !== null && billingId.length > MAX_IDENTIFIER_CHARACTERS) {
    return bad(
      'TOO_LONG',
      `billingId must be at most ${MAX_IDENTIFIER_CHARACTERS} characters long: ${quote(billingId)}`,
    )
  }
  if (billingId && !isIdentifier(billingId)) {
    return bad('BAD_BILLING_ID', `billingId must not contain control characters: ${quote(billingId)}`)
  }
  if (name !== null && name.length > MAX_TEXT_CHARACTERS) {
    return bad('TOO_LONG', `name must be at most ${MAX_TEXT_CHARACTERS} characters long: ${quote(name)}`)
  }
  if (name && !isStorable(name)) {
    return bad('BAD_NAME', `name must be well-formed text without NUL characters: ${quote(name)}`)
  }
  const noPlan = plan ? planProblem(plan, catalogue) : null
  if (plan && noPlan !== null && !isIdentifier(plan)) return bad('BAD_PLAN', noPlan)
  const metadata = metadataOf(cells.metadata, empty)
  if (typeof metadata === 'object' && metadata !== null) return bad('BAD_METADATA', metadata.message)
  const sets = (cell: string | null) => cell !== null && (cell !== '' || empty === 'clear')
  return {
    line,
    id,
    email: email || null,
    setEmail: sets(email),
    billingId: billingId || null,
    setBillingId: sets(billingId),
    name: name || null,
    setName: sets(name),
    metadata,
    plan: plan || null,
    planProblem: noPlan,
    create: create ?? (!archived && [name, plan, cells.metadata].some((cell) => cell !== null)),
  }
}

/** The JSON to store; null: nothing to set. */
function metadataOf(cell: string | null, empty: 'keep' | 'clear'): string | null | { message: string } {
  if (!cell) return cell === '' && empty === 'clear' ? '{}' : null
  const rule = `metadata must be a JSON object, such as {"team":"a"}: ${quote(cell)}`
  let metadata: Json
  try {
    metadata = JSON.parse(cell)
  } catch {
    return { message: rule }
  }
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return { message: rule }
  try {
    checkMetadata(metadata)
  } catch (error) {
    if (error instanceof TollgateError) return { message: error.message }
    throw error
  }
  return JSON.stringify(metadata)
}
