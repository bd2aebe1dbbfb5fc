import { describe, expect, it } from 'vitest'
import { startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import type { Recorded, Result } from '../src/node.ts'
import { CALL, sdkApp } from './support/app.ts'
import { FaultyProxy } from './support/faulty-proxy.ts'

const server = shared(startTestServer)
const proxy = shared(() => FaultyProxy.before(server.url))

/** `npm run proof -- --only cut-replies` has 100,000. */
const CALLS = 2_000
const AT_ONCE = 32

describe('spec §8.1: retries through a network that loses replies', () => {
  it('2,000 records with 5% of the replies cut: each is counted once and answered once', async () => {
    const app = await sdkApp(server)
    // Both ways in which a reply can break, by turns, one in twenty.
    const random = generator(20261115)
    proxy.fate = () => (random() < 0.05 ? (random() < 0.5 ? 'cut' : 'half') : 'pass')
    const tollgate = app.tollgate({ baseUrl: proxy.url })

    const answers = new Array<Result<Recorded>>(CALLS)
    let next = 0
    const work = async () => {
      for (let i = next++; i < CALLS; i = next++) {
        answers[i] = await tollgate.recordUsage(CALL, { idempotencyKey: `call ${i}` })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect(proxy.lost).toBeGreaterThan(CALLS * 0.04)
    expect(await app.ledger()).toEqual({ records: CALLS, sum: CALLS })

    // One in 8,000 loses all three replies. It is told so, and may ask again under its key.
    proxy.fate = () => 'pass'
    for (const [i, answer] of answers.entries()) {
      if (answer.error?.name !== 'NetworkError') continue
      answers[i] = await tollgate.recordUsage(CALL, { idempotencyKey: `call ${i}` })
    }
    expect(answers.filter(({ data }) => !data?.recorded)).toEqual([])
    // Each was told the count that it made: no two the same, none left out.
    const counts = answers.map(({ data }) => data?.consumption?.used ?? 0)
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: CALLS }, (_, i) => i + 1))
    expect(await app.ledger()).toEqual({ records: CALLS, sum: CALLS })
  })
})

/** Numbers between 0 and 1, the same in every run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
