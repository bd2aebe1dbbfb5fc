import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { monotonic } from '../../../test/harness/clocks.ts'
import { Batcher, type BatchResult } from './batcher.ts'

// Invariants: each call is answered exactly once, with its own result; calls are sent in order of arrival; no batch is
// larger than `most`, and at most `lanes` are running.

type Run = (items: number[]) => Promise<BatchResult<string>[]>

const answered = (items: number[]): BatchResult<string>[] =>
  items.map((item) => ({ value: `answer to ${item}` }))

/** Batches that run until the test ends them. */
function heldBatches(options: { lanes: number; most: number; expired?: (item: number) => boolean }) {
  const held: {
    items: number[]
    end: (results?: BatchResult<string>[]) => void
    fail: (error: Error) => void
  }[] = []
  const run: Run = (items) =>
    new Promise((resolve, reject) => {
      held.push({ items, end: (results = answered(items)) => resolve(results), fail: reject })
    })
  return {
    held,
    batcher: new Batcher(run, { monotonic, ...options }),
    sent: () => held.map(({ items }) => items),
    batch(number: number) {
      const batch = held[number]
      if (!batch) throw new Error(`batch ${number} was not sent`)
      return batch
    },
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

afterEach(() => {
  vi.useRealTimers()
})

describe('a batcher', () => {
  it('does not send what nobody waits for any more', async () => {
    const late = new Set<number>()
    const { batcher, batch, sent } = heldBatches({ lanes: 1, most: 8, expired: (item) => late.has(item) })
    const first = batcher.add(0)
    await turn()
    const [second, third] = [batcher.add(1), batcher.add(2)]
    const refused = expect(second).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 1 })
    late.add(1)
    batch(0).end()
    expect(await first).toBe('answer to 0')
    await refused
    expect(sent()).toEqual([[0], [2]])
    batch(1).end()
    expect(await third).toBe('answer to 2')
  })

  it('tells how long the oldest call has been waiting, sent or not', async () => {
    const { batcher, batch } = heldBatches({ lanes: 1, most: 8 })
    expect(batcher.oldestSeconds()).toBe(0)
    const first = batcher.add(0)
    await turn()
    void batcher.add(1)
    expect(batcher.waiting).toBe(1)
    expect(batcher.oldestSeconds()).toBeGreaterThan(0)
    batch(0).end()
    await first
    batch(1).end()
    await turn()
    expect(batcher.oldestSeconds()).toBe(0)
  })

  it('sends a lone call without waiting for a timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
    const batcher = new Batcher<number, string>(async (items) => answered(items), {
      monotonic,
      lanes: 2,
      most: 8,
    })
    expect(await batcher.add(7)).toBe('answer to 7')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('sends the calls of one turn of the event loop together', async () => {
    const { batcher, sent } = heldBatches({ lanes: 1, most: 8 })
    for (const item of [1, 2, 3]) void batcher.add(item)
    expect(sent()).toEqual([])
    await turn()
    expect(sent()).toEqual([[1, 2, 3]])
  })

  it('lets all calls that arrive while a batch is under way share the next one', async () => {
    const { batcher, batch, sent } = heldBatches({ lanes: 1, most: 8 })
    const first = batcher.add(0)
    await turn()
    const later: Promise<string>[] = []
    for (const item of [1, 2, 3, 4]) {
      later.push(batcher.add(item))
      await turn()
    }
    expect(sent()).toEqual([[0]])
    batch(0).end()
    expect(await first).toBe('answer to 0')
    await turn()
    expect(sent()).toEqual([[0], [1, 2, 3, 4]])
    batch(1).end()
    expect(await Promise.all(later)).toEqual([1, 2, 3, 4].map((item) => `answer to ${item}`))
  })

  const SPLITS = [
    { lanes: 1, most: 8, calls: 8, sent: [8] },
    { lanes: 1, most: 8, calls: 9, sent: [8] },
    { lanes: 2, most: 8, calls: 1, sent: [1] },
    { lanes: 2, most: 8, calls: 2, sent: [1, 1] },
    { lanes: 2, most: 8, calls: 9, sent: [5, 4] },
    { lanes: 2, most: 8, calls: 100, sent: [8, 8] },
    { lanes: 3, most: 8, calls: 10, sent: [4, 3, 3] },
  ]
  it.each(SPLITS)('splits $calls calls among $lanes lanes, at most $most each, as $sent', async ({
    lanes,
    most,
    calls,
    sent,
  }) => {
    const { batcher, held } = heldBatches({ lanes, most })
    for (const item of range(0, calls)) void batcher.add(item)
    await turn()
    expect(held.map(({ items }) => items.length)).toEqual(sent)
    expect(held.flatMap(({ items }) => items)).toEqual(
      range(
        0,
        sent.reduce((sum, size) => sum + size, 0),
      ),
    )
  })

  it('gives the next calls to whichever lane is free', async () => {
    const { batcher, batch, sent } = heldBatches({ lanes: 2, most: 8 })
    for (const item of [0, 1]) void batcher.add(item)
    await turn()
    void batcher.add(2)
    batch(1).end()
    await turn()
    await turn()
    expect(sent()).toEqual([[0], [1], [2]])
  })

  it('sends the next batch before it answers the last one', async () => {
    const events: string[] = []
    const { batcher, batch, held } = heldBatches({ lanes: 1, most: 8 })
    const first = batcher.add(1).then(() => events.push(`answered, with ${held.length} batches sent`))
    await turn()
    void batcher.add(2)
    batch(0).end()
    await first
    expect(events).toEqual(['answered, with 2 batches sent'])
  })

  it('gives each batch a lane, and no lane two at once', async () => {
    const busy = new Set<number>()
    const batcher = new Batcher<number, string>(
      async (items, lane) => {
        expect(busy.has(lane)).toBe(false)
        busy.add(lane)
        await turn()
        busy.delete(lane)
        return answered(items)
      },
      { monotonic, lanes: 3, most: 2 },
    )
    const calls = range(0, 40)
    expect(await Promise.all(calls.map((item) => batcher.add(item)))).toEqual(
      calls.map((item) => `answer to ${item}`),
    )
  })

  it('fails one item alone', async () => {
    const { batcher, batch } = heldBatches({ lanes: 1, most: 8 })
    const calls = [1, 2, 3].map((item) => batcher.add(item))
    await turn()
    batch(0).end([{ value: 'a' }, { error: new Error('no') }, { value: 'c' }])
    expect(await Promise.allSettled(calls)).toMatchObject([
      { value: 'a' },
      { reason: { message: 'no' } },
      { value: 'c' },
    ])
  })

  it('fails an item that its batch leaves without an answer', async () => {
    const { batcher, batch } = heldBatches({ lanes: 1, most: 8 })
    const calls = [1, 2].map((item) => batcher.add(item))
    await turn()
    batch(0).end([{ value: 'a' }])
    expect(await Promise.allSettled(calls)).toMatchObject([
      { value: 'a' },
      { reason: { message: 'a call of a batch has no result' } },
    ])
  })

  it('fails the calls of a batch that fails, and continues with the next', async () => {
    const { batcher, batch } = heldBatches({ lanes: 1, most: 2 })
    const calls = [1, 2, 3].map((item) => batcher.add(item))
    const settled = Promise.allSettled(calls)
    await turn()
    batch(0).fail(new Error('the connection broke'))
    await turn()
    await turn()
    batch(1).end()
    expect(await settled).toMatchObject([
      { reason: { message: 'the connection broke' } },
      { reason: { message: 'the connection broke' } },
      { value: 'answer to 3' },
    ])
  })

  it('survives a run that throws before it returns a promise', async () => {
    const run = vi
      .fn<Run>(async (items) => answered(items))
      .mockImplementationOnce(() => {
        throw new Error('at once')
      })
    const batcher = new Batcher(run, { monotonic, lanes: 1, most: 8 })
    await expect(batcher.add(1)).rejects.toThrow('at once')
    expect(await batcher.add(2)).toBe('answer to 2')
  })

  it('answers each call once with its own result, whenever calls arrive and batches end', async () => {
    const arrival = fc.record({ turnsBefore: fc.nat(3), fails: fc.boolean() })
    const batchFate = fc.record({ turns: fc.nat(4), breaks: fc.integer({ min: 0, max: 9 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(arrival, { maxLength: 40 }),
        fc.infiniteStream(batchFate),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 6 }),
        async (arrivals, fates, lanes, most) => {
          const expected = new Map<number, string>()
          const sent: number[] = []
          let underWay = 0
          const batcher = new Batcher<number, string>(
            async (items) => {
              expect(++underWay).toBeLessThanOrEqual(lanes)
              expect(items.length).toBeLessThanOrEqual(most)
              const { turns, breaks } = fates.next().value
              sent.push(...items)
              for (const item of items) {
                expected.set(item, breaks === 0 ? 'broken' : arrivals[item]?.fails ? `no ${item}` : `${item}`)
              }
              for (let i = 0; i < turns; i++) await turn()
              underWay--
              if (breaks === 0) throw new Error('broken')
              return items.map((item) =>
                arrivals[item]?.fails ? { error: new Error(`no ${item}`) } : { value: `${item}` },
              )
            },
            { monotonic, lanes, most },
          )
          const calls: Promise<string>[] = []
          for (const [item, { turnsBefore }] of arrivals.entries()) {
            for (let i = 0; i < turnsBefore; i++) await turn()
            calls.push(batcher.add(item).catch((error: Error) => error.message))
          }
          expect(await Promise.all(calls)).toEqual(arrivals.map((_, item) => expected.get(item)))
          expect(sent).toEqual(range(0, arrivals.length))
        },
      ),
      { numRuns: 200 },
    )
  })
})
