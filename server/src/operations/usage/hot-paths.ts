import type { Monotonic } from '../../domain/clocks.ts'
import type { AppCache } from '../../store/app-cache.ts'
import type { Pool } from '../../store/database.ts'
import { HeldConnection } from '../../store/held-connection.ts'
import type { WaitingCaller } from '../call/deadline.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { Activity } from './activity.ts'
import { Batcher, type Settled } from './batcher.ts'
import { type PendingUsage, type Recorded, recordBatch } from './record-batch.ts'
import { type FoundStanding, readStandings, type StandingQuestion } from './standings.ts'

/** For each path, so that one is under way while the answers of the other go out. */
const LANES = 2
const MOST = 128

/** Each lane of each path has a connection to itself. */
export const HOT_CONNECTIONS = 2 * LANES

export type StandingReader = Batcher<StandingQuestion, FoundStanding>

export interface UsageRecorder {
  add(pending: PendingUsage): Promise<Recorded>
  /** of all lanes: how many calls wait, and for how long the oldest has */
  readonly waiting: number
  oldestSeconds(): number
}

interface HotPaths {
  standings: StandingReader
  usage: UsageRecorder
  /** Gives the connections back to the pool. */
  release(): void
}

export function hotPaths(
  apps: AppCache,
  pool: Pool,
  metrics: Metrics,
  activity: Activity,
  monotonic: Monotonic,
): HotPaths {
  const held = Array.from({ length: HOT_CONNECTIONS }, () => new HeldConnection(pool))
  const standings = standingReader(apps, held.slice(0, LANES), metrics, activity, monotonic)
  const usage = usageRecorder(apps, held.slice(LANES), metrics, activity, monotonic)
  metrics.watchQueue('check', standings)
  metrics.watchQueue('record', usage)
  return {
    standings,
    usage,
    release: () => {
      for (const connection of held) connection.release()
    },
  }
}

function standingReader(
  apps: AppCache,
  connections: HeldConnection[],
  metrics: Metrics,
  activity: Activity,
  monotonic: Monotonic,
): StandingReader {
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

/** All events of one user go down one lane, so that the lanes never move the same counter. */
function usageRecorder(
  apps: AppCache,
  connections: HeldConnection[],
  metrics: Metrics,
  activity: Activity,
  monotonic: Monotonic,
): UsageRecorder {
  const lanes = connections.map(
    (connection) =>
      new Batcher<PendingUsage, Recorded>(
        async (pending) => {
          metrics.batch.observe({ path: 'record' }, pending.length)
          activity.count('records', pending)
          const settled = await connection.use((db) => recordBatch(apps, db, pending))
          noteOne(activity, pending[0], settled[0])
          return settled
        },
        { monotonic, lanes: 1, most: MOST, expired },
      ),
  )
  return {
    add: (pending) => at(lanes, hash(pending.event.userId) % lanes.length).add(pending),
    get waiting() {
      return lanes.reduce((sum, lane) => sum + lane.waiting, 0)
    },
    oldestSeconds: () => Math.max(...lanes.map((lane) => lane.oldestSeconds())),
  }
}

/** Whoever asked has been told that there is no answer: to record it now would be a surprise. */
const expired = ({ caller }: { caller: WaitingCaller }, now: number): boolean =>
  caller.deadline?.passedBy(now) ?? false

function noteOne(activity: Activity, pending?: PendingUsage, settled?: Settled<Recorded>): void {
  if (!pending || !settled || 'error' in settled || settled.value === 'claimed') return
  const { consumption } = settled.value
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
