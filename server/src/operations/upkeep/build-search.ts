import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Pool } from '../../store/database.ts'
import {
  buildIndex,
  dropIndex,
  SEARCH_INDEXES,
  type SearchIndex,
  stateOfIndex,
} from '../../store/search-indexes.ts'

const RETRY_MS = 30_000

const BEGINNINGS = 'users can only be found by the beginning of an id, email or billing id'
const MEANWHILE: Record<SearchIndex, string> = {
  users_by_name: BEGINNINGS,
  users_by_part: BEGINNINGS,
  users_with_overrides: 'the page of a feature does not list its overrides',
}

/** Builds those indexes of users that are missing, until `stopping`. The pool has no statement timeout. */
export async function buildSearch(
  pool: Pool,
  log: Logger,
  stopping: AbortSignal,
  retryMs = RETRY_MS,
): Promise<void> {
  for (const index of Object.keys(SEARCH_INDEXES) as SearchIndex[]) {
    while (!stopping.aborted && !(await isBuilt(pool, index, log, stopping))) {
      await delay(retryMs, undefined, { signal: stopping }).catch(() => {})
    }
  }
}

async function isBuilt(pool: Pool, index: SearchIndex, log: Logger, stopping: AbortSignal): Promise<boolean> {
  try {
    const state = await stateOfIndex(pool, index)
    if (state === 'ready') return true
    if (state === 'building') return false
    // What a build that was cut short left behind is no use to anybody, and every write pays for it.
    if (state === 'broken') await dropIndex(pool, index)
    log.info(`building the index ${index}; until it is complete, ${MEANWHILE[index]}`)
    await buildIndex(pool, index)
    log.info(`the index ${index} is complete`)
    return (await stateOfIndex(pool, index)) === 'ready'
  } catch (error) {
    if (!stopping.aborted) log.warn({ err: error }, `the index ${index} could not be built; retrying`)
    return false
  }
}
