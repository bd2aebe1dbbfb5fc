import { setTimeout as delay } from 'node:timers/promises'
import { type Pool, type Tx, transactionOnce } from '../../store/database.ts'
import { keepUsersInPlace } from '../../store/hold-ledger.ts'
import { remoteLedger } from '../../store/ledger-partitions.ts'
import {
  beginRetiring,
  type Filed,
  finishRetiring,
  ledgerWriters,
  retireAlone,
  type Summing,
  sumUp,
  type Totals,
  totalsOf,
} from '../../store/retire-partition.ts'

const WAIT_MS = 20
/** Looking whether others are done costs them nothing. */
const LONGEST_LOOK_MS = 1_000
/** After so many, users stay where they are until it is done: moving one has a partition be summed up and archived again. */
const ATTEMPTS_BESIDE_MOVES = 2
/** Each attempt to finish may hold up all writers for a moment. */
const LONGEST_WAIT_MS = 10_000

interface Retiring {
  stopping: AbortSignal
  /** Puts all entries into a file, which must agree with the totals; called again if entries were deleted meanwhile. */
  archive?: (totals: Totals) => Promise<Filed>
  /** whether the caller holds the lock against others already */
  held?: boolean
  /** Told before each wait for others who use the ledger. */
  waiting?: () => void
  /** how much is summed up at once; for tests */
  pagesAtOnce?: number
}

/**
 * Retires a closed partition. It can be cut short anywhere and is continued by the next attempt. False: it was stopped,
 * or another process is retiring one.
 */
export async function retirePartition(
  pool: Pool,
  block: number,
  { stopping, archive, held = false, waiting, pagesAtOnce }: Retiring,
): Promise<boolean> {
  let wait = WAIT_MS
  const pause = async (longest: number) => {
    waiting?.()
    await delay(wait, undefined, { signal: stopping }).catch(() => {})
    wait = Math.min(2 * wait, longest)
  }
  const alone = <T>(work: (tx: Tx) => Promise<T>): Promise<T | null> =>
    transactionOnce(pool, async (tx) => (held || (await retireAlone(tx)) ? work(tx) : null))
  const remote = await remoteLedger(pool)
  let inPlace: Tx | null = null
  const attempt = async (): Promise<boolean | 'changed'> => {
    if (!(await alone((tx) => beginRetiring(tx, block)))) return false
    wait = WAIT_MS
    // Those who took their numbers before the next partition was opened, or delete entries without having seen the mark.
    const before = await ledgerWriters(pool, remote)
    while (before.length > 0 && (await ledgerWriters(pool, remote)).some((id) => before.includes(id))) {
      if (stopping.aborted) return false
      await pause(LONGEST_LOOK_MS)
    }
    let summing: Summing | null = 'more'
    while (summing === 'more' && !stopping.aborted)
      summing = await alone((tx) => sumUp(tx, block, pagesAtOnce))
    if (summing === null) return false
    if (summing !== 'done') return 'changed'
    const totals = await totalsOf(pool, block)
    const filed = archive ? await archive(totals) : null
    wait = WAIT_MS
    while (!stopping.aborted) {
      const outcome = await finishRetiring(pool, block, totals, filed, remote)
      if (outcome === 'retired') return true
      if (outcome === 'changed') return 'changed'
      await pause(LONGEST_WAIT_MS)
    }
    return false
  }
  try {
    for (let attempts = 1; !stopping.aborted; attempts++) {
      if (attempts === ATTEMPTS_BESIDE_MOVES + 1) {
        inPlace = await pool.connect()
        await keepUsersInPlace(inPlace)
      }
      const outcome = await attempt()
      if (outcome !== 'changed') return outcome
    }
    return false
  } finally {
    inPlace?.release(true)
  }
}
