import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { StartError } from '../domain/errors.ts'
import { MAX_KEPT_DAYS } from '../domain/limits.ts'
import { partitionsDue, retireTogether } from '../operations/upkeep/retire-partition.ts'
import { Cells, pathTo } from '../store/cells/cells.ts'
import type { Pool } from '../store/connection/database.ts'
import { type LedgerPartition, ledgerPartitions } from '../store/ledger/ledger-partitions.ts'
import { holdRetirement, releaseRetirement, type Totals } from '../store/ledger/retire-partition.ts'
import { checkDatabase } from '../store/schema/check-database.ts'
import { isMigrated } from '../store/schema/migrate.ts'
import { findUser } from '../store/users/users.ts'
import { type Archived, type ArchiveHead, archivePartition, readArchive } from './backup/ledger-archive.ts'
import { type Installation, reach, type Undo } from './backup/reach-database.ts'
import type { ToolOutput } from './tool-output.ts'

// The operator's tool for the ledger: shows its partitions, archives old ones and reads archives.

export const LEDGER_USAGE = `Usage: tollgate ledger status
       tollgate ledger archive --to FOLDER [--older-than DAYS]
                              move partitions closed at least DAYS days ago (default: 90) to files
       tollgate ledger check FILE
       tollgate ledger read FILE [--app ID] [--user ID | --uid NUMBER]
                              print entries, optionally of one app or user`

const USUAL_DAYS = 90
const DAY = 86_400
const SAY_EVERY_MS = 5_000

interface Tool extends ToolOutput {
  installation: Installation
  /** of the service */
  version: string
  undo: Undo
  monotonic: () => number
  /** resolves a path given by the operator */
  named: (file: string) => string
}

