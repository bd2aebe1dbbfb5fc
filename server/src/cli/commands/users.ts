import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { StartError } from '../../domain/errors.ts'
import { MAX_IMPORT_BYTES } from '../../domain/limits.ts'
import { plainText } from '../../terminal/plain-text.ts'
import { ProgressBar } from '../../terminal/progress-bar.ts'
import { type Context, DIFFERENT, DONE } from '../context.ts'
import { type DashboardSession, withSession } from '../dashboard-session.ts'
import type { Perform } from '../perform.ts'
import { isYes } from '../questions.ts'
import { jsonOf } from '../service-request.ts'
import { type CommonOptions, MEMBER_SETTINGS, withSettings } from '../settings.ts'

const POLL_MS = 300
/** The service rejects larger files. A file of that size is read within minutes. */
const READING_MS = 15 * 60_000
/** Without any progress, an import counts as stuck. */
const STUCK_MS = 5 * 60_000
/** Rows shown to a person; JSON has up to 10,000. */
const SHOWN_ROWS = 20

interface Options extends CommonOptions {
  app: string
  dryRun?: boolean
  yes?: boolean
  idColumn: string
  emailColumn: string
  billingIdColumn: string
  nameColumn: string
  planColumn: string
  metadataColumn: string
  existingOnly?: boolean
  clearEmpty?: boolean
}

interface Report {
  import: string
  rows: number
  changed: number
  created: number
  unchanged: number
  bad: number
  badRows: { line: number; id: string | null; problem: string | null; message: string | null }[]
  badRowsLeftOut: number
}

interface ImportState {
  state: string
  rows: number
  bytesRead: number
  bytesTotal: number
  changed: number
  newUsers: number
  applied: number
  created: number
  refused: number
  failure: string | null
}

const count = (value: number) => value.toLocaleString('en-US')
const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

export function usersCommand(perform: Perform): Command {
  const importUsers = new Command('import')
    .summary('create and update users from a CSV file')
    .description(
      'Create and update users from a CSV file with a column id and any of email, billingId, name, metadata (JSON) and plan (for new users). The file is checked first; nothing changes until you confirm. The exit code is 2 if some rows are invalid.',
    )
    .argument('<file>', 'CSV file in UTF-8 with a header line')
    .option('--app <id>', 'ID of the app', 'default')
    .option('--dry-run', 'only check the file, and print what would change')
    .option('--yes', 'apply the changes without asking')
    .option('--id-column <name>', 'column with the ID of the user', 'id')
    .option('--email-column <name>', 'column with the email address', 'email')
    .option('--billing-id-column <name>', 'column with the billing ID', 'billingId')
    .option('--name-column <name>', 'column with the name', 'name')
    .option('--plan-column <name>', 'column with the ID of the plan of a new user', 'plan')
    .option('--metadata-column <name>', 'column with the metadata, as JSON objects', 'metadata')
    .option('--existing-only', 'report unknown IDs as invalid, instead of creating users')
    .option('--clear-empty', 'clear the values whose cells are empty, instead of keeping them')
  return new Command('users')
    .summary('import users from a CSV file')
    .description('Import users from a CSV file.')
    .helpCommand(false)
    .addCommand(withSettings(importUsers, MEMBER_SETTINGS).action(perform(runImport)))
}

async function runImport(context: Context, file: string, options: Options): Promise<number> {
  const { questions, terminal } = context
  if (!options.dryRun && !options.yes && questions === null)
    throw new StartError('Add --yes to apply the changes, or --dry-run to only check the file.')
  const path = resolve(file)
  const bytes = await sizeOf(path)
  return withSession(context, options, async (session) => {
    const id = `imp_${randomUUID()}`
    const report = await checkFile(context, session, { id, path, bytes }, options)
    if (!options.json) for (const line of reportLines(file, report)) await terminal.print(line)
    let made = { applied: 0, created: 0, refused: 0 }
    if (!options.dryRun && report.changed + report.created > 0) {
      if (!options.yes) {
        const answer = (await questions?.ask(`${askedOf(report)} [y/N] `)) ?? ''
        if (!isYes(answer)) throw new StartError('Nothing was changed.')
      }
      const done = await applyChanges(context, session, id, options)
      made = { applied: done.applied, created: done.created, refused: done.refused }
      if (!options.json) await terminal.print(appliedText(done))
    }
    if (options.json)
      await terminal.print(
        JSON.stringify({ ...report, newUsers: report.created, dryRun: options.dryRun ?? false, ...made }),
      )
    return report.bad + made.refused > 0 ? DIFFERENT : DONE
  })
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(({ code }: NodeJS.ErrnoException) => {
    throw new StartError(`${path} cannot be read (${code}).`)
  })
  if (!found.isFile()) throw new StartError(`${path} is not a file.`)
  if (found.size > MAX_IMPORT_BYTES)
    throw new StartError(
      `${path} is larger than ${megabytes(MAX_IMPORT_BYTES)} MB. Split it into several files.`,
    )
  return found.size
}

