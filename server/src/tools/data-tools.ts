import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../../package.json' with { type: 'json' }
import { StartError } from '../domain/errors.ts'
import { readConfig } from '../settings/config.ts'
import { dataSettingsHelp } from '../settings/setting-list.ts'
import { migrateJobs } from '../start/background.ts'
import { type DatabaseSetting, startProblem } from '../store/connection/start-problems.ts'
import { checkDatabase } from '../store/schema/check-database.ts'
import { connectedServices } from '../store/schema/tables.ts'
import { Terminal } from '../terminal/terminal.ts'
import { withContents } from './backup/contents.ts'
import type { Summary } from './backup/format.ts'
import { checkHead, checkTarget, type Loaded, load } from './backup/load.ts'
import { progress } from './backup/progress.ts'
import {
  type Installation,
  reach,
  reachStopped,
  reachUrl,
  startIn,
  type Undo,
} from './backup/reach-database.ts'
import { openBackup, verifyBackup } from './backup/read-backup.ts'
import { takeBackup } from './backup/take-backup.ts'
import { CELLS_USAGE, cellTool } from './cell-tools.ts'
import { LEDGER_USAGE, ledgerTool } from './ledger-tools.ts'
import { toolOutput } from './tool-output.ts'

// Operators' tools for the data of an installation, outside the service: backup, restore, move, ledger, cells.

const USAGE: Record<string, string> = {
  backup: 'Usage: tollgate backup FILE    write all data to a file, also while the service runs',
  restore: `Usage: tollgate restore FILE            load a backup into an empty database
       tollgate restore --check FILE    only verify the checksums of the file`,
  move: 'Usage: tollgate move --to postgresql://…    copy all data to an empty database, while the service is stopped',
  ledger: LEDGER_USAGE,
  cells: CELLS_USAGE,
}
const usageOf = (task = '') => USAGE[task] ?? Object.values(USAGE).join('\n')

/** Of every command. */
const COMMON_USAGE = `  --json   print the result as JSON
  --help   print this text`

const undo: Undo = []
const monotonic = () => performance.now()
const [task, ...given] = process.argv.slice(2)
const args = given.filter((option) => option !== '--json')
const terminal = new Terminal(process.stdout, process.stderr)
const output = toolOutput(terminal, monotonic, args.length < given.length)
const { bar, say, print, tell, report } = output
const watch = (expected?: Summary) => progress({ say, bar, monotonic }, expected)
let setting: DatabaseSetting = 'DATABASE_URL'
let stopped = 'Stopped; nothing was saved.'

/** npm runs scripts in the package's folder: paths are relative to where it was called. */
const named = (file: string) => resolve(process.env.INIT_CWD ?? '.', file)

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => void leave(code, stopped))

// The reader has closed the pipe, such as head.
process.stdout.on('error', () => void leave(1))

try {
  await run()
  await leave(0)
} catch (error) {
  const known = error instanceof StartError ? error : startProblem(error, setting)
  await leave(1, `tollgate: ${known?.message ?? (error as Error).message}`)
}

async function leave(code: number, last?: string): Promise<never> {
  bar.clear()
  if (last !== undefined) say(last)
  for (const step of undo.splice(0).reverse()) await step().catch(() => {})
  process.exit(code)
}

async function run(): Promise<void> {
  if (args.includes('--help'))
    return print(`${usageOf(task)}\n\nOptions:\n${COMMON_USAGE}\n\n${dataSettingsHelp()}`)
  const { databaseUrl, databaseDirectUrl, dataDir } = readConfig(process.env)
  const installation: Installation = { database: sessionUrl(databaseUrl, databaseDirectUrl), dataDir }
  setting = installation.database?.setting ?? 'TOLLGATE_DATA_DIR'
  if (task === 'ledger')
    return ledgerTool({ ...output, installation, version: manifest.version, undo, monotonic, named }, args)
  if (task === 'cells') {
    stopped =
      args[0] === 'add'
        ? 'Stopped. npx tollgate cells status shows which cells were added.'
        : 'Stopped. Users already moved stay moved; run the same command again to continue.'
    return cellTool({ ...output, installation, undo, monotonic }, args)
  }
  const { values, positionals } = argumentsOf()
  const [file, ...more] = positionals
  if (more.length === 0 && file !== undefined && values.to === undefined) {
    if (task === 'backup' && !values.check) return backup(installation, named(file))
    if (task === 'restore') return values.check ? check(named(file)) : restore(installation, named(file))
  }
  if (task === 'move' && file === undefined && values.to !== undefined && !values.check)
    return move(installation, values.to)
  throw new StartError(`These arguments are not valid.\n${usageOf(task)}`)
}

