import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../../domain/errors.ts'
import { MAX_CELLS } from '../../domain/limits.ts'
import {
  actAsOwner,
  type BillingIdCursor,
  cellOfUnfinishedSplit,
  createCell,
  createFirstCell,
  dropCell,
  homeOf,
  lockCellLayout,
  noteBillingIds,
  noteEarlierBillingIds,
  schemaOf,
  schemasTaken,
  showCells,
} from '../../store/cells/cell-layout.ts'
import {
  countCells,
  countInBuckets,
  moveBucketsTo,
  moveLeftBehind,
  readBuckets,
  withBucketIndex,
} from '../../store/cells/move-users.ts'
import { type Pool, TryAgain, type Tx, transactionOnce } from '../../store/connection/database.ts'
import { endedForAnother } from '../../store/connection/refusals.ts'
import { withoutWaiting } from '../../store/connection/without-waiting.ts'

const WAIT_MS = 20
const LONGEST_WAIT_MS = 2_000

/** Called before each wait for other users of the database. */
export type Waiting = () => void

/**
 * Adds empty cells; the first time also cell 0, which contains all users. Returns the number of cells. `splitFrom` is
 * the cell of which they will get half of the users.
 */
export async function addCells(
  pool: Pool,
  count: number,
  waiting: Waiting,
  splitFrom: number | null = null,
): Promise<number> {
  const present = await countCells(pool)
  const wanted = Math.max(present, 1) + count
  if (wanted > MAX_CELLS) throw new StartError(`There can be at most ${MAX_CELLS} cells.`)
  const taken = await schemasTaken(
    pool,
    Array.from({ length: wanted }, (_, i) => schemaOf(i)),
  )
  if (taken.length > 0)
    throw new StartError(`The schema ${taken[0]} exists and is not a cell. Rename it and retry.`)
  const home = await homeOf(pool)
  if (present === 0) {
    await soon(pool, waiting, async (tx) => {
      await actAsOwner(tx)
      await noteBillingIds(tx, home)
    })
    for (let at: BillingIdCursor | null = { appId: '', uid: 0 }; at; ) {
      const after: BillingIdCursor = at
      at = await transactionOnce(pool, (tx) => noteEarlierBillingIds(tx, after))
    }
  }
  // Each in its own transaction: everyone waits for the first, if only for milliseconds.
  for (let cell = present; cell < wanted; cell++) {
    await soon(pool, waiting, async (tx) => {
      await lockCellLayout(tx)
      await actAsOwner(tx)
      if ((await countCells(tx)) !== cell) throw new StartError('Another process is adding cells; stopped.')
      if (cell === 0) await createFirstCell(tx, home)
      else await createCell(tx, cell, home, splitFrom)
      await showCells(tx, home)
    })
  }
  return wanted
}

/** Removes the last cell, which must have no users. Usage of deleted users is moved to cell 0. */
export async function removeCell(pool: Pool, cell: number, waiting: Waiting): Promise<void> {
  const last = (await countCells(pool)) - 1
  if (cell !== last || cell === 0)
    throw new StartError(
      last > 0 ? `Only the last cell, ${last}, can be removed.` : 'The only cell cannot be removed.',
    )
  if ((await readBuckets(pool)).includes(cell))
    throw new StartError(
      `Cell ${cell} contains users. Move them to another cell first (npx tollgate cells empty ${cell} --into 0).`,
    )
  const home = await homeOf(pool)
  await takeLeftBehind(pool, cell, waiting)
  await soon(pool, waiting, async (tx) => {
    await lockCellLayout(tx)
    if ((await countCells(tx)) - 1 !== cell || (await readBuckets(tx)).includes(cell))
      throw new StartError('Another process is changing the cells; nothing was removed.')
    await dropCell(tx, cell, home)
  })
}

/** Moves the usage of deleted users from a cell to cell 0. */
export async function takeLeftBehind(pool: Pool, cell: number, waiting: Waiting): Promise<void> {
  for (let left = true; left; )
    await soon(pool, waiting, async (tx) => {
      left = await moveLeftBehind(tx, cell, 0)
    })
}

/** Runs work that needs locks as soon as they are free: others would queue behind a waiting lock. */
export async function soon(pool: Pool, waiting: Waiting, work: (tx: Tx) => Promise<void>): Promise<void> {
  for (let wait = WAIT_MS; !(await isDone(pool, work)); wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    waiting()
    await delay(wait)
  }
}

async function isDone(pool: Pool, work: (tx: Tx) => Promise<void>): Promise<boolean> {
  try {
    return await withoutWaiting(pool, 'here', work)
  } catch (error) {
    if (!endedForAnother(error) && !(error instanceof TryAgain)) throw error
    return false
  }
}

