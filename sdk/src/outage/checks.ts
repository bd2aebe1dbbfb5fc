import { isOutage } from '../errors.ts'
import type { CanUseFeatureData, Check, Result } from '../types.ts'

/** Options of the cache for checks. */
export interface CacheOptions {
  /**
   * Time to live of a result in milliseconds. Usage and changes recorded with this client invalidate it immediately.
   * @default 5_000
   */
  ttl?: number | undefined
  /** Maximum number of cached results, one per user and feature. The least recently used are evicted. @default 10_000 */
  max?: number | undefined
}

/**
 * Fallback for a feature. `last-known` uses the last result seen by this client, adjusted for `delta`, and denies
 * access if there is none.
 */
export type FallbackPolicy = 'allow' | 'deny' | 'last-known'

/** Results of checks while the service is unreachable, by feature ID. */
export interface Fallback {
  /** Policy for features that are not listed. @default none: the check returns the error */
  default?: FallbackPolicy | undefined
  /** Policy for this feature. @default the value of `default` */
  [featureId: string]: FallbackPolicy | undefined
}

/** A question about features of one user. */
export interface CheckArguments {
  userId: string
  featureIds: readonly string[]
  delta: number
  entities?: readonly string[] | undefined
  includeSources?: boolean | undefined
}

interface Known {
  answer: CanUseFeatureData
  /** what was asked of the feature */
  terms: string
  /** the number of the question that it answers */
  asked: number
  /** After this it is only the last known answer. */
  staleAt: number
}

/** A running question: an answer from before a change must not be cached after it. */
interface Question {
  number: number
  overtaken: boolean
}

const MAX_KNOWN = 10_000

/** Asks the service, unless there is a fresh cached answer; applies the fallback while it is unreachable. */
export class Checks {
  readonly #fallback: Fallback
  readonly #ttl: number
  readonly #max: number
  readonly #now: () => number
  /** by user and feature, least recently used first */
  readonly #known = new Map<string, Known>()
  readonly #questions = new Map<string, Set<Question>>()
  #asked = 0

  constructor(cache: CacheOptions | undefined, fallback: Fallback = {}, now: () => number) {
    this.#fallback = fallback
    this.#ttl = cache ? (cache.ttl ?? 5_000) : 0
    const keeps = cache !== undefined || Object.values(fallback).includes('last-known')
    this.#max = keeps ? (cache?.max ?? MAX_KNOWN) : 0
    this.#now = now
  }

  /** `ask` gets the features that are not cached, and answers in their order. */
  async check(
    { userId, featureIds, ...asked }: CheckArguments,
    ask: (featureIds: string[]) => Promise<Result<CanUseFeatureData[]>>,
  ): Promise<Result<Check[]>> {
    const terms = termsOf(asked)
    const found = new Map<string, Check>()
    for (const featureId of featureIds) {
      const answer = this.#fresh(keyOf(userId, featureId), terms)
      if (answer) found.set(featureId, { ...answer, source: 'cache' })
    }
    const missing = featureIds.filter((featureId) => !found.has(featureId))
    if (missing.length > 0 || featureIds.length === 0) {
      const { data, error } = await this.#ask({ userId, featureIds: missing, ...asked }, ask)
      if (error) return { data: null, error }
      for (const check of data) found.set(check.featureId, check)
    }
    return { data: featureIds.flatMap((featureId) => found.get(featureId) ?? []), error: null }
  }

