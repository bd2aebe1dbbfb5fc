import { describe, expect, it, vi } from 'vitest'
import { type LiveReservation, NetworkError, Tollgate, type WithReservationArguments } from '../src/node.ts'
import { ReservingService } from './support/reserving-service.ts'

// Invariants: what was counted is settled once, whatever fails meanwhile; work counts nothing beyond the room there is, as
// long as it stops when it is told to; nothing stays reserved.

const ASK = { userId: 'ann', featureId: 'tokens' }

function using(room: number) {
  const service = new ReservingService(room)
  const errors: string[] = []
  const tollgate = new Tollgate({
    apiKey: 'k',
    fetch: service.fetch,
    onError: ({ code }) => errors.push(code),
  })
  const run = <T>(
    asked: Partial<WithReservationArguments>,
    work: (reservation: LiveReservation) => T | Promise<T>,
    signal?: AbortSignal,
  ) => tollgate.withReservation({ ...ASK, amount: 10, ...asked }, work, { signal })
  return { service, errors, run, tollgate }
}

/** Lets time pass as fast as the work does without it: pauses take none. */
async function hurried<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    let over = false
    const result = work().finally(() => {
      over = true
    })
    while (!over) await vi.advanceTimersByTimeAsync(10)
    return await result
  } finally {
    vi.useRealTimers()
  }
}

/** Uses one unit at a time, until there are so many or there is no room. */
const use = (most: number) => async (reservation: LiveReservation) => {
  while (reservation.used < most && (await reservation.add(1))) if (reservation.used > 1e6) break
  return 'done'
}

