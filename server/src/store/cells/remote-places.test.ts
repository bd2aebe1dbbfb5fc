import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { CONNECTION_WAIT_MS } from '../../domain/limits.ts'
import { type Place, RemotePlaces, ServerBusy } from './remote-places.ts'

/** Why there is no place; null: there was one. */
function busy(places: RemotePlaces, tx: object, schema: string): ServerBusy | null {
  try {
    places.take(tx, schema)
    return null
  } catch (error) {
    if (error instanceof ServerBusy) return error
    throw error
  }
}

describe('places on other servers', () => {
  it('are half of the connections on one server, and two fewer than all of them on all servers', () => {
    const places = new RemotePlaces(8)
    const taken = (schema: string, wanted: number) =>
      Array.from({ length: wanted }, () => busy(places, {}, schema)).filter((refused) => refused === null)
    expect(taken('c1', 9)).toHaveLength(4)
    expect(taken('c2', 9)).toHaveLength(2)
    expect(taken('c3', 9)).toHaveLength(0)
  })

  it('belong to a transaction, which may be on several servers, until it ends', () => {
    const places = new RemotePlaces(2)
    const [one, other] = [{}, {}]
    expect([busy(places, one, 'c1'), busy(places, one, 'c1'), busy(places, one, 'c2')]).toEqual([
      null,
      null,
      null,
    ])
    expect(busy(places, other, 'c3')).toBeInstanceOf(ServerBusy)
    places.release(one)
    expect(busy(places, other, 'c3')).toBeNull()
  })

  it('count on each server that a transaction is on', () => {
    const places = new RemotePlaces(8)
    const txs = [{}, {}, {}, {}]
    for (const schema of ['c1', 'c2']) for (const tx of txs) expect(busy(places, tx, schema)).toBeNull()
    for (const schema of ['c1', 'c2']) expect(busy(places, {}, schema)).toBeInstanceOf(ServerBusy)
    expect(busy(places, {}, 'c3')).toBeNull()
  })

  it('are taken from the moment in which they are granted', async () => {
    vi.useFakeTimers()
    try {
      const places = new RemotePlaces(4)
      const holders = [{}, {}]
      for (const holder of holders) places.take(holder, 'c1')
      const granted: Place[] = []
      for (const schema of ['c1', 'c1', 'c2'])
        void busy(places, {}, schema)
          ?.waitForPlace()
          .then((place) => granted.push(place))
      places.release(holders[0] as object)
      await vi.advanceTimersByTimeAsync(0)
      expect(granted).toHaveLength(1)
      expect(busy(places, {}, 'c1')).toBeInstanceOf(ServerBusy)
      const tx = {}
      granted[0]?.giveTo(tx)
      expect(busy(places, {}, 'c1')).toBeInstanceOf(ServerBusy)
      places.release(tx)
      places.release(holders[1] as object)
      await vi.advanceTimersByTimeAsync(0)
      expect(granted).toHaveLength(3)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('need not be waited for if one has become free meanwhile', async () => {
    const places = new RemotePlaces(2)
    const holder = {}
    places.take(holder, 'c1')
    const refused = busy(places, {}, 'c1')
    places.release(holder)
    const place = await refused?.waitForPlace()
    expect(busy(places, {}, 'c1')).toBeInstanceOf(ServerBusy)
    place?.release()
    expect(busy(places, {}, 'c1')).toBeNull()
  })

  it('are given to those who wait, in their order, as they become free', async () => {
    const places = new RemotePlaces(2)
    const [first, ...others] = [{}, {}, {}]
    places.take(first as object, 'c1')
    const order: number[] = []
    const waits = others.map(async (tx, i) => {
      const place = (await busy(places, tx, 'c1')?.waitForPlace()) as Place
      place.giveTo(tx)
      expect(busy(places, tx, 'c1')).toBeNull()
      order.push(i)
      places.release(tx)
    })
    places.release(first as object)
    await Promise.all(waits)
    expect(order).toEqual([0, 1])
  })

  it('are waited for no longer than for a connection', async () => {
    vi.useFakeTimers()
    try {
      const places = new RemotePlaces(2)
      const holder = {}
      places.take(holder, 'c1')
      const waiting = expect(busy(places, {}, 'c1')?.waitForPlace()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      })
      await vi.advanceTimersByTimeAsync(CONNECTION_WAIT_MS)
      await waiting
      places.release(holder)
      expect(busy(places, {}, 'c1')).toBeNull()
    } finally {
      vi.useRealTimers()
    }
  })

  it('are all free again once everybody is gone, whatever happened', async () => {
    const steps = fc.array(
      fc.record({ tx: fc.nat(9), schema: fc.constantFrom('c1', 'c2', 'c3'), ends: fc.boolean() }),
    )
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 10 }), async (all, connections) => {
        const places = new RemotePlaces(connections)
        const txs = Array.from({ length: 10 }, () => ({}))
        const waits: Promise<void>[] = []
        for (const { tx, schema, ends } of all) {
          if (ends) places.release(txs[tx] as object)
          // Who is given a place gives it up, with or without a transaction.
          else
            waits.push(
              (async () => {
                const place = await busy(places, txs[tx] as object, schema)?.waitForPlace()
                place?.release()
              })(),
            )
        }
        for (const tx of txs) places.release(tx)
        await Promise.all(waits)
        for (const tx of txs) places.release(tx)
        const room = (of: RemotePlaces) =>
          Array.from({ length: connections + 1 }, () => busy(of, {}, 'c1')).filter((refused) => !refused)
            .length
        expect(room(places)).toBe(room(new RemotePlaces(connections)))
      }),
    )
  })
})