  async #ask(
    asked: CheckArguments & { featureIds: string[] },
    ask: (featureIds: string[]) => Promise<Result<CanUseFeatureData[]>>,
  ): Promise<Result<Check[]>> {
    const { userId, featureIds } = asked
    const terms = termsOf(asked)
    const keys = featureIds.map((featureId) => keyOf(userId, featureId))
    const questions = keys.map((key) => this.#begin(key))
    const { data, error } = await ask(featureIds)
    for (const [i, question] of questions.entries()) this.#end(keys[i] ?? '', question)
    if (error) {
      const standIns = featureIds.flatMap((featureId) => this.#standIn(featureId, asked) ?? [])
      const complete = standIns.length === featureIds.length
      return isOutage(error) && complete ? { data: standIns, error: null } : { data: null, error }
    }
    for (const [i, answer] of data.entries()) {
      const { number = 0, overtaken = true } = questions[i] ?? {}
      const key = keyOf(userId, answer.featureId)
      // A later question may have been answered first.
      if (number < (this.#known.get(key)?.asked ?? 0)) continue
      const staleAt = overtaken ? Number.NEGATIVE_INFINITY : this.#now() + this.#ttl
      this.#keep(key, { answer, terms, asked: number, staleAt })
    }
    return { data: data.map((answer) => ({ ...answer, source: 'service' })), error: null }
  }

  /** This user's access to this feature, or to any, has changed: earlier answers are stale. */
  changed(userId: string, featureId?: string): void {
    for (const key of this.#keysOf(this.#known, userId, featureId)) {
      const known = this.#known.get(key)
      if (known) known.staleAt = Number.NEGATIVE_INFINITY
    }
    for (const key of this.#keysOf(this.#questions, userId, featureId)) {
      for (const question of this.#questions.get(key) ?? []) question.overtaken = true
    }
  }

  /** Anybody's access may have changed. */
  allChanged(): void {
    for (const known of this.#known.values()) known.staleAt = Number.NEGATIVE_INFINITY
    for (const questions of this.#questions.values()) {
      for (const question of questions) question.overtaken = true
    }
  }

  #keysOf(map: Map<string, unknown>, userId: string, featureId: string | undefined): string[] {
    if (featureId !== undefined) return [keyOf(userId, featureId)]
    const prefix = `${JSON.stringify([userId]).slice(0, -1)},`
    return [...map.keys()].filter((key) => key.startsWith(prefix))
  }

  #fresh(key: string, terms: string): CanUseFeatureData | null {
    const known = this.#known.get(key)
    if (!known || known.terms !== terms || this.#now() >= known.staleAt) return null
    this.#keep(key, known)
    return known.answer
  }

  #keep(key: string, known: Known): void {
    this.#known.delete(key)
    this.#known.set(key, known)
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#max) return
      this.#known.delete(oldest)
    }
  }

  #begin(key: string): Question {
    const question = { number: ++this.#asked, overtaken: false }
    const questions = this.#questions.get(key) ?? new Set()
    this.#questions.set(key, questions.add(question))
    return question
  }

  #end(key: string, question: Question): void {
    const questions = this.#questions.get(key)
    questions?.delete(question)
    if (questions?.size === 0) this.#questions.delete(key)
  }

  #standIn(featureId: string, asked: CheckArguments): Check | null {
    const policy = Object.hasOwn(this.#fallback, featureId)
      ? this.#fallback[featureId]
      : this.#fallback.default
    if (policy === undefined) return null
    const known = policy === 'last-known' ? this.#known.get(keyOf(asked.userId, featureId)) : undefined
    const access = known ? accessOf(known, asked) : policy === 'allow'
    const why = known
      ? 'according to the last known result'
      : policy === 'last-known'
        ? 'no earlier result is known'
        : 'according to the configured fallback'
    return {
      featureId,
      access,
      reason: `The service is unreachable: ${access ? 'allowed' : 'denied'}, ${why}.`,
      reasonCode: 'FALLBACK',
      consumption: known?.answer.consumption ?? null,
      source: 'fallback',
    }
  }
}

const keyOf = (userId: string, featureId: string): string => JSON.stringify([userId, featureId])

/** Answers to other terms of the same question are no answers to it. */
const termsOf = ({
  delta,
  entities,
  includeSources,
}: Omit<CheckArguments, 'userId' | 'featureIds'>): string =>
  JSON.stringify([delta, entities ?? [], includeSources === true])

/** Of caps only the answer to the same question knows. */
function accessOf({ answer, terms }: Known, asked: CheckArguments): boolean {
  const { consumption } = answer
  if (consumption === null || terms === termsOf(asked)) return answer.access
  const { budget, used, overageEnabled, remaining } = consumption
  if (overageEnabled || budget === null) return true
  return asked.delta <= Math.max(remaining ?? 0, budget - used)
}
