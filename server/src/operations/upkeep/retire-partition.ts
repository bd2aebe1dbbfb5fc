import { setTimeout as delay } from 'node:timers/promises'
import { type Pool, type Tx, transactionOnce } from '../../store/connection/database.ts'
import { remoteLedger } from '../../store/ledger/ledger-partitions.ts'
import {
  beginRetiring,
  blocksToRetire,
  blockUserMoves,
  type Filed,
  finishRetiring,
  isUntouched,
  ledgerWriters,
  type Summing,
  sumUp,
  type Totals,
  totalsOf,
  tryLockRetirement,
} from '../../store/ledger/retire-partition.ts'

const WAIT_MS = 20
/** Checking whether others are done costs them nothing. */
const LONGEST_LOOK_MS = 1_000
/** Each attempt to finish may block all writers for a moment. */
const LONGEST_WAIT_MS = 10_000
/**
 * After this many attempts, moves of users are blocked until it is done: each move makes it necessary to sum up and
 * archive again.
 */
const ATTEMPTS_BESIDE_MOVES = 2

/**
 * Writes all entries of a partition to a file, which must agree with the totals. Called again if entries have changed
 * since. `settle` is called just before the file replaces the entries.
 */
type Archive = (totals: Totals) => Promise<Filed & { settle?: () => Promise<void> }>

export interface Retiring {
  stopping: AbortSignal
  archive?: Archive
  /** whether the caller already holds the lock */
  held?: boolean
  /** Called before each wait for other users of the ledger. */
  waiting?: () => void
  /** how much is summed up at once; for tests */
  pagesAtOnce?: number
}

/** Partitions closed more than `seconds` ago, oldest first, each with the ledgers that still contain its entries. */
export async function partitionsDue<Ledger extends { pool: Pool }>(
  ledgers: readonly Ledger[],
  seconds: number,
): Promise<[block: number, ledgers: Ledger[]][]> {
  const due = new Map<number, Ledger[]>()
  for (const ledger of ledgers)
    for (const block of await blocksToRetire(ledger.pool, seconds))
      due.set(block, [...(due.get(block) ?? []), ledger])
  return [...due].sort(([a], [b]) => a - b)
}

/**
 * Retires a closed partition in the ledgers of several cells. It can be interrupted anywhere and is continued by the
 * next attempt. All ledgers are prepared before the first is finished, because users cannot be moved between cells of
 * which only one has retired it. False for a ledger: it was stopped, or another process has retired it or is retiring
 * one.
 */
export async function retireTogether(
  ledgers: readonly { pool: Pool; archive?: Archive }[],
  block: number,
  how: Omit<Retiring, 'archive'>,
): Promise<boolean[]> {
  const { stopping } = how
  const all = ledgers.map(
    ({ pool, archive }) => new Retirement(pool, block, { ...how, ...(archive && { archive }) }),
  )
  let moveBlock: Tx | null = null
  try {
    for (let attempts = 1; !stopping.aborted; attempts++) {
      const open = all.filter(({ isDone }) => isDone === null)
      const [first] = open
      if (!first) break
      if (attempts === ATTEMPTS_BESIDE_MOVES + 1) {
        moveBlock = await first.pool.connect()
        await blockUserMoves(moveBlock)
      }
      for (const one of open) await one.makeReady()
      for (const one of open) await one.lookAgain()
      if (open.every(({ isReady, isDone }) => isReady || isDone === false))
        for (const one of open) await one.finish()
    }
  } finally {
    moveBlock?.release(true)
  }
  return all.map(({ isDone }) => isDone === true)
}

/** The retirement of a partition of one ledger. */
class Retirement {
  readonly pool: Pool
  readonly #block: number
  readonly #how: Retiring
  #ready: { totals: Totals; filed: Awaited<ReturnType<Archive>> | null } | null = null
  /** false: done or being done by others; null: to be retried */
  isDone: boolean | null = null

  constructor(pool: Pool, block: number, how: Retiring) {
    this.pool = pool
    this.#block = block
    this.#how = how
  }

  get isReady(): boolean {
    return this.#ready !== null
  }

  /** Sums up and archives the entries, unless they change meanwhile. */
  async makeReady(): Promise<void> {
    const { stopping, archive, pagesAtOnce } = this.#how
    if (this.#ready) return
    const isLeftToOthers = () => {
      this.isDone = false
    }
    if (!(await this.#whileLocked((tx) => beginRetiring(tx, this.#block)))) return isLeftToOthers()
    await this.#othersDone()
    let summing: Summing | null = 'more'
    while (summing === 'more' && !stopping.aborted)
      summing = await this.#whileLocked((tx) => sumUp(tx, this.#block, pagesAtOnce))
    if (summing === null) return isLeftToOthers()
    if (summing !== 'done') return
    const totals = await totalsOf(this.pool, this.#block)
    this.#ready = { totals, filed: archive ? await archive(totals) : null }
  }

  /** Whether it is still ready, since preparing the others may have taken long. */
  async lookAgain(): Promise<void> {
    if (!(await isUntouched(this.pool, this.#block))) this.#ready = null
  }

  /** Replaces the entries by their sums, unless they have changed since. */
  async finish(): Promise<void> {
    await this.#ready?.filed?.settle?.()
    const remote = await remoteLedger(this.pool)
    const waits = new Waits(this.#how, LONGEST_WAIT_MS)
    while (this.#ready && !this.isDone && !this.#how.stopping.aborted) {
      const { totals, filed } = this.#ready
      const outcome = await finishRetiring(this.pool, this.#block, totals, filed, remote)
      if (outcome === 'retired') this.isDone = true
      else if (outcome === 'changed') this.#ready = null
      else await waits.next()
    }
  }

  #whileLocked<T>(work: (tx: Tx) => Promise<T>): Promise<T | null> {
    return transactionOnce(this.pool, async (tx) =>
      this.#how.held || (await tryLockRetirement(tx)) ? work(tx) : null,
    )
  }

  /**
   * Waits for transactions that numbered entries before the next partition was opened, or that delete entries without
   * having seen the mark.
   */
  async #othersDone(): Promise<void> {
    const remote = await remoteLedger(this.pool)
    const before = await ledgerWriters(this.pool, remote)
    const waits = new Waits(this.#how, LONGEST_LOOK_MS)
    while (
      before.length > 0 &&
      !this.#how.stopping.aborted &&
      (await ledgerWriters(this.pool, remote)).some((id) => before.includes(id))
    )
      await waits.next()
  }
}

/** Growing waits. */
class Waits {
  readonly #how: Retiring
  readonly #longest: number
  #wait = WAIT_MS

  constructor(how: Retiring, longest: number) {
    this.#how = how
    this.#longest = longest
  }

  async next(): Promise<void> {
    this.#how.waiting?.()
    await delay(this.#wait, undefined, { signal: this.#how.stopping }).catch(() => {})
    this.#wait = Math.min(2 * this.#wait, this.#longest)
  }
}
