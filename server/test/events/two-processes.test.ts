import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Pool } from '../../src/store/connection/database.ts'
import { createDatabase } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { spawnServer } from '../harness/server.ts'
import { openServers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'
import { openTestPool } from '../harness/store.ts'
import { checkCommitOrder, WRITERS } from './commit-order.ts'
import { expectedDue, furnishDue, publishedDue, START, setClock } from './due-moments.ts'
import { eventsPublished } from './published.ts'

// Two processes publish the events of one database, and both answer those who read them.

/** Transactions that are open at the same time. Other tests need connections too; alone on a server, all writers can have one. */
const OPEN = Number(process.env.TOLLGATE_EVENT_OPEN ?? 24)

const ROUNDS = Number(process.env.TOLLGATE_EVENT_ROUNDS ?? 4)

describe('gap: events, the order of commits across two processes', () => {
  const servers = shared(() => openServers(2))

  it(
    `is kept for ${WRITERS} writers and three readers: none skipped, none out of order`,
    () =>
      checkCommitOrder(servers.database.url, [servers.admin(0), servers.admin(1)], {
        open: OPEN,
        rounds: ROUNDS,
      }),
    120_000,
  )
})

/** Waits until no moment that was reached is left on the timetable. */
const momentsReached = (pool: Pool) =>
  vi.waitFor(
    async () => {
      const { rowCount } = await pool.query(
        'select from event_due d join app a on a.id = d.app_id where d.due_at <= a.test_clock limit 1',
      )
      expect(rowCount).toBe(0)
    },
    { timeout: PATIENCE_MS, interval: 20 },
  )

describe('gap: events that only time brings, on two processes that are killed', () => {
  const USERS = Number(process.env.TOLLGATE_DUE_USERS ?? 10)
  const KILLS = Number(process.env.TOLLGATE_DUE_KILLS ?? 12)

  it('are there once each at every due moment, and none before its moment', async () => {
    const database = await createDatabase()
    const pool = await openTestPool(database.url)
    const start = () => spawnServer({ DATABASE_URL: database.url, TOLLGATE_LOG_LEVEL: 'fatal' })
    const processes = [await start(), await start()]
    try {
      await furnishDue(pool, USERS)
      const { moments, until } = expectedDue(USERS)
      expect(await publishedDue(pool)).toEqual([])
      let kills = 0
      for (const [i, moment] of [START, ...moments].entries()) {
        await setClock(pool, moment)
        if (kills < ((i + 1) * KILLS) / moments.length) {
          // While the moment is noticed and published, by whichever of them. At times none is left, and the start is late.
          await delay(Math.random() * 250)
          const victims = kills % 5 === 4 ? [0, 1] : [kills % 2]
          await Promise.all(victims.map((n) => processes[n]?.kill('SIGKILL')))
          for (const n of victims) processes[n] = await start()
          kills++
        }
        await momentsReached(pool)
        await eventsPublished(database.url)
        expect(await publishedDue(pool), `after ${i} moments`).toEqual(until(moment))
      }
      expect(kills).toBeGreaterThanOrEqual(KILLS)
    } finally {
      for (const process of processes) await process.kill('SIGKILL')
      await pool.end()
      await database.drop()
    }
  }, 600_000)
})
