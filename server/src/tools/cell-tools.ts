import { StartError } from '../domain/errors.ts'
import {
  addCells,
  allOf,
  type BucketMove,
  beginSplit,
  evenly,
  moveBuckets,
  removeCell,
} from '../operations/upkeep/cells.ts'
import { distribute, moveToWorker } from '../operations/upkeep/remote-cells.ts'
import { endSplits, schemaOf } from '../store/cells/cell-layout.ts'
import { cellContents, readBuckets } from '../store/cells/move-users.ts'
import { nameOfWorker, workersOfCells } from '../store/cells/remote-cells.ts'
import type { Pool } from '../store/connection/database.ts'
import { checkDatabase } from '../store/schema/check-database.ts'
import { isMigrated } from '../store/schema/migrate.ts'
import { type Installation, reach, type Undo } from './backup/reach-database.ts'
import type { ToolOutput } from './tool-output.ts'

// The operator's tool for cells: adds them, and moves users between them while the service runs.

export const CELLS_USAGE = `Usage: tollgate cells status
       tollgate cells add [COUNT]   add empty cells (default: 1)
       tollgate cells split CELL    add a cell and move half of the users of CELL to it
       tollgate cells balance       distribute users evenly over all cells
       tollgate cells empty CELL --into CELL    move all users to another cell
       tollgate cells remove CELL   remove the last cell, which must be empty
       tollgate cells distribute CELL           move an empty cell to another server (Citus)
       tollgate cells move CELL --to HOST:PORT  move a distributed cell to a different server`

interface Tool extends ToolOutput {
  installation: Installation
  undo: Undo
  monotonic: () => number
}

const SAY_EVERY_MS = 2_000
const usage = () => new StartError(`These arguments are not valid.\n${CELLS_USAGE}`)
const count = (value: number) => value.toLocaleString('en-US')
const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`

export async function cellTool(tool: Tool, args: string[]): Promise<void> {
  const [task, first, option, second, ...more] = args
  if (more.length > 0) throw usage()
  const noOptions = option === undefined
  if (task === 'status' && first === undefined) return status(await reachCells(tool), tool)
  if (task === 'add' && noOptions)
    return add(await reachCells(tool), first === undefined ? 1 : numberIn(first), tool)
  if (task === 'split' && first !== undefined && noOptions)
    return split(await reachCells(tool), numberIn(first), tool)
  if (task === 'balance' && first === undefined) return balance(await reachCells(tool), tool)
  if (task === 'empty' && first !== undefined && option === '--into' && second !== undefined)
    return empty(await reachCells(tool), numberIn(first), numberIn(second), tool)
  if (task === 'remove' && first !== undefined && noOptions)
    return remove(await reachCells(tool), numberIn(first), tool)
  if (task === 'distribute' && first !== undefined && noOptions)
    return toServer(await reachCells(tool), numberIn(first), tool)
  if (task === 'move' && first !== undefined && option === '--to' && second !== undefined)
    return moveServer(await reachCells(tool), numberIn(first), second, tool)
  throw usage()
}

function numberIn(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw usage()
  return Number(text)
}

async function reachCells({ installation, undo, say }: Tool): Promise<Pool> {
  const { pool, setting } = await reach(installation, undo, say)
  await checkDatabase(pool, setting)
  if (!(await isMigrated(pool)))
    throw new StartError(
      'The database has the schema of an older version of Tollgate. Start the service once to update it.',
    )
  return pool
}

async function status(pool: Pool, { report }: Tool): Promise<void> {
  const cells = await cellContents(pool)
  const workers = await workersOfCells(pool)
  const located = cells.map((cell) => {
    const worker = workers.get(schemaOf(cell.id))
    return { ...cell, server: worker ? nameOfWorker(worker) : null }
  })
  const lines = located.map(({ id, buckets, users, bytes, server }) => {
    const content = server ? `on ${server}` : `about ${count(users)} users\t${megabytes(bytes)}`
    return `${id}\t${buckets} of 1024 buckets\t${content}`
  })
  await report(located, lines.length > 0 ? lines : ['There is one cell, which contains all users.'])
}

async function add(pool: Pool, wanted: number, tool: Tool): Promise<void> {
  if (wanted < 1) throw usage()
  const present = await addCells(pool, wanted, waiting(tool))
  await tool.report({ cells: present }, [
    `There are now ${present} cells. Users are not moved until you split or balance the cells.`,
  ])
}

async function split(pool: Pool, cell: number, tool: Tool): Promise<void> {
  const cells = await cellContents(pool)
  mustBe(cell, Math.max(cells.length, 1))
  const { to, moves } = await beginSplit(pool, cell, waiting(tool))
  await move(pool, moves, tool)
  await endSplits(pool, [to])
}

async function balance(pool: Pool, tool: Tool): Promise<void> {
  const cells = await cellContents(pool)
  if (cells.length === 0)
    throw new StartError('There is only one cell. Add others first (npx tollgate cells add).')
  await move(pool, evenly(await readBuckets(pool), cells.length), tool)
  await endSplits(
    pool,
    cells.map(({ id }) => id),
  )
}

async function empty(pool: Pool, from: number, to: number, tool: Tool): Promise<void> {
  const cells = await cellContents(pool)
  mustBe(from, cells.length)
  mustBe(to, cells.length)
  if (from === to) throw usage()
  await move(pool, allOf(await readBuckets(pool), from, to), tool)
}

async function remove(pool: Pool, cell: number, tool: Tool): Promise<void> {
  mustBe(cell, Math.max((await cellContents(pool)).length, 1))
  await removeCell(pool, cell, waiting(tool))
  await tool.report({ removed: cell }, [`Removed cell ${cell}.`])
}

async function toServer(pool: Pool, cell: number, tool: Tool): Promise<void> {
  mustBe(cell, Math.max((await cellContents(pool)).length, 1))
  await distribute(pool, cell, waiting(tool))
  const worker = (await workersOfCells(pool)).get(schemaOf(cell))
  const server = worker ? nameOfWorker(worker) : 'another server'
  await tool.report({ cell, server }, [
    `Cell ${cell} is now on ${server}. Users are not moved until you split or balance the cells.`,
  ])
}

async function moveServer(pool: Pool, cell: number, to: string, tool: Tool): Promise<void> {
  mustBe(cell, Math.max((await cellContents(pool)).length, 1))
  tool.say(`Moving cell ${cell} to ${to}; waiting for open transactions to end …`)
  await moveToWorker(pool, cell, to)
  await tool.report({ cell, server: to }, [`Cell ${cell} is now on ${to}.`])
}

function mustBe(cell: number, cells: number): void {
  if (cell >= cells) throw new StartError(`Cell ${cell} does not exist. See npx tollgate cells status.`)
}

/** Moved users stay moved if it is interrupted; the same command does the rest. */
async function move(pool: Pool, moves: readonly BucketMove[], tool: Tool): Promise<void> {
  const { bar, report } = tool
  const stopping = new AbortController()
  const users = await moveBuckets(pool, moves, {
    stopping: stopping.signal,
    waiting: waiting(tool),
    progress: (done, moved) =>
      bar.show({
        done,
        total: moves.length,
        text: `${done} of ${moves.length} buckets, ${count(moved)} users`,
      }),
  })
  bar.clear()
  await report({ users, buckets: moves.length }, [`Moved ${count(users)} users in ${moves.length} buckets.`])
}

function waiting({ monotonic, say }: Tool): () => void {
  let said = monotonic()
  return () => {
    if (monotonic() - said < SAY_EVERY_MS) return
    said = monotonic()
    say('  waiting for other database sessions …')
  }
}
