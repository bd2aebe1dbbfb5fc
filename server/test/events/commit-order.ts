import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Pool } from '../../src/store/connection/database.ts'
import { emit } from '../../src/store/events/outbox.ts'
import type { Client, Data } from '../harness/client.ts'
import { openTestPool } from '../harness/store.ts'
import { readEvents } from './read-events.ts'

// Writers hold their transactions open for a random time, so numbers given when a row is written are not in the order of
// the commits. Readers follow by their cursors, at two services that both publish.

export const WRITERS = 64

interface Written {
  name: string
  begunAt: number
  committedAt: number
}

async function writer(pool: Pool, number: number, rounds: number, written: Written[]): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await delay(Math.random() * 30)
    const tx = await pool.connect()
    const name = `${number}-${round}`
    const begunAt = performance.now()
    await tx.query('begin')
    const event = (part: string) => ({
      appId: 'default',
      type: 'usage.recorded' as const,
      at: 0,
      userUid: number,
      userId: null,
      object: { name, part },
    })
    await emit(tx, [event('a')])
    await delay(Math.random() * 120)
    await emit(tx, [event('b')])
    await tx.query('commit')
    written.push({ name, begunAt, committedAt: performance.now() })
    tx.release()
  }
}

/** Follows the log in pages of a random size until it has read so many events. */
async function reader(admins: readonly Client[], count: number): Promise<Data[]> {
  const read: Data[] = []
  let after: string | null = null
  for (let turn = 0; read.length < count; turn++) {
    const page: { nodes: Data[]; next: string } = await readEvents(admins[turn % admins.length] as Client, {
      after,
      types: ['usage.recorded'],
      first: 1 + Math.floor(Math.random() * 20),
    })
    read.push(...page.nodes)
    after = page.next
    if (page.nodes.length === 0) await delay(Math.random() * 40)
  }
  return read
}

/**
 * None of the events is skipped by a reader, and none is before one that was committed earlier. `open` transactions are open
 * at the same time, and each writer has `rounds` of them.
 */
export async function checkCommitOrder(
  databaseUrl: string,
  [one, two]: readonly [Client, Client],
  { open, rounds }: { open: number; rounds: number },
): Promise<void> {
  const pool = await openTestPool(databaseUrl, { max: open })
  const written: Written[] = []
  const count = WRITERS * rounds * 2
  const readers = [reader([one], count), reader([two], count), reader([one, two], count)]
  const writers = Array.from({ length: WRITERS }, (_, i) => writer(pool, i + 1, rounds, written))
  const [[first = [], second, third]] = await Promise.all([Promise.all(readers), ...writers])
  await pool.end()

  const names = first.map(({ data }) => `${data.object.name} ${data.object.part}`)
  expect(new Set(names).size).toBe(count)
  expect(second).toEqual(first)
  expect(third).toEqual(first)
  const sequences = first.map(({ sequence }) => sequence)
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b))
  // What was committed before another transaction began has the lower positions; the rows of one are in their order.
  const place = new Map(names.map((name, i) => [name, i]))
  const at = (name: string, part: string) => place.get(`${name} ${part}`) ?? -1
  let compared = 0
  for (const earlier of written) {
    expect(at(earlier.name, 'a')).toBeLessThan(at(earlier.name, 'b'))
    for (const later of written) {
      if (earlier.committedAt >= later.begunAt) continue
      compared++
      if (at(earlier.name, 'b') > at(later.name, 'a')) expect.fail(`${later.name} is before ${earlier.name}`)
    }
  }
  expect(compared).toBeGreaterThan(WRITERS)
}
