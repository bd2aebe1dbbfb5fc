import type { Monotonic } from '../../domain/clocks.ts'
import { unavailable } from '../../domain/errors.ts'
import { MAX_CELLS, MAX_STALE_READS } from '../../domain/limits.ts'
import type { UserReservation } from '../../domain/reservation.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { Pool, Tx } from '../../store/connection/database.ts'
import { HeldConnection } from '../../store/connection/held-connection.ts'
import type { Calls } from '../../store/usage/activity.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type {
  EntitlementQuestion,
  EntitlementState,
  HotPaths,
  PendingReservation,
  PendingUsage,
  Recorded,
  WaitingCaller,
} from '../call/hot-paths.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { Activity } from './activity.ts'
import { Batcher, type BatchResult } from './batcher.ts'
import { CounterMemory } from './counter-memory.ts'
import { CreditMemory } from './credit-memory.ts'
import { type Reading, readEntitlements, WrongQueue } from './read-entitlements.ts'
import { type Recording, recordBatch } from './record-batch.ts'
import { ReservationMemory } from './reservation-memory.ts'
import { reserveBatch } from './reserve-batch.ts'
import { SpenderMemory } from './spender-memory.ts'

/** Per path, so that one is running while the other's answers are being sent. */
const LANES = 2
const MOST = 128

/** Each lane of each path has a connection to itself. */
export const HOT_CONNECTIONS = 2 * LANES

/** For users on another server, one lane per path. */
export const REMOTE_CONNECTIONS = 2 * MAX_CELLS

interface Shared {
  store: UsageStore
  apps: AppCache
  metrics: Metrics
  activity: Activity
  monotonic: Monotonic
}

/** `read` and `record`, each with batches of its own. */
export class UsagePaths implements HotPaths {
  readonly #shared: Shared
  readonly #remote: Pool
  readonly #here: Lanes
  /** Users on another server have lanes of their own: if it is slow or gone, only they notice. */
  readonly #elsewhere = new Map<string, Lanes>()

