import type { Monotonic } from '../../domain/clocks.ts'
import type { AppCache } from '../../store/app-cache.ts'
import type { Pool } from '../../store/database.ts'
import { HeldConnection } from '../../store/held-connection.ts'
import type {
  FoundStanding,
  HotPaths,
  PendingUsage,
  Recorded,
  StandingQuestion,
  WaitingCaller,
} from '../call/hot-paths.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { Activity } from './activity.ts'
import { Batcher, type BatchResult } from './batcher.ts'
import { recordBatch } from './record-batch.ts'
import { readStandings } from './standings.ts'

/** Per path, so that one is running while the other's answers are being sent. */
const LANES = 2
const MOST = 128

/** Each lane of each path has a connection to itself. */
export const HOT_CONNECTIONS = 2 * LANES

/** `read` and `record`, each with batches of its own. */
export class UsagePaths implements HotPaths {
  readonly #held: HeldConnection[]
  readonly #readers: Batcher<StandingQuestion, FoundStanding>
  /** All events of one user go through one lane, so that no two lanes move the same counter. */
  readonly #recorders: Batcher<PendingUsage, Recorded>[]

  constructor(apps: AppCache, pool: Pool, metrics: Metrics, activity: Activity, monotonic: Monotonic) {
    this.#held = Array.from({ length: HOT_CONNECTIONS }, () => new HeldConnection(pool))
    const [reading, recording] = [this.#held.slice(0, LANES), this.#held.slice(LANES)]
    this.#readers = standingReader(apps, reading, metrics, activity, monotonic)
    this.#recorders = recording.map((connection) =>
      usageRecorder(apps, connection, metrics, activity, monotonic),
    )
    metrics.watchQueue('check', this.#readers)
    metrics.watchQueue('record', queueOf(this.#recorders))
  }

  read(question: StandingQuestion): Promise<FoundStanding> {
    return this.#readers.add(question)
  }

  record(usage: PendingUsage): Promise<Recorded> {
    return at(this.#recorders, hash(usage.event.userId) % this.#recorders.length).add(usage)
  }

  oldestSeconds(): number {
    return Math.max(this.#readers.oldestSeconds(), queueOf(this.#recorders).oldestSeconds())
  }

  /** Returns the connections to the pool. */
  release(): void {
    for (const connection of this.#held) connection.release()
  }
}

/** Several lanes as one queue: how many calls wait, and for how long the oldest has. */
const queueOf = (lanes: readonly Batcher<PendingUsage, Recorded>[]) => ({
  get waiting() {
    return lanes.reduce((sum, lane) => sum + lane.waiting, 0)
  },
  oldestSeconds: () => Math.max(...lanes.map((lane) => lane.oldestSeconds())),
})

function standingReader(
  apps: AppCache,
  connections: HeldConnection[],
  metrics: Metrics,
  activity: Activity,
  monotonic: Monotonic,
): Batcher<StandingQuestion, FoundStanding> {
  return new Batcher<StandingQuestion, FoundStanding>(
    (questions, lane) => {
      const standings = at(connections, lane).use((db) => readStandings(apps, db, questions))
      // Counted while PostgreSQL is at work.
      metrics.batch.observe({ path: 'check' }, questions.length)
      activity.count('checks', questions)
      return standings
    },
    { monotonic, lanes: connections.length, most: MOST, expired },
  )
}

function usageRecorder(
  apps: AppCache,
  connection: HeldConnection,
  metrics: Metrics,
  activity: Activity,
  monotonic: Monotonic,
): Batcher<PendingUsage, Recorded> {
  return new Batcher<PendingUsage, Recorded>(
    async (pending) => {
      metrics.batch.observe({ path: 'record' }, pending.length)
      activity.count('records', pending)
      const results = await connection.use((db) => recordBatch(apps, db, pending, activity.features))
      noteOne(activity, pending[0], results[0])
      return results
    },
    { monotonic, lanes: 1, most: MOST, expired },
  )
}

/** The caller has been told that there is no answer: recording it now would be a surprise. */
const expired = ({ caller }: { caller: WaitingCaller }, now: number): boolean =>
  caller.deadline?.passedBy(now) ?? false

function noteOne(activity: Activity, pending?: PendingUsage, result?: BatchResult<Recorded>): void {
  if (!pending || !result || 'error' in result || result.value === 'claimed') return
  const { consumption } = result.value
  if (!consumption) return
  const { caller, event } = pending
  const { used, budget } = consumption
  activity.recorded({ appId: caller.appId, userId: event.userId, featureId: event.featureId, used, budget })
}

function hash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0
  return hash >>> 0
}

function at<T>(all: readonly T[], index: number): T {
  return all[index] as T
}
