import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishEvents } from '../../src/operations/events/publish-events.ts'
import type { Pool } from '../../src/store/connection/database.ts'
import { createDatabase, type TestDatabase } from '../harness/database.ts'
import { openTestPool } from '../harness/store.ts'
import { DAY, expectedDue, furnishDue, publishedDue, START, setClock } from './due-moments.ts'

// A clock walks over every due moment while two publishers work, each of which is interrupted before half of its commits.

const USERS = Number(process.env.TOLLGATE_DUE_USERS ?? 12)
const HOUR = 3_600_000

let database: TestDatabase
let pools: Pool[]
beforeAll(async () => {
  database = await createDatabase()
  pools = [await openTestPool(database.url), await openTestPool(database.url)]
})
afterAll(async () => {
  for (const pool of pools ?? []) await pool.end()
  await database?.drop()
})

/** Publishes until nothing is left, though every second attempt is interrupted. Returns how many were. */
async function publishAll(pool: Pool): Promise<number> {
  let [attempts, interrupted] = [0, 0]
  const onPublished = async () => {
    if (++attempts % 2 === 0) return
    interrupted++
    throw new Error('interrupted')
  }
  for (;;) {
    try {
      const done = await publishEvents(pool, { onPublished, most: 1 + Math.floor(Math.random() * 40) })
      if (done?.rows === 0) return interrupted
    } catch (error) {
      if ((error as Error).message !== 'interrupted') throw error
    }
  }
}

describe('gap: events that only time brings', () => {
  it('are there once each, at the moment they became true, whoever publishes and is interrupted', async () => {
    const [one, two] = pools as [Pool, Pool]
    await furnishDue(one, USERS)
    await publishAll(one)
    expect(await publishedDue(one)).toEqual([])

    let interrupted = 0
    for (let now = START; now < START + 14 * DAY; now += 7 * HOUR) {
      await setClock(one, now)
      for (const count of await Promise.all([publishAll(one), publishAll(two)])) interrupted += count
    }
    expect(interrupted).toBeGreaterThan(USERS)

    expect(await publishedDue(one)).toEqual(expectedDue(USERS).until(Number.POSITIVE_INFINITY))
  }, 120_000)
})