/** Uploads the file for a check, and shows how far the service has read it. */
async function checkFile(
  context: Context,
  session: DashboardSession,
  { id, path, bytes }: { id: string; path: string; bytes: number },
  options: Options,
): Promise<Report> {
  const bar = new ProgressBar(context.terminal, context.clocks.monotonic)
  let sent = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length
      if (sent < bytes) bar.show({ done: sent, total: bytes, text: `${megabytes(sent)} MB uploaded` })
      done(null, chunk)
    },
  })
  const query = new URLSearchParams({
    app: options.app,
    import: id,
    dryRun: 'true',
    id: options.idColumn,
    email: options.emailColumn,
    billingId: options.billingIdColumn,
    name: options.nameColumn,
    plan: options.planColumn,
    metadata: options.metadataColumn,
    create: options.existingOnly ? 'no' : 'true',
    empty: options.clearEmpty ? 'clear' : 'keep',
  })
  const file = createReadStream(path)
  file.once('error', (error) => counted.destroy(error))
  // The service answers once it has read all rows. Until then it reports progress.
  const uploaded = session.upload(
    `/dashboard/import/users?${query}`,
    Readable.toWeb(file.pipe(counted)) as ReadableStream<Uint8Array>,
    READING_MS,
  )
  const ended = new AbortController()
  const watching = watchReading(session, options.app, id, bar, () => sent >= bytes, ended.signal)
  try {
    return jsonOf(session.url, await uploaded) as unknown as Report
  } finally {
    ended.abort()
    await watching
    file.destroy()
    bar.clear()
  }
}

async function watchReading(
  session: DashboardSession,
  app: string,
  id: string,
  bar: ProgressBar,
  isUploaded: () => boolean,
  ended: AbortSignal,
): Promise<void> {
  const isWanted = () => delay(POLL_MS, true, { signal: ended }).catch(() => false)
  while (await isWanted()) {
    if (!isUploaded()) continue
    // It only helps the display: the upload itself fails with the reason.
    const state = await stateOf(session, app, id).catch(() => null)
    if (state && !ended.aborted)
      bar.show({ done: state.bytesRead, total: state.bytesTotal, text: `${count(state.rows)} rows checked` })
  }
}

async function applyChanges(
  context: Context,
  session: DashboardSession,
  id: string,
  { app }: Options,
): Promise<ImportState> {
  const { monotonic } = context.clocks
  const bar = new ProgressBar(context.terminal, monotonic)
  await session.ask(
    'mutation ($app: String!, $id: String!) { applyUserImport(appId: $app, id: $id) { id } }',
    {
      app,
      id,
    },
  )
  try {
    for (let moved = { at: monotonic(), done: -1 }; ; ) {
      const state = await stateOf(session, app, id)
      const done = state.applied + state.created + state.refused
      const total = state.changed + state.newUsers
      if (state.state === 'APPLIED') return state
      if (state.state === 'FAILED')
        throw new StartError(`The import failed: ${plainText(state.failure ?? 'no reason given')}`)
      if (done !== moved.done) moved = { at: monotonic(), done }
      else if (monotonic() - moved.at > STUCK_MS)
        throw new StartError(
          `The import ${id} makes no progress. Its status is shown in the dashboard, under CSV import.`,
        )
      bar.show({ done, total, text: `${count(done)} of ${count(total)} users` })
      await delay(POLL_MS, undefined, { signal: context.stopping })
    }
  } finally {
    bar.clear()
  }
}

async function stateOf(session: DashboardSession, app: string, id: string): Promise<ImportState> {
  const { userImport } = await session.ask<{ userImport: ImportState }>(
    `query ($app: String!, $id: String!) {
      userImport(appId: $app, id: $id) {
        state rows bytesRead bytesTotal changed newUsers applied created refused failure
      }
    }`,
    { app, id },
  )
  return userImport
}

function reportLines(file: string, report: Report): string[] {
  const { rows, changed, created, unchanged, bad, badRows } = report
  const shown = badRows.slice(0, SHOWN_ROWS)
  const more = bad - shown.length
  return [
    `${plainText(file)}: ${count(rows)} rows, ${count(created)} new users, ${count(changed)} with changes, ${count(unchanged)} without, ${count(bad)} invalid.`,
    ...shown.map(({ line, problem, message }) => `  line ${line}: ${plainText(message ?? problem ?? '')}`),
    ...(more > 0 ? [`  and ${count(more)} more; --json prints up to 10,000`] : []),
  ]
}

const askedOf = ({ created, changed }: Report): string => {
  const parts = [
    ...(created > 0 ? [`create ${usersText(created)}`] : []),
    ...(changed > 0 ? [`change ${usersText(changed)}`] : []),
  ]
  const text = parts.join(' and ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}?`
}

const usersText = (value: number) => `${count(value)} ${value === 1 ? 'user' : 'users'}`

const appliedText = ({ applied, created, refused }: ImportState): string =>
  `Created ${usersText(created)}, changed ${usersText(applied)}.${refused > 0 ? ` ${count(refused)} rows were not applied because the user was modified or created in the meantime or the billing ID was taken.` : ''}`
