import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { addCells, evenly, moveBuckets } from '../../server/src/operations/upkeep/cells.ts'
import { distribute, moveToWorker } from '../../server/src/operations/upkeep/remote-cells.ts'
import { bucketOf } from '../../server/src/store/cells/cells.ts'
import { readBuckets } from '../../server/src/store/cells/move-users.ts'
import { openPool, type Pool } from '../../server/src/store/connection/database.ts'
import type { Trial } from '../trial.ts'

export const CELLS = 4

const quiet = () => {}

export async function onPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(
    { connectionString: url },
    { max: 2, statementMs: Number.POSITIVE_INFINITY },
    pino({ level: 'silent' }),
  )
  return await work(pool).finally(() => pool.end())
}

/**
 * Spreads the users of a database over several cells, as `npm run cells -- add` does; some of the cells are put on other
 * servers first, each on the one that is named.
 */
export const spreadOverCells = (
  url: string,
  elsewhere: ReadonlyMap<number, string> = new Map(),
): Promise<void> =>
  onPool(url, async (pool) => {
    await addCells(pool, CELLS - 1, quiet)
    for (const [cell, worker] of elsewhere) {
      await distribute(pool, cell, quiet)
      await moveToWorker(pool, cell, worker)
    }
    const moves = evenly(await readBuckets(pool), CELLS)
    await moveBuckets(pool, moves, {
      stopping: new AbortController().signal,
      progress: quiet,
      waiting: quiet,
    })
  })

interface Moving {
  stop(): Promise<void>
}

/** Moves these users of the app `default` from cell to cell until it is stopped, whatever happens to the database. */
export const keepMoving = (trial: Trial, database: () => Promise<string>, users: readonly string[]): Moving =>
  keepDoing(async (stopping) => {
    const bucket = bucketOf('default', trial.random.pick(users))
    const to = trial.random.int(0, CELLS - 1)
    try {
      await onPool(await database(), async (pool) => {
        await moveBuckets(pool, [{ bucket, to }], { stopping, progress: quiet, waiting: quiet })
      })
      trial.count('moves between cells')
    } catch {
      // PostgreSQL was killed: what was being moved is in one cell or in the other.
      trial.count('interrupted moves')
      await sleep(100)
    }
  })

/** Takes each of these cells from one of the servers to another now and then, until it is stopped. */
export const keepMovingCells = (
  trial: Trial,
  database: () => Promise<string>,
  cells: readonly number[],
  workers: readonly string[],
): Moving =>
  keepDoing(async (stopping) => {
    const [cell, to] = [trial.random.pick(cells), trial.random.pick(workers)]
    try {
      await onPool(await database(), (pool) => moveToWorker(pool, cell, to))
      trial.count('moves between servers')
    } catch {
      // Citus undoes it, or does so once the server is back.
      trial.count('interrupted moves between servers')
    }
    await sleep(trial.random.int(500, 3_000), undefined, { signal: stopping }).catch(() => {})
  })

/** Does the same again and again until it is stopped. */
export function keepDoing(work: (stopping: AbortSignal) => Promise<void>): Moving {
  const stopping = new AbortController()
  const { signal } = stopping
  const moving = (async () => {
    while (!signal.aborted) await work(signal)
  })()
  return {
    async stop() {
      stopping.abort()
      await moving
    },
  }
}