const usage = () => new StartError(`These arguments are not valid.\n${LEDGER_USAGE}`)
const count = (value: bigint | number) => value.toLocaleString('en-US')
const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`
const dayOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 10))

export async function ledgerTool(tool: Tool, args: string[]): Promise<void> {
  const { values, positionals } = argumentsOf(args)
  const [task, file, ...more] = positionals
  const given = Object.keys(values)
  const only = (...options: string[]) => given.every((option) => options.includes(option))
  if (more.length > 0) throw usage()
  if (task === 'status' && file === undefined && only()) return status(tool)
  if (task === 'archive' && file === undefined && values.to !== undefined && only('to', 'older-than'))
    return archive(tool, tool.named(values.to), daysOf(values['older-than']))
  if (task === 'check' && file !== undefined && only()) return check(tool, tool.named(file))
  if (task === 'read' && file !== undefined && only('app', 'user', 'uid') && !(values.user && values.uid))
    return read(tool, tool.named(file), values)
  throw usage()
}

function argumentsOf(args: string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { to: text, 'older-than': text, app: text, user: text, uid: text },
    })
  } catch {
    throw usage()
  }
}

function daysOf(text: string | undefined): number {
  if (text === undefined) return USUAL_DAYS
  if (!/^\d+$/.test(text) || Number(text) > MAX_KEPT_DAYS)
    throw new StartError(`--older-than must be a number of days from 0 to ${MAX_KEPT_DAYS}.`)
  return Number(text)
}

/** The ledger of each cell; null: there is one cell. */
interface Ledger {
  pool: Pool
  cell: number | null
}

async function reachLedgers({ installation, undo, say }: Tool): Promise<[Ledger, ...Ledger[]]> {
  const { pool, setting, openIn } = await reach(installation, undo, say)
  await checkDatabase(pool, setting)
  if (!(await isMigrated(pool)))
    throw new StartError(
      'The database has the schema of an older version of Tollgate. Start the service once to update it.',
    )
  const cells = new Cells()
  await cells.read(pool)
  const [first, ...others] = cells.all.map(({ schema }, cell) => ({
    pool: openIn(pathTo(schema, cells.home)),
    cell,
  }))
  return first ? [first, ...others] : [{ pool, cell: null }]
}

async function status(tool: Tool): Promise<void> {
  const found: ({ cell: number | null } & LedgerPartition)[] = []
  for (const { pool, cell } of await reachLedgers(tool))
    for (const partition of await ledgerPartitions(pool)) found.push({ cell, ...partition })
  await tool.report(
    found.map((partition) => ({
      ...partition,
      openedAt: isoOrNull(partition.openedAt),
      closedAt: isoOrNull(partition.closedAt),
      retiredAt: isoOrNull(partition.retiredAt),
    })),
    found.map(
      ({ cell, ...partition }) =>
        `${cell === null ? '' : `cell ${cell}\t`}${partition.block}\t${described(partition)}`,
    ),
  )
}

function described({ openedAt, closedAt, retiredAt, entries, bytes, file }: LedgerPartition): string {
  if (openedAt === null) return 'not yet in use'
  const time = `${dayOf(openedAt)} to ${dayOf(closedAt) ?? 'now'}`
  const estimate = entries === null ? '' : `\tabout ${count(entries)} entries`
  if (retiredAt === null) return `${time}\t${megabytes(bytes)}${estimate}`
  return `${time}\t${count(entries ?? 0)} entries ${file ? `archived in ${file}` : 'deleted'} on ${dayOf(retiredAt)}`
}

async function archive(tool: Tool, folder: string, days: number): Promise<void> {
  const { undo } = tool
  const ledgers = await reachLedgers(tool)
  // The session holds the lock, which ends with this process.
  const session = await ledgers[0].pool.connect()
  undo.push(async () => session.release(true))
  if (!(await holdRetirement(session)))
    throw new StartError('Another process is archiving or deleting old entries. Retry when it is done.')
  undo.push(() => releaseRetirement(session))
  await mkdir(folder, { recursive: true }).catch((error: Error) => {
    throw new StartError(`The folder ${folder} cannot be created (${error.message}).`)
  })
  const due = await partitionsDue(ledgers, days * DAY)
  const archived: PartitionFile[] = []
  for (const [block, those] of due) archived.push(...(await archiveBlock(tool, those, block, folder)))
  await tool.report(
    archived.map(({ path, bytes, entries }) => ({ file: path, bytes, entries: Number(entries) })),
    due.length === 0 ? [`No ledger partition was closed more than ${days} days ago. Nothing to do.`] : [],
  )
}

/** Archives a partition of all ledgers that still have it, each to a file. */
async function archiveBlock(
  tool: Tool,
  ledgers: readonly Ledger[],
  block: number,
  folder: string,
): Promise<PartitionFile[]> {
  const { bar, say, tell } = tool
  let said = tool.monotonic()
  const sayNowAndThen = (line: string) => {
    if (tool.monotonic() - said < SAY_EVERY_MS) return
    said = tool.monotonic()
    say(line)
  }
  const files: PartitionFile[] = []
  for (const ledger of ledgers) files.push(await PartitionFile.of(tool, ledger, block, folder))
  const done = await retireTogether(
    files.map((file) => ({
      pool: file.pool,
      archive: (totals) =>
        file.write(totals, (written) =>
          bar.show({
            done: Number(written),
            total: Number(totals.entries),
            text: `${count(written)} of ${count(totals.entries)} entries`,
          }),
        ),
    })),
    block,
    {
      stopping: new AbortController().signal,
      held: true,
      waiting: () => sayNowAndThen('  waiting for other sessions that use the ledger …'),
    },
  )
  bar.clear()
  const archived = files.filter((_, i) => done[i])
  // At once, so that archived partitions stay archived if a later one fails.
  for (const file of archived)
    await tell(
      `Archived ${count(file.entries)} entries in ${file.path} (${megabytes(file.bytes)}), verified the file, and removed the entries.`,
    )
  if (done.includes(false)) throw new StartError(`Partition ${block} was retired by another process.`)
  return archived
}

/** The archive of a partition of one ledger. */
class PartitionFile {
  readonly #tool: Tool
  readonly #head: ArchiveHead
  readonly pool: Pool
  readonly path: string
  #isSettled = false
  bytes = 0
  entries = 0n

  static async of(tool: Tool, { pool, cell }: Ledger, block: number, folder: string): Promise<PartitionFile> {
    const partition = (await ledgerPartitions(pool)).find((one) => one.block === block)
    const [openedAt, closedAt] = [isoOrNull(partition?.openedAt), isoOrNull(partition?.closedAt)]
    const name = `ledger-${cell === null ? '' : `cell-${cell}-`}${String(block).padStart(4, '0')}-from-${dayOf(partition?.openedAt ?? 0)}.ndjson.gz`
    return new PartitionFile(tool, pool, join(folder, name), { app: tool.version, block, openedAt, closedAt })
  }

  private constructor(tool: Tool, pool: Pool, path: string, head: ArchiveHead) {
    this.#tool = tool
    this.#head = head
    this.pool = pool
    this.path = path
  }

  /** Repeated if entries have changed since. */
  async write(totals: Totals, watch: (entries: bigint) => void): Promise<Archived> {
    this.#tool.say(`Archiving partition ${this.#head.block} to ${this.path}`)
    if (this.#isSettled) await rm(this.path)
    this.#isSettled = false
    const archived = await archivePartition(this.pool, this.path, this.#head, totals, watch, this.#tool.undo)
    this.bytes = archived.bytes
    this.entries = totals.entries
    const settle = async () => {
      await archived.settle()
      this.#isSettled = true
    }
    return { ...archived, settle }
  }
}

const isoOrNull = (ms: number | null | undefined) => (ms ? new Date(ms).toISOString() : null)

async function check({ report }: Tool, file: string): Promise<void> {
  const { head, entries } = await readArchive(file, () => {})
  await report({ file, entries: Number(entries), block: head.block, version: head.app }, [
    `${file} is valid: ${count(entries)} entries of partition ${head.block}, written by Tollgate ${head.app}.`,
  ])
}

async function read(
  tool: Tool,
  file: string,
  { app, user, uid }: { app?: string | undefined; user?: string | undefined; uid?: string | undefined },
): Promise<void> {
  const wanted = user === undefined ? uid : String(await numberOf(tool, app, user))
  await readArchive(file, ({ appId, userUid }, line) => {
    if ((app === undefined || appId === app) && (wanted === undefined || String(userUid) === wanted))
      return tool.print(line)
  })
}

/** Archives identify users by number. */
async function numberOf(tool: Tool, app: string | undefined, user: string): Promise<number> {
  if (app === undefined) throw new StartError('--user requires --app.')
  const { pool } = await reach(tool.installation, tool.undo, tool.say)
  const found = await findUser(pool, app, user)
  if (!found) throw new StartError(`The app ${app} has no user ${JSON.stringify(user)}.`)
  return found.uid
}
