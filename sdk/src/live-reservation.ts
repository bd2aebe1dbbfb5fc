import { refused } from './arguments.ts'
import type { Retry } from './back-off.ts'
import type { ExtendReservationArguments } from './call-arguments.ts'
import { type Calls, newKey } from './calls.ts'
import { aborted, type CallError, isOutage, TollgateError } from './errors.ts'
import type { CallOptions, MutationOptions } from './options.ts'
import type { Reservation, Result } from './types.ts'

/** Of the pauses before retries, in milliseconds; each doubles the one before. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000

/** Before the next attempt to renew a reservation, after one that failed. */
const RENEWAL_PAUSE_MS = 1_000

/** Retries while the service is unreachable or busy, with growing pauses, until `ms` have passed. */
export function retryFor(ms: number): Retry {
  const began = performance.now()
  return async (error, retry) => {
    if (!isPassing(error)) return false
    // These have a wait of their own.
    const isForLater = error.code === 'RATE_LIMITED' || error.code === 'UNAVAILABLE'
    const longest = isForLater ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (retry - 1), MAX_PAUSE_MS)
    const pause = (longest * (1 + Math.random())) / 2
    if (performance.now() - began + pause > ms) return false
    await new Promise((resolve) => setTimeout(resolve, pause))
    return true
  }
}

const isPassing = (error: CallError): boolean => isOutage(error) || error.code === 'RATE_LIMITED'

/** Calls of the client that a live reservation uses. */
export interface ReservationContext {
  calls: Calls
  /** The user's sources may have changed. */
  changed(): void
  /** Units to add at a time. */
  slice: number
  ttlSeconds: number
  /** Maximum milliseconds to retry a call for. */
  retryFor: number
  options: CallOptions
}

/**
 * A reservation while its work runs. It is extended as units are counted, and its expiry is postponed. `hold` and `add`
 * throw if the reservation cannot be extended because the service is unreachable or the call was aborted; what was
 * counted until then is settled all the same.
 */
export class LiveReservation {
  /** ID of the reservation. */
  readonly id: string
  readonly #context: ReservationContext
  readonly #ending = new AbortController()
  readonly #signal: AbortSignal
  /** those that `hold` and `add` threw */
  readonly #errors = new Set<unknown>()
  #used = 0
  #held: number
  /** units to add next: fewer while there is little room */
  #size: number
  /** An attempt without need found no room. */
  #dry = false
  /** the extension under way */
  #growing: Promise<unknown> | null = null
  /** one whose outcome is unknown, to be repeated with the same key */
  #unknown: { add: number; key: string } | null = null
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @internal Made by `withReservation`. */
  constructor(context: ReservationContext, { id, reserved }: Reservation) {
    const { signal } = context.options
    this.id = id
    this.#context = context
    this.#held = reserved
    this.#size = context.slice
    this.#signal = signal ? AbortSignal.any([signal, this.#ending.signal]) : this.#ending.signal
    this.#renewLater()
  }

  /** Units counted so far. */
  get used(): number {
    return this.#used
  }