  /** `remote` is for users on other servers. */
  constructor(pools: { lookups: Pool; remote: Pool }, shared: Shared) {
    this.#shared = shared
    this.#remote = pools.remote
    this.#here = new Lanes(pools.lookups, LANES, shared, {
      ...{ queue: null, memory: new CounterMemory(), credits: new CreditMemory() },
      ...{ spenders: new SpenderMemory(shared.monotonic), reservations: new ReservationMemory() },
    })
    const all = () => [this.#here, ...this.#elsewhere.values()]
    const queue = (of: (lanes: Lanes) => Queue) => ({
      get waiting() {
        return all().reduce((sum, lanes) => sum + of(lanes).waiting, 0)
      },
      oldestSeconds: () => Math.max(...all().map((lanes) => of(lanes).oldestSeconds())),
    })
    shared.metrics.watchQueue(
      'check',
      queue(({ reading }) => reading),
    )
    shared.metrics.watchQueue(
      'record',
      queue(({ recording }) => recording),
    )
  }

  read(question: EntitlementQuestion): Promise<EntitlementState> {
    const { caller, userId } = question
    return this.#inLanesOf('checks', caller.appId, userId, (lanes) => lanes.read(question))
  }

  record(usage: PendingUsage): Promise<Recorded> {
    const { caller, event } = usage
    return this.#inLanesOf('records', caller.appId, event.userId, (lanes) => lanes.record(usage))
  }

  reserve(pending: PendingReservation): Promise<UserReservation | 'alone'> {
    return this.#here.reserve(pending)
  }

  /** Again in other lanes, if the user turns out to be on another server by now. */
  #inLanesOf<T>(
    kind: keyof Calls,
    appId: string,
    userId: string,
    work: (lanes: Lanes) => Promise<T>,
    moves = 0,
  ): Promise<T> {
    const { activity, apps, store } = this.#shared
    const layout = apps.known(appId)?.layout
    const queue = layout ? store.queueOf(layout, appId, userId) : null
    return work(this.#lanesOf(queue)).catch((error: unknown) => {
      if (!(error instanceof WrongQueue)) throw error
      if (moves === MAX_STALE_READS) throw unavailable('User temporarily unavailable; retry.')
      activity.uncount(kind, appId)
      return this.#inLanesOf(kind, appId, userId, work, moves + 1)
    })
  }

  #lanesOf(queue: string | null): Lanes {
    if (queue === null) return this.#here
    const lanes = this.#elsewhere.get(queue) ?? new Lanes(this.#remote, 1, this.#shared, {})
    this.#elsewhere.set(queue, lanes)
    return lanes
  }

  oldestSeconds(): number {
    return Math.max(this.#here.reading.oldestSeconds(), this.#here.recording.oldestSeconds())
  }

  /** Returns the connections to the pool. */
  release(): void {
    for (const lanes of [this.#here, ...this.#elsewhere.values()]) lanes.release()
  }
}

interface Queue {
  readonly waiting: number
  oldestSeconds(): number
}

/** Records, and calls on reservations. */
type Recorder = Batcher<PendingUsage | PendingReservation, Recorded | UserReservation | 'alone'>

/** A number of lanes for each of the two paths. */
class Lanes {
  readonly #held: HeldConnection[]
  readonly #readers: Batcher<EntitlementQuestion, EntitlementState>
  /** All events of one user go through one lane, so that no two lanes move the same counter. */
  readonly #recorders: Recorder[]
  readonly #reservations: ReservationMemory | undefined

  constructor(pool: Pool, lanes: number, shared: Shared, how: Recording) {
    this.#reservations = how.reservations
    this.#held = Array.from({ length: 2 * lanes }, () => new HeldConnection(pool))
    const [reading, recording] = [this.#held.slice(0, lanes), this.#held.slice(lanes)]
    this.#readers = entitlementReader(reading, shared, how)
    this.#recorders = recording.map((connection) => usageRecorder(connection, shared, how))
  }

  read(question: EntitlementQuestion): Promise<EntitlementState> {
    return this.#readers.add(question)
  }

  record(usage: PendingUsage): Promise<Recorded> {
    return this.#recorderOf(usage.event.userId).add(usage) as Promise<Recorded>
  }

  reserve(pending: PendingReservation): Promise<UserReservation | 'alone'> {
    const { caller, reservation } = pending
    const { id } = reservation
    if (reservation.kind === 'RESERVE') this.#reservations?.keep(caller.appId, id, reservation.userId)
    // In another lane than the user's other calls, a call is only slower.
    const userId = this.#reservations?.userOf(caller.appId, id) ?? id
    return this.#recorderOf(userId).add(pending) as Promise<UserReservation | 'alone'>
  }

  #recorderOf(userId: string): Recorder {
    return at(this.#recorders, hash(userId) % this.#recorders.length)
  }

  get reading(): Queue {
    return this.#readers
  }

  get recording(): Queue {
    return queueOf(this.#recorders)
  }

  release(): void {
    for (const connection of this.#held) connection.release()
  }
}

/** Several lanes as one queue: how many calls wait, and for how long the oldest has. */
const queueOf = (lanes: readonly Recorder[]): Queue => ({
  get waiting() {
    return lanes.reduce((sum, lane) => sum + lane.waiting, 0)
  },
  oldestSeconds: () => Math.max(...lanes.map((lane) => lane.oldestSeconds())),
})

function entitlementReader(
  connections: HeldConnection[],
  { store, apps, metrics, activity, monotonic }: Shared,
  how: Reading,
): Batcher<EntitlementQuestion, EntitlementState> {
  return new Batcher<EntitlementQuestion, EntitlementState>(
    (questions, lane) => {
      const entitlements = at(connections, lane).use((db) =>
        readEntitlements(store, apps, db, questions, how),
      )
      // Counted while PostgreSQL is at work.
      metrics.batch.observe({ path: 'check' }, questions.length)
      activity.count('checks', questions)
      return entitlements
    },
    { name: 'check batch', monotonic, lanes: connections.length, most: MOST, expired },
  )
}

function usageRecorder(
  connection: HeldConnection,
  { store, apps, metrics, activity, monotonic }: Shared,
  how: Recording,
): Recorder {
  const record = async (db: Tx, pending: readonly PendingUsage[]) => {
    activity.count('records', pending)
    const results = await recordBatch(store, apps, db, pending, activity.features, how)
    noteSome(activity, pending, results)
    return results
  }
  return new Batcher<PendingUsage | PendingReservation, Recorded | UserReservation | 'alone'>(
    (batch) => {
      metrics.batch.observe({ path: 'record' }, batch.length)
      return connection.use(async (db) => {
        if (batch.every(isRecord)) return record(db, batch)
        const records = batch.filter(isRecord)
        const recorded = records.length > 0 ? await record(db, records) : []
        const calls = batch.filter(isReservation)
        const settlements = calls.filter(({ reservation }) => reservation.kind === 'SETTLE')
        activity.count('records', settlements)
        const reserved = await reserveBatch(store, apps, db, calls, activity.features, how)
        return batch.map((one) => {
          const result = (isRecord(one) ? recorded : reserved).shift()
          if (!result) throw new Error('a call of a batch has no result')
          return result
        })
      })
    },
    { name: 'record batch', monotonic, lanes: 1, most: MOST, expired },
  )
}

const isRecord = (one: PendingUsage | PendingReservation): one is PendingUsage => 'event' in one

const isReservation = (one: PendingUsage | PendingReservation): one is PendingReservation => !isRecord(one)

/** The caller has received a timeout: usage recorded after it would be unexpected. */
const expired = ({ caller }: { caller: WaitingCaller }, now: number): boolean =>
  caller.deadline?.passedBy(now) ?? false

/** Of a large batch, a few are enough to show who is active. */
const NOTED = 8

function noteSome(
  activity: Activity,
  pending: readonly PendingUsage[],
  results: readonly BatchResult<Recorded>[],
): void {
  for (const [i, { caller, event }] of pending.slice(0, NOTED).entries()) {
    const result = results[i]
    if (!result || 'error' in result || result.value === 'claimed') continue
    activity.recorded(caller.appId, event, result.value)
  }
}

function hash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0
  return hash >>> 0
}

function at<T>(all: readonly T[], index: number): T {
  return all[index] as T
}
