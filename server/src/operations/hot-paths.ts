import type { AppCache } from '../store/app-cache.ts'
import type { Pool } from '../store/database.ts'
import { Batcher } from './batcher.ts'
import type { Metrics } from './metrics.ts'
import { type PendingUsage, type Recorded, recordBatch } from './record-batch.ts'
import { type FoundStanding, readStandings, type StandingQuestion } from './standings.ts'

/** Two connections for each, so that one is under way while the answers of the other go out. */
export const LANES = 2
const MOST = 128

export type StandingReader = Batcher<StandingQuestion, FoundStanding>

export function standingReader(apps: AppCache, pool: Pool, metrics: Metrics): StandingReader {
  return new Batcher(
    (questions) => {
      metrics.batch.observe({ path: 'check' }, questions.length)
      return readStandings(apps, pool, questions)
    },
    { lanes: LANES, most: MOST },
  )
}

export interface UsageRecorder {
  add(pending: PendingUsage): Promise<Recorded>
}

/** All events of one user go down one lane, so that the lanes never move the same counter. */
export function usageRecorder(apps: AppCache, pool: Pool, metrics: Metrics): UsageRecorder {
  const run = (pending: PendingUsage[]) => {
    metrics.batch.observe({ path: 'record' }, pending.length)
    return recordBatch(apps, pool, pending)
  }
  const lanes = Array.from(
    { length: LANES },
    () => new Batcher<PendingUsage, Recorded>(run, { lanes: 1, most: MOST }),
  )
  return {
    add: (pending) => (lanes[laneOf(pending.event.userId)] as (typeof lanes)[number]).add(pending),
  }
}

function laneOf(userId: string): number {
  let hash = 0
  for (let i = 0; i < userId.length; i++) hash = (hash * 31 + userId.charCodeAt(i)) | 0
  return (hash >>> 0) % LANES
}