describe('withReservation', () => {
  it('reserves a slice, adds slices as units are counted, and settles what was used', async () => {
    const { service, run } = using(1_000)
    const { data, error } = await run({}, use(35))
    expect(error).toBeNull()
    expect(data).toMatchObject({ reserved: true, value: 'done', used: 35, reason: null })
    expect(data?.reservation).toMatchObject({ state: 'SETTLED', settled: 35 })
    expect(service.room).toBe(965)
    expect(service.asked.at(0)).toBe('reserveUsage 10')
    expect(service.asked.at(-1)).toBe('settleReservation 35')
    expect(service.asked.filter((one) => one === 'extendReservation 10').length).toBeGreaterThanOrEqual(3)
  })

  it('does not run the work without room', async () => {
    const { service, run } = using(9)
    const { data } = await run({}, () => expect.unreachable())
    expect(data).toMatchObject({ reserved: false, used: 0, reason: 'Limit reached' })
    expect(service.asked).toEqual(['reserveUsage 10'])
  })

  it.each([4, 10, 13, 37])('uses exactly %i units if there are no more', async (room) => {
    const { service, run } = using(room)
    const { data } = await run({ atLeast: 1 }, use(100))
    expect(data).toMatchObject({ reserved: true, used: room, reason: null })
    expect(service.room).toBe(0)
    // A slice of 10 is halved at most four times, in the background and once more in need.
    expect(service.seen.length).toBeLessThan(room / 5 + 12)
  })

  it('hold makes sure of several units before they are used', async () => {
    const { service, run } = using(100)
    const { data } = await run({}, async (reservation) => {
      let chunks = 0
      while (await reservation.hold(30)) {
        chunks++
        await reservation.add(30)
      }
      return chunks
    })
    expect(data).toMatchObject({ value: 3, used: 90 })
    expect(service.room).toBe(10)
  })

  it('settles what was counted when the work throws, and throws its error', async () => {
    const { service, run } = using(100)
    const failing = run({}, async (reservation) => {
      await reservation.add(7)
      throw new Error('disconnected')
    })
    await expect(failing).rejects.toThrow('disconnected')
    expect(service.asked).toContain('settleReservation 7')
    expect(service.room).toBe(93)
  })

  it('releases everything when the work throws before it counted anything', async () => {
    const { service, run } = using(100)
    await expect(run({}, () => Promise.reject(new Error('no model')))).rejects.toThrow('no model')
    expect(service.asked).toEqual(['reserveUsage 10', 'releaseReservation'])
    expect(service.room).toBe(100)
  })

  it('the service is away for a while: the work goes on, and everything is settled once', async () => {
    const { service, run } = using(1_000)
    const failures = new Map<string, number>()
    service.fate = ({ operation }) => {
      const failed = failures.get(operation) ?? 0
      failures.set(operation, failed + 1)
      return failed < 4 ? 'refused' : 'pass'
    }
    const { data, error } = await hurried(() => run({}, use(25)))
    expect(error).toBeNull()
    expect(data?.used).toBe(25)
    expect(service.room).toBe(975)
    expect(failures.get('reserveUsage')).toBe(5)
    expect(failures.get('settleReservation')).toBe(5)
  })

  it('answers are lost: nothing is reserved, added or settled twice', async () => {
    const { service, run } = using(1_000)
    const lost = new Set<string | null>()
    service.fate = ({ key }) => {
      if (lost.has(key)) return 'pass'
      lost.add(key)
      return 'lost'
    }
    let held = 0
    const { data } = await run({}, async (reservation) => {
      await use(25)(reservation)
      held = reservation.used + reservation.left
      expect([...service.reservations.values()]).toMatchObject([{ reserved: held }])
    })
    expect(held).toBeLessThanOrEqual(40)
    expect(data?.reservation).toMatchObject({ settled: 25 })
    expect(service.room).toBe(975)
    const settlements = service.seen.filter(({ operation }) => operation === 'settleReservation')
    expect(settlements).toHaveLength(2)
    expect(new Set(settlements.map(({ key }) => key)).size).toBe(1)
  })

  it('gives up when the service stays away: add throws, and so does the work', async () => {
    const { service, run, errors } = using(1_000)
    service.fate = ({ operation }) => (operation === 'reserveUsage' ? 'pass' : 'refused')
    let counted = 0
    const { data, error } = await run({ retryFor: 300 }, async (reservation) => {
      for (;;) {
        counted++
        await reservation.add(1)
      }
    })
    expect(data).toBeNull()
    expect(error).toBeInstanceOf(NetworkError)
    expect(counted).toBe(10)
    expect(service.asked.at(-1)).toBe('settleReservation 10')
    // The extension and the settlement; attempts in the background are not reported.
    expect(errors).toEqual(['NETWORK_ERROR', 'NETWORK_ERROR'])
  })

  it('an error of the settlement is returned', async () => {
    const { service, run } = using(1_000)
    const { data, error } = await run({}, async (reservation) => {
      await reservation.add(1)
      const held = service.reservations.get(reservation.id)
      if (held) held.state = 'RELEASED'
    })
    expect(data).toBeNull()
    expect(error?.code).toBe('CONFLICT')
  })

  it('an abort ends the work at its next unit, and what was counted is settled', async () => {
    const { service, run } = using(1_000)
    const abort = new AbortController()
    const { data, error } = await run(
      {},
      async (reservation) => {
        for (;;) {
          if (reservation.used === 6) abort.abort(new Error('closed'))
          await reservation.add(1)
        }
      },
      abort.signal,
    )
    expect(data).toBeNull()
    expect(error).toMatchObject({ code: 'ABORTED', cause: { message: 'closed' } })
    expect(service.asked.at(-1)).toBe('settleReservation 7')
    expect(service.room).toBe(993)
  })

  it('an abort before the answer releases what may have been reserved', async () => {
    const { service, run } = using(1_000)
    const abort = new AbortController()
    const released = new Promise<void>((resolve) => {
      service.answered = ({ operation }) => {
        if (operation === 'reserveUsage') abort.abort()
        else resolve()
      }
    })
    const { error } = await run({}, () => expect.unreachable(), abort.signal)
    expect(error?.code).toBe('ABORTED')
    await released
    expect(service.asked).toEqual(['reserveUsage 10', 'releaseReservation'])
    expect(service.room).toBe(1_000)
  })

  it('renews the expiry while the work runs, and again after a failure', async () => {
    const { service, run } = using(1_000)
    let renewals = 0
    const renewed = new Promise<void>((resolve) => {
      service.answered = ({ operation, variables }) => {
        if (operation !== 'extendReservation') return
        expect(variables).toMatchObject({ ttlSeconds: 1 })
        if (++renewals === 2) resolve()
      }
    })
    let attempts = 0
    service.fate = ({ operation }) =>
      operation === 'extendReservation' && ++attempts === 1 ? 'refused' : 'pass'
    await hurried(async () => {
      const { data } = await run({ ttlSeconds: 1 }, () => renewed)
      expect(data?.reserved).toBe(true)
      const count = service.seen.length
      await new Promise((resolve) => setTimeout(resolve, 700))
      expect(service.seen).toHaveLength(count)
    })
  })

  it('work that may run twice reserves once under its id, and is not repeated after its settlement', async () => {
    const { service, run } = using(100)
    expect((await run({ id: 'job-1' }, use(5))).data).toMatchObject({ used: 5 })
    const again = await run({ id: 'job-1' }, () => expect.unreachable())
    expect(again.data).toMatchObject({ reserved: false, reason: 'The reservation "job-1" is SETTLED' })
    expect(service.room).toBe(95)
  })

  it('units counted without waiting are settled too', async () => {
    const { service, run } = using(1_000)
    const { data } = await run({}, (reservation) => {
      for (let i = 0; i < 25; i++) void reservation.add(1)
    })
    expect(data).toMatchObject({ used: 25 })
    expect(service.asked).toContain('settleReservation 25')
  })

  it.each<[field: string, asked: object, work?: unknown]>([
    ['amount', { amount: 0 }],
    ['userId', { userId: undefined }],
    ['ifOver', { ifOver: 'REJECT' }],
    ['retryFor', { retryFor: -1 }],
    ['work', {}, 'not a function'],
  ])('rejects an invalid %s', async (field, asked, work = () => expect.unreachable()) => {
    const { service, run } = using(100)
    const { error } = await run(asked, work as () => void)
    expect(error).toMatchObject({ code: 'BAD_USER_INPUT', field })
    expect(service.seen).toEqual([])
  })

  it.each([-1, 1.5, Number.NaN])('rejects %d units, and settles what was counted before', async (units) => {
    const { service, run } = using(100)
    const { error } = await run({}, async (reservation) => {
      await reservation.add(2)
      await reservation.add(units)
    })
    expect(error).toMatchObject({ code: 'BAD_USER_INPUT', field: 'units' })
    expect(service.asked.at(-1)).toBe('settleReservation 2')
  })
})
