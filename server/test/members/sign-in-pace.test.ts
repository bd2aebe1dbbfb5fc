import { describe, expect, it } from 'vitest'
import { takeTry } from '../../src/store/members/sign-in-pace.ts'
import { shared } from '../harness/shared.ts'
import { openStore } from '../harness/store.ts'

const MINUTE = 60_000
const NOW = Date.UTC(2026, 5, 1)
const PACE = { tries: 3, everyMs: MINUTE }

const store = shared(openStore)

const tries = async (source: string, now: number, count: number): Promise<number[]> => {
  const waits: number[] = []
  for (let i = 0; i < count; i++) waits.push(await takeTry(store.pool, Buffer.from(source), now, PACE))
  return waits
}

describe('the pace of sign-ins', () => {
  it('allows some at once and then one at a time', async () => {
    expect(await tries('one', NOW, 4)).toEqual([0, 0, 0, MINUTE])
    expect(await tries('one', NOW + MINUTE - 1, 1)).toEqual([1])
    expect(await tries('one', NOW + MINUTE, 2)).toEqual([0, MINUTE])
    expect(await tries('another', NOW, 1)).toEqual([0])
  })

  it('counts tries at a node whose clock is ten minutes ahead', async () => {
    await tries('ahead', NOW + 10 * MINUTE, 3)
    expect(await tries('ahead', NOW, 1)).toEqual([11 * MINUTE])
  })

  it('locks nobody out for longer than that when the clock is set back', async () => {
    await tries('set back', NOW + 10 * MINUTE + 1, 3)
    expect(await tries('set back', NOW, 4)).toEqual([0, 0, 0, MINUTE])
  })
})
