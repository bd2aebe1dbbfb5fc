import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Monotonic } from '../../domain/clocks.ts'
import type { Pool } from './database.ts'
import type { HomeDb } from './places.ts'
import { TIMELINE } from './primary.ts'

/** Pools for the kinds of reads, all to the same server. */
interface ReadPools {
  pool: Pool
  lookups: Pool
  longQueries: Pool
}

/** How long a read waits for the replica to catch up. */
const CATCH_UP_MS = 250
const ASK_AGAIN_MS = 20
/** A replica that lags or does not respond is not used for this long. */
const REST_MS = 5_000

interface WalPosition {
  lsn: string
  timeline: number
  /** the timeline that the service has recorded */
  noted: number | null
  system: string
}

/**
 * A standby for reads that would burden the primary. It is used for a read only if it has replayed everything committed
 * before, so that nobody misses a change they have just made, in any process.
 */
export class Replica {
  readonly #primary: Pool
  readonly #pools: ReadPools
  readonly #monotonic: Monotonic
  readonly #log: Logger
  #restingUntil = Number.NEGATIVE_INFINITY
  #complaint: string | null = null

  constructor(primary: Pool, pools: ReadPools, monotonic: Monotonic, log: Logger) {
    this.#primary = primary
    this.#pools = pools
    this.#monotonic = monotonic
    this.#log = log
  }

  /** The pools to read from; null: the primary. */
  async pools(): Promise<ReadPools | null> {
    if (this.#monotonic() < this.#restingUntil) return null
    const position = await walPosition(this.#primary)
    // The recorded timeline must reach the replica too, so this read is too early.
    if (position.noted !== position.timeline) {
      await note(this.#primary, position.timeline)
      return null
    }
    const late = new AbortController()
    const complaint = await Promise.race([
      this.#catchUp(position, late.signal),
      delay(CATCH_UP_MS, 'does not answer in time', { signal: late.signal }),
    ]).finally(() => late.abort())
    if (complaint === null) {
      if (this.#complaint !== null) this.#log.info('the replica has caught up; reading lists from it again')
      this.#complaint = null
      return this.#pools
    }
    this.rest(complaint)
    return null
  }

  /** Uses the primary for a while. */
  rest(complaint: string): void {
    this.#restingUntil = this.#monotonic() + REST_MS
    if (this.#complaint !== complaint)
      this.#log.warn(`the replica ${complaint}; reading lists from the primary`)
    this.#complaint = complaint
  }

  /** Null once the replica has reached the position; otherwise the problem. */
  async #catchUp(position: WalPosition, late: AbortSignal): Promise<string | null> {
    const began = this.#monotonic()
    try {
      for (;;) {
        const state = await replicaState(this.#pools.pool, position)
        if (!state.following) return 'is not a standby of the primary'
        if (state.reached) return null
        if (late.aborted || this.#monotonic() - began > CATCH_UP_MS) return 'lags behind'
        await delay(ASK_AGAIN_MS)
      }
    } catch (error) {
      return `fails (${(error as Error).message || (error as NodeJS.ErrnoException).code})`
    }
  }
}

async function walPosition(primary: HomeDb): Promise<WalPosition> {
  const { rows } = await primary.query<WalPosition>(
    `select pg_current_wal_lsn()::text as lsn, ${TIMELINE} as timeline,
       (select timeline from liveness) as noted, (select system_identifier::text from pg_control_system()) as system`,
  )
  if (!rows[0]) throw new Error('the primary did not report its WAL position')
  return rows[0]
}

async function note(primary: HomeDb, timeline: number): Promise<void> {
  await primary.query(
    `insert into liveness (only_row, written_at, timeline) values (true, now(), $1)
     on conflict (only_row) do update set timeline = excluded.timeline`,
    [timeline],
  )
}

/**
 * A standby that did not follow a failover may be ahead of the new primary, with data that one never had. It lacks the
 * record of the new timeline.
 */
async function replicaState(
  replica: HomeDb,
  { lsn, timeline, system }: WalPosition,
): Promise<{ following: boolean; reached: boolean }> {
  const { rows } = await replica.query<{ following: boolean; reached: boolean }>(
    `select pg_is_in_recovery() and (select system_identifier::text from pg_control_system()) = $3 as following,
       coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false)
         and coalesce((select timeline from liveness) = $2, false) as reached`,
    [lsn, timeline, system],
  )
  return rows[0] ?? { following: false, reached: false }
}