  /** Units that are held and not yet used. */
  get left(): number {
    return Math.max(0, this.#held - this.#used)
  }

  /**
   * Makes sure that `units` more units are held, and extends the reservation if necessary. False if there is no room for
   * them.
   */
  hold(units = 1): Promise<boolean> {
    return this.#owned(async () => {
      checkUnits(units)
      return this.#hold(units)
    })
  }

  /**
   * Counts used units. Extends the reservation before it runs out, and resolves with false if no further unit is held and
   * there is no room for another.
   */
  add(units: number): Promise<boolean> {
    return this.#owned(async () => {
      checkUnits(units)
      this.#used += units
      if (this.left < this.#context.slice / 2 && !this.#growing && !this.#dry && !this.#signal.aborted)
        this.#growEarly()
      return this.#hold(1)
    })
  }

  /** @internal Whether `hold` or `add` threw this. */
  isOwn(thrown: unknown): thrown is CallError {
    return this.#errors.has(thrown)
  }

  /** @internal Stops everything that is under way. */
  end(): void {
    clearTimeout(this.#timer)
    this.#ending.abort()
  }

  #owned(work: () => Promise<boolean>): Promise<boolean> {
    const done = work().catch((error: unknown) => {
      this.#errors.add(error)
      throw error
    })
    // One that nobody waits for must not end the process.
    done.catch(() => {})
    return done
  }

  async #hold(units: number): Promise<boolean> {
    for (;;) {
      this.#checkOpen()
      if (this.left >= units) return true
      if (this.#growing) await this.#growing
      else if (!(await this.#alone(this.#grow(units - this.left, true)))) return false
    }
  }

  #checkOpen(): void {
    if (this.#ending.signal.aborted)
      throw new TollgateError('The work of the reservation has ended', { code: 'CONFLICT', status: 409 })
    if (this.#signal.aborted) throw aborted(this.#signal.reason)
  }

  #growEarly(): void {
    void this.#alone(this.#grow(1, false)).then(
      (grown) => {
        this.#dry = !grown
      },
      // The caller retries when it needs the units.
      () => {},
    )
  }

  /** One extension at a time. */
  #alone<T>(growing: Promise<T>): Promise<T> {
    const done = () => {
      this.#growing = null
    }
    this.#growing = growing.then(done, done)
    return growing
  }

  /** Adds a slice, or as much of it as there is room for, but at least `need`. */
  async #grow(need: number, isNeeded: boolean): Promise<boolean> {
    for (;;) {
      const asked = this.#unknown ?? { add: Math.max(need, this.#size), key: newKey() }
      this.#unknown = asked
      const { data, error } = await this.#extend({ add: asked.add }, asked.key, isNeeded)
      if (error) {
        if (!isPassing(error) && error.code !== 'ABORTED') this.#unknown = null
        throw error
      }
      this.#unknown = null
      if (data.reason === null) {
        this.#held = Math.max(this.#held, data.reserved)
        this.#size = Math.min(this.#context.slice, Math.max(1, asked.add * 2))
        this.#dry = false
        return true
      }
      if (asked.add <= need) return false
      this.#size = Math.floor(asked.add / 2)
    }
  }

  #renewLater(after = this.#context.ttlSeconds * 500): void {
    clearTimeout(this.#timer)
    if (this.#ending.signal.aborted) return
    this.#timer = setTimeout(() => void this.#renew(), after)
    this.#timer.unref?.()
  }

  async #renew(): Promise<void> {
    const { error } = await this.#extend({}, newKey(), false)
    if (error && isPassing(error)) this.#renewLater(RENEWAL_PAUSE_MS)
  }

  /** Also postpones the expiry. In the background it is tried once, and its error is not reported. */
  async #extend(
    more: Pick<ExtendReservationArguments, 'add'>,
    idempotencyKey: string,
    isNeeded: boolean,
  ): Promise<Result<Reservation>> {
    const { calls, ttlSeconds, options, changed } = this.#context
    const args = { id: this.id, ttlSeconds, ...more }
    const request: MutationOptions = {
      timeout: options.timeout,
      signal: isNeeded ? this.#signal : this.#ending.signal,
      idempotencyKey,
    }
    const result = isNeeded
      ? await calls.call<Reservation>('extendReservation', args, {
          ...request,
          retry: options.retry ?? retryFor(this.#context.retryFor),
        })
      : await calls.send<Reservation>('extendReservation', args, { ...request, inBackground: true })
    changed()
    if (result.data && result.data.reason === null) this.#renewLater()
    return result
  }
}

function checkUnits(units: unknown): void {
  if (!Number.isSafeInteger(units) || (units as number) < 0)
    throw refused('units', 'units must be a non-negative integer', units)
}
