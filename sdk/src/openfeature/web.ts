import {
  ErrorCode,
  type EvaluationContext,
  type JsonValue,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
  type TrackingEventDetails,
} from '@openfeature/web-sdk'
import type { Known } from '../browser/answers.ts'
import { checkKey } from '../browser/questions.ts'
import type { TollgateClient } from '../browser.ts'
import type { CanUseFeatureData } from '../types.ts'
import { accessOf, type Evaluation, onlyBooleansAndNumbers, remainderOf } from './evaluation.ts'

/** Options of `TollgateWebProvider`. */
export interface TollgateWebProviderOptions {
  /** IDs of the features to prefetch. @default the features of all published packages */
  features?: readonly string[] | undefined
  /**
   * Reports usage to your backend, which records it; a user token has no permission to record usage. The flags are
   * refreshed when it resolves. @default `track` throws
   */
  track?: ((event: { featureId: string; delta: number }) => unknown) | undefined
}

/**
 * OpenFeature provider for browsers. A boolean flag is the access of the user to a feature, a number flag the
 * remaining budget. The user is determined by the client's token; a change of the context's `targetingKey` makes the
 * client fetch a new one.
 */
export class TollgateWebProvider implements Provider {
  /** Name of the provider. */
  readonly metadata = { name: 'tollgate' }
  readonly runsOn = 'client'
  readonly events = new OpenFeatureEventEmitter()
  readonly #client: TollgateClient
  readonly #options: TollgateWebProviderOptions
  readonly #checks = new Map<string, CanUseFeatureData>()
  #stop: () => void = () => {}
  #state: 'loading' | 'missing' | 'fresh' | 'stale' = 'missing'

  /** Creates a provider that uses the given client. */
  constructor(client: TollgateClient, options: TollgateWebProviderOptions = {}) {
    this.#client = client
    this.#options = options
  }

  /** Rejects if the service is unreachable. The provider is then in the error state until the service is reachable again. */
  async initialize(): Promise<void> {
    this.#stop()
    this.#stop = this.#client.onChange(() => this.#onChange())
    await this.#load()
  }

  async onContextChange(before: EvaluationContext, after: EvaluationContext): Promise<void> {
    if (before.targetingKey === after.targetingKey) return
    this.#checks.clear()
    await this.#client.reset()
    await this.#load()
  }

  async onClose(): Promise<void> {
    this.#stop()
  }

  resolveBooleanEvaluation(featureId: string, defaultValue: boolean): ResolutionDetails<boolean> {
    return this.#resolve(featureId, defaultValue, accessOf)
  }

  resolveNumberEvaluation(featureId: string, defaultValue: number): ResolutionDetails<number> {
    return this.#resolve(featureId, defaultValue, remainderOf)
  }

  resolveStringEvaluation(featureId: string, value: string): ResolutionDetails<string> {
    return detailsOf(value, onlyBooleansAndNumbers(featureId))
  }

  resolveObjectEvaluation<T extends JsonValue>(featureId: string, value: T): ResolutionDetails<T> {
    return detailsOf(value, onlyBooleansAndNumbers(featureId))
  }

  /** Reports usage of the feature named by the event. The amount is `details.value`, or 1. */
  track(
    featureId: string,
    _context: EvaluationContext,
    { value: delta = 1 }: TrackingEventDetails = {},
  ): void {
    const { track } = this.#options
    if (!track)
      throw new Error(
        'Usage cannot be recorded from a browser. Pass the provider a `track` option that reports usage to your backend.',
      )
    Promise.resolve(track({ featureId, delta }))
      .then(() => this.#client.refresh())
      .catch((thrown) => console.warn('Tollgate: `track` failed', thrown))
  }

  async #load(): Promise<void> {
    this.#state = 'loading'
    try {
      const features = this.#options.features ?? (await this.#published())
      const results = await Promise.all(features.map((featureId) => this.#client.canUse(featureId)))
      for (const { data, error } of results) {
        if (error) throw error
        this.#checks.set(data.featureId, this.#known(data.featureId).data ?? data)
      }
      this.#state = 'fresh'
    } catch (error) {
      this.#state = 'missing'
      throw error
    }
  }

  async #published(): Promise<string[]> {
    const { data, error } = await this.#client.packages()
    if (error) throw error
    return [...new Set(data.flatMap(({ features }) => features.map(({ id }) => id)))]
  }

  #onChange(): void {
    if (this.#state === 'loading') return
    if (this.#state === 'missing') {
      this.#load().then(
        () => this.events.emit(ProviderEvents.Ready),
        // The client's onError has been called, and the next change tries again.
        () => {},
      )
      return
    }
    if (this.#isForgotten()) this.#forget()
    else this.#takeChanges()
  }

  /** The client was reset, for another user. */
  #isForgotten(): boolean {
    const known = [...this.#checks.keys()].map((featureId) => this.#known(featureId))
    return known.length > 0 && known.every(({ data, error }) => !data && !error)
  }

  #forget(): void {
    const flagsChanged = [...this.#checks.keys()]
    this.#checks.clear()
    this.#state = 'missing'
    this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged })
  }

  #takeChanges(): void {
    const flagsChanged: string[] = []
    let state: 'fresh' | 'stale' = 'fresh'
    for (const [featureId, check] of this.#checks) {
      const { data, error } = this.#known(featureId)
      if (error) state = 'stale'
      if (!data || data === check) continue
      this.#checks.set(featureId, data)
      flagsChanged.push(featureId)
    }
    if (flagsChanged.length > 0) this.events.emit(ProviderEvents.ConfigurationChanged, { flagsChanged })
    if (state === this.#state) return
    this.#state = state
    this.events.emit(state === 'fresh' ? ProviderEvents.Ready : ProviderEvents.Stale)
  }

  #known(featureId: string): Known<CanUseFeatureData> {
    return this.#client.known(checkKey(featureId, 1))
  }

  #resolve<Value>(
    featureId: string,
    defaultValue: Value,
    evaluate: (check: CanUseFeatureData) => Evaluation<Value>,
  ): ResolutionDetails<Value> {
    const check = this.#checks.get(featureId)
    const message = `The feature ${featureId} was not prefetched`
    return detailsOf(defaultValue, check ? evaluate(check) : { problem: 'FLAG_NOT_FOUND', message })
  }
}

function detailsOf<Value>(defaultValue: Value, evaluation: Evaluation<Value>): ResolutionDetails<Value> {
  if (!('problem' in evaluation)) return evaluation
  const { problem, message } = evaluation
  return { value: defaultValue, reason: 'ERROR', errorCode: ErrorCode[problem], errorMessage: message }
}