function sessionUrl(databaseUrl: string | null, directUrl: string | null): Installation['database'] {
  if (directUrl !== null) return { url: directUrl, setting: 'DATABASE_DIRECT_URL' }
  return databaseUrl === null ? null : { url: databaseUrl, setting: 'DATABASE_URL' }
}

function argumentsOf() {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { to: { type: 'string' }, check: { type: 'boolean', default: false } },
    })
  } catch {
    throw new StartError(`These arguments are not valid.\n${usageOf(task)}`)
  }
}

function rowsOf({ tables }: Pick<Summary, 'tables'>): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0)
}

function total(summary: Pick<Summary, 'tables'>): string {
  return rowsOf(summary).toLocaleString('en-US')
}

async function backup(installation: Installation, file: string): Promise<void> {
  const source = await reach(installation, undo, say)
  await checkDatabase(source.pool, source.setting)
  say(`Backing up ${source.name} to ${file}`)
  const made = await takeBackup(source.pool, manifest.version, file, watch(), undo)
  const size = (made.bytes / 1024 / 1024).toFixed(1)
  await report({ file, bytes: made.bytes, rows: rowsOf(made), takenAt: made.head.takenAt }, [
    `Backed up ${total(made)} rows as of ${made.head.takenAt} to ${file} (${size} MB).`,
    'The backup contains personal data. Restrict access to it.',
    'The backup does not contain the master key, which a restored service needs to start. Keep a copy of the key elsewhere.',
  ])
}

async function verify(file: string): Promise<Summary> {
  say(`Verifying the checksums of ${file}`)
  const summary = await verifyBackup(file, watch())
  checkHead(summary.head)
  return summary
}

function validText(file: string, summary: Summary): string {
  return `${file} is valid: ${total(summary)} rows as of ${summary.head.takenAt}, written by Tollgate ${summary.head.app}.`
}

async function check(file: string): Promise<void> {
  const summary = await verify(file)
  const { takenAt, app } = summary.head
  await report({ file, rows: rowsOf(summary), takenAt, version: app }, [validText(file, summary)])
}

async function restore(installation: Installation, file: string): Promise<void> {
  const summary = await verify(file)
  await tell(validText(file, summary))
  const { database, dataDir } = installation
  const target =
    database === null ? await startIn(dataDir, undo, say) : reachUrl(database.url, database.setting, undo)
  await checkTarget({ ...target, migrateJobs })
  say(`Restoring into ${target.name}`)
  const loaded = await load(await openBackup(file), { ...target, migrateJobs }, watch(summary))
  warnOf(loaded)
  await report({ rows: rowsOf(loaded), unbalanced: loaded.unbalanced }, [
    `Restored ${total(loaded)} rows into ${target.name}. All checksums match.`,
    'Start the service with the same settings as before.',
  ])
}

async function move(installation: Installation, to: string): Promise<void> {
  if (!/^postgres(ql)?:\/\//.test(to))
    throw new StartError('--to must be a URL that starts with postgres:// or postgresql://.')
  const source = await reachStopped(installation, undo, say)
  await checkDatabase(source.pool, source.setting)
  const running = await connectedServices(source.pool)
  if (running > 0)
    throw new StartError(
      `The service is running on ${source.name} (${running} connections). Stop it first, so that no data is written during the move.`,
    )
  setting = '--to'
  const target = { ...reachUrl(to, '--to', undo), migrateJobs }
  await checkTarget(target)
  say(`Moving ${source.name} to ${target.name}`)
  const loaded = await withContents(source.pool, manifest.version, 'wait', (contents) =>
    load(contents, target, watch()),
  )
  warnOf(loaded)
  await report({ rows: rowsOf(loaded), unbalanced: loaded.unbalanced }, [
    `Moved ${total(loaded)} rows. The checksums of source and target match.`,
    'Start the service with DATABASE_URL set to the URL given with --to.',
    `The original data is still in ${source.name}. Delete it when you no longer need it.`,
  ])
}

function warnOf({ unbalanced }: Loaded): void {
  if (unbalanced > 0)
    say(
      `Warning: ${unbalanced} usage counters differ from the sum of their ledger entries, as in the source.`,
    )
}
