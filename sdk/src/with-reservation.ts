import { checkArguments, checkOptions, refused } from './arguments.ts'
import type { WithReservationArguments } from './call-arguments.ts'
import type { Calls } from './calls.ts'
import { LiveReservation, retryFor } from './live-reservation.ts'
import type { CallOptions } from './options.ts'
import { failed } from './reply.ts'
import type { Reservation, ReservedWork, Result } from './types.ts'

const DEFAULT_TTL_SECONDS = 300
const DEFAULT_RETRY_MS = 30_000

interface Client {
  calls: Calls
  /** The user's sources may have changed. */
  changed(userId: string): void
}

/** Reserves, works and settles. Rejects only with what `work` itself threw. */
export async function withReservation<T>(
  { calls, changed }: Client,
  args: WithReservationArguments,
  work: (reservation: LiveReservation) => T | Promise<T>,
  options: CallOptions = {},
): Promise<Result<ReservedWork<T>>> {
  const refusal = await calls.refusalBy(() => check(args, work, options))
  if (refusal) return refusal
  const { ifOver = 'RECORD', retryFor: retryMs = DEFAULT_RETRY_MS, ...asked } = args
  // Its own id: the reservation can be released even if the answer is lost.
  const input = { ...asked, id: asked.id ?? `rsv_${crypto.randomUUID()}` }
  const { id, userId } = input
  const { timeout } = options
  const request = () => ({ timeout, retry: options.retry ?? retryFor(retryMs) })

  const made = await calls.call<Reservation>(
    'reserveUsage',
    { input },
    { ...request(), signal: options.signal },
  )
  changed(userId)
  if (made.error) {
    // The request may arrive all the same. If this does not, the reservation expires.
    if (made.error.code === 'ABORTED') void calls.send('releaseReservation', { id }, { inBackground: true })
    return made
  }
  const reserved = made.data
  if (reserved.state !== 'HELD' || reserved.reserved === 0)
    return {
      data: { reserved: false, used: 0, reason: whyNot(reserved), reservation: reserved },
      error: null,
    }

  const live = new LiveReservation(
    {
      calls,
      changed: () => changed(userId),
      slice: input.amount,
      ttlSeconds: input.ttlSeconds ?? DEFAULT_TTL_SECONDS,
      retryFor: retryMs,
      options,
    },
    reserved,
  )
  const outcome = await outcomeOf(async () => work(live))
  live.end()
  const amount = live.used
  // Without the caller's signal: what was used is recorded in any case.
  const settled =
    'thrown' in outcome && amount === 0
      ? await calls.call<Reservation>('releaseReservation', { id }, request())
      : await calls.call<Reservation>('settleReservation', { id, amount, final: true, ifOver }, request())
  changed(userId)
  if ('thrown' in outcome) {
    if (live.isOwn(outcome.thrown)) return failed(outcome.thrown)
    throw outcome.thrown
  }
  if (settled.error) return settled
  const { reason } = settled.data
  return {
    data: { reserved: true, value: outcome.value, used: amount, reason, reservation: settled.data },
    error: null,
  }
}

async function outcomeOf<T>(work: () => Promise<T>): Promise<{ value: T } | { thrown: unknown }> {
  try {
    return { value: await work() }
  } catch (thrown) {
    return { thrown }
  }
}

const whyNot = ({ id, state, reserved, reason }: Reservation): string =>
  (reserved === 0 ? reason : null) ?? `The reservation ${JSON.stringify(id)} is ${state}`

function check(args: WithReservationArguments, work: unknown, options: CallOptions): void {
  checkArguments('reserveUsage', { input: args })
  checkOptions(options)
  if (typeof work !== 'function') throw refused('work', 'work must be a function', work)
  const { ifOver, retryFor: retryMs, amount } = args
  if (amount < 1) throw refused('amount', 'amount must be at least 1', amount)
  if (ifOver !== undefined && ifOver !== 'RECORD' && ifOver !== 'CAP')
    throw refused('ifOver', "ifOver must be 'RECORD' or 'CAP'", ifOver)
  if (retryMs !== undefined && !(typeof retryMs === 'number' && retryMs >= 0))
    throw refused('retryFor', 'retryFor must be a non-negative number of milliseconds', retryMs)
}
