import { type CallError, isOutage } from '../errors.ts'
import type { Result } from '../types.ts'

/** The state of a question. A new object only when something in it has changed. */
export interface Known<Data = unknown> {
  /** The last answer; undefined: there is none yet, or it is no longer valid. */
  readonly data: Data | undefined
  /** Why the last attempt failed. */
  readonly error: CallError | null
}

const NOTHING: Known = { data: undefined, error: null }
const MAX_KNOWN = 500
/** How long an answer without followers may be shown before it is requested again. */
const GOOD_FOR_MS = 30_000

interface Entry {
  known: Known
  /** the number of the request that answered it */
  answeredBy: number
  answeredAt: number
  /** requested by a call, and so of interest to change listeners */
  asked: boolean
  watchers: number
}

/** Initial answers are used until they are requested. */
const NEW: Entry = {
  known: NOTHING,
  answeredBy: 0,
  answeredAt: Number.POSITIVE_INFINITY,
  asked: false,
  watchers: 0,
}

/** The known answers, and the listeners for changes. */
export class Answers {
  readonly #entries = new Map<string, Entry>()
  readonly #initial: ReadonlyMap<string, Known>
  readonly #listeners = new Set<() => void>()

  constructor(initial: Iterable<[key: string, data: unknown]>) {
    this.#initial = new Map([...initial].map(([key, data]) => [key, { data, error: null }]))
    for (const [key, known] of this.#initial) this.#entry(key).known = known
  }

  known(key: string): Known {
    const entry = this.#entries.get(key)
    return entry && !this.#isOld(entry) ? entry.known : NOTHING
  }

  /** The initial state, with which the server rendered. */
  initial(key: string): Known {
    return this.#initial.get(key) ?? NOTHING
  }

  /** The questions to ask again on a refresh. */
  ofInterest(): string[] {
    return [...this.#entries].flatMap(([key, { asked, watchers }]) => (asked || watchers > 0 ? key : []))
  }

  asked(key: string): void {
    this.#entry(key).asked = true
  }

  watch(key: string): () => void {
    const entry = this.#entry(key)
    if (this.#isOld(entry)) entry.known = NOTHING
    entry.watchers++
    return () => {
      entry.watchers--
    }
  }

  listen(listener: () => void): () => void {
    // A separate function each time, so that subscribing twice and unsubscribing once works.
    const told = () => listener()
    // From now on every question is asked again. Until then, answers that nobody subscribed to are not shown.
    for (const entry of this.#entries.values()) if (this.#isOld(entry)) entry.known = NOTHING
    this.#listeners.add(told)
    return () => this.#listeners.delete(told)
  }

  get heard(): boolean {
    return this.#listeners.size > 0
  }

  /** Stores the answers of one request. Those of later requests, with higher numbers, take precedence. */
  take(answers: ReadonlyMap<string, Result<unknown>>, request: number): void {
    let changed = false
    for (const [key, answer] of answers) {
      const entry = this.#entry(key)
      if (request < entry.answeredBy) continue
      entry.answeredBy = request
      entry.answeredAt = performance.now()
      const known = after(entry.known, answer)
      if (sameAs(known, entry.known)) continue
      entry.known = known
      changed = true
    }
    if (changed) this.#tell()
  }

  /** Forgets everything, for another user. */
  forget(): void {
    for (const entry of this.#entries.values()) entry.known = NOTHING
    this.#tell()
  }

  /** Without a listener, nothing is asked again. */
  #isOld({ asked, watchers, answeredAt }: Entry): boolean {
    const followed = watchers > 0 || (asked && this.heard)
    return !followed && performance.now() - answeredAt > GOOD_FOR_MS
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key) ?? { ...NEW }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    for (const [oldest, { watchers }] of this.#entries) {
      if (this.#entries.size <= MAX_KNOWN) break
      if (watchers === 0) this.#entries.delete(oldest)
    }
    return entry
  }
}

/** An answer survives an outage, but not a refusal. */
function after(before: Known, { data, error }: Result<unknown>): Known {
  if (!error) return { data, error }
  return { data: isOutage(error) || error.response.status === 429 ? before.data : undefined, error }
}

const sameAs = (a: Known, b: Known): boolean =>
  JSON.stringify(a.data) === JSON.stringify(b.data) && a.error?.code === b.error?.code
