import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { addCells, evenly, moveBuckets } from '../../server/src/operations/upkeep/cells.ts'
import { bucketOf } from '../../server/src/store/cells.ts'
import { openPool, type Pool } from '../../server/src/store/database.ts'
import { readBuckets } from '../../server/src/store/move-users.ts'
import type { Trial } from '../trial.ts'

export const CELLS = 4

const quiet = () => {}

async function onPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(
    { connectionString: url },
    { max: 2, statementMs: Number.POSITIVE_INFINITY },
    pino({ level: 'silent' }),
  )
  return await work(pool).finally(() => pool.end())
}

/** Spreads the users of a database over several cells, as `npm run cells -- add` does. */
export const spreadOverCells = (url: string): Promise<void> =>
  onPool(url, async (pool) => {
    await addCells(pool, CELLS - 1, quiet)
    const moves = evenly(await readBuckets(pool), CELLS)
    await moveBuckets(pool, moves, {
      stopping: new AbortController().signal,
      progress: quiet,
      waiting: quiet,
    })
  })

/** Moves these users of the app `default` from cell to cell until it is stopped, whatever happens to the database. */
export function keepMoving(
  trial: Trial,
  database: () => Promise<string>,
  users: readonly string[],
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const moving = (async () => {
    while (!signal.aborted) {
      const bucket = bucketOf('default', trial.random.pick(users))
      const to = trial.random.int(0, CELLS - 1)
      try {
        await onPool(await database(), async (pool) => {
          await moveBuckets(pool, [{ bucket, to }], { stopping: signal, progress: quiet, waiting: quiet })
        })
        trial.count('moves between cells')
      } catch {
        // PostgreSQL was killed: what was being moved is in one cell or in the other.
        trial.count('moves cut short')
        await sleep(100)
      }
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await moving
    },
  }
}