/** A bucket and its new cell. */
export interface BucketMove {
  bucket: number
  to: number
}

/** The moves that give each cell as many buckets as the others, with as few moves as possible. */
export function evenly(buckets: readonly number[], cells: number): BucketMove[] {
  const share = (cell: number) => Math.floor(buckets.length / cells) + (cell < buckets.length % cells ? 1 : 0)
  const counts = new Array<number>(cells).fill(0)
  for (const cell of buckets) counts[cell] = (counts[cell] ?? 0) + 1
  const moves: BucketMove[] = []
  let to = 0
  for (const [bucket, cell] of buckets.entries()) {
    if ((counts[cell] ?? 0) <= share(cell)) continue
    while ((counts[to] ?? 0) >= share(to) && to < cells) to++
    counts[cell] = (counts[cell] ?? 0) - 1
    counts[to] = (counts[to] ?? 0) + 1
    moves.push({ bucket, to })
  }
  return moves
}

/** A split of one cell into two. */
interface Split {
  to: number
  /** moves left to be done */
  moves: BucketMove[]
}

/** Adds a cell for half of another one's users, or continues an interrupted split of that one. */
export async function beginSplit(pool: Pool, cell: number, waiting: Waiting): Promise<Split> {
  const to = (await cellOfUnfinishedSplit(pool, cell)) ?? (await addCells(pool, 1, waiting, cell)) - 1
  const buckets = await readBuckets(pool)
  const before = buckets.map((now) => (now === to ? cell : now))
  return { to, moves: half(before, cell, to).filter(({ bucket }) => buckets[bucket] === cell) }
}

/** Every other bucket of a cell. */
export function half(buckets: readonly number[], from: number, to: number): BucketMove[] {
  return allOf(buckets, from, to).filter((_, i) => i % 2 === 1)
}

export function allOf(buckets: readonly number[], from: number, to: number): BucketMove[] {
  return buckets.flatMap((cell, bucket) => (cell === from ? [{ bucket, to }] : []))
}

interface Moving {
  stopping: AbortSignal
  progress: (done: number, users: number) => void
  waiting: Waiting
}

/**
 * Moves buckets with all of their users, some hundred users per transaction. It can be interrupted anywhere: what has
 * been moved stays, and the rest is where it was.
 */
export async function moveBuckets(
  pool: Pool,
  moves: readonly BucketMove[],
  { stopping, progress, waiting }: Moving,
): Promise<number> {
  const buckets = await readBuckets(pool)
  const cellOf = ({ bucket }: BucketMove) => buckets[bucket] ?? 0
  const from = new Set(moves.map(cellOf))
  let [done, users] = [0, 0]
  await withBucketIndex(pool, [...from], async () => {
    for (const cell of from) {
      for (const to of new Set(moves.map((move) => move.to))) {
        const some = moves.filter((move) => cellOf(move) === cell && move.to === to)
        const sizes = await countInBuckets(
          pool,
          schemaOf(cell),
          some.map(({ bucket }) => bucket),
        )
        for (const together of inParts(
          some.map(({ bucket }) => bucket),
          sizes,
        )) {
          if (stopping.aborted) return
          progress(done, users)
          users += await moved(pool, together, to, stopping, waiting)
          done += together.length
        }
      }
    }
    progress(moves.length, users)
  })
  return users
}

/** Writers of a user wait while the user is moved, along with all others of the same transaction. */
const USERS_AT_ONCE = 500
const BUCKETS_AT_ONCE = 64

function inParts(buckets: readonly number[], sizes: ReadonlyMap<number, number>): number[][] {
  const parts: number[][] = []
  let users = Number.POSITIVE_INFINITY
  for (const bucket of buckets) {
    const size = sizes.get(bucket) ?? 0
    const last = parts.at(-1)
    if (last && users + size <= USERS_AT_ONCE && last.length < BUCKETS_AT_ONCE) {
      last.push(bucket)
      users += size
    } else {
      parts.push([bucket])
      users = size
    }
  }
  return parts
}

/** Locks are waited for only briefly, because others queue behind a waiting lock. */
async function moved(
  pool: Pool,
  buckets: readonly number[],
  to: number,
  stopping: AbortSignal,
  waiting: Waiting,
): Promise<number> {
  let users = 0
  const move = async (tx: Tx) => {
    users = await moveBucketsTo(tx, buckets, to)
  }
  for (let wait = WAIT_MS; !stopping.aborted; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    if (await isDone(pool, move)) return users
    waiting()
    await delay(wait, undefined, { signal: stopping }).catch(() => {})
  }
  return 0
}
