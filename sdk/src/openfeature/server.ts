import {
  ErrorCode,
  type EvaluationContext,
  type JsonValue,
  type Provider,
  type ResolutionDetails,
  TargetingKeyMissingError,
  type TrackingEventDetails,
} from '@openfeature/server-sdk'
import type { Tollgate } from '../tollgate.ts'
import type { Check, CreateUsageEventInput, Recorded, Result } from '../types.ts'
import { accessOf, type Evaluation, onlyBooleansAndNumbers, remainderOf } from './evaluation.ts'

/** Options of `TollgateServerProvider`. */
export interface TollgateServerProviderOptions {
  /** Called with the result of each `track` call. @default none */
  onTracked?: ((event: CreateUsageEventInput, result: Result<Recorded>) => unknown) | undefined
}

/**
 * OpenFeature provider for servers. A boolean flag is the access of a user to a feature, a number flag the remaining
 * budget. The `targetingKey` of the context is the user ID; its optional `delta` is the number of units to check for.
 */
export class TollgateServerProvider implements Provider {
  /** Name of the provider. */
  readonly metadata = { name: 'tollgate' }
  readonly runsOn = 'server'
  readonly #tollgate: Tollgate
  readonly #onTracked: TollgateServerProviderOptions['onTracked']

  /** Creates a provider that uses the given client. */
  constructor(tollgate: Tollgate, { onTracked }: TollgateServerProviderOptions = {}) {
    this.#tollgate = tollgate
    this.#onTracked = onTracked
  }

  resolveBooleanEvaluation(
    featureId: string,
    defaultValue: boolean,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<boolean>> {
    return this.#resolve(featureId, defaultValue, context, accessOf)
  }

  resolveNumberEvaluation(
    featureId: string,
    defaultValue: number,
    context: EvaluationContext,
  ): Promise<ResolutionDetails<number>> {
    return this.#resolve(featureId, defaultValue, context, remainderOf)
  }

  async resolveStringEvaluation(featureId: string, value: string): Promise<ResolutionDetails<string>> {
    return detailsOf(value, onlyBooleansAndNumbers(featureId))
  }

  async resolveObjectEvaluation<T extends JsonValue>(
    featureId: string,
    value: T,
  ): Promise<ResolutionDetails<T>> {
    return detailsOf(value, onlyBooleansAndNumbers(featureId))
  }

  /** Records usage of the feature named by the event. The amount is `details.value`, or 1. */
  track(featureId: string, context: EvaluationContext, details: TrackingEventDetails = {}): void {
    const event = { userId: userOf(context), featureId, delta: details.value ?? 1 }
    this.#tollgate
      .recordUsage(event)
      .then((result) => this.#onTracked?.(event, result))
      .catch((thrown) => console.warn('Tollgate: onTracked threw an error', thrown))
  }

  /** Sends usage queued by the client. */
  async onClose(): Promise<void> {
    await this.#tollgate.flush()
  }

  async #resolve<Value>(
    featureId: string,
    defaultValue: Value,
    context: EvaluationContext,
    evaluate: (check: Check) => Evaluation<Value>,
  ): Promise<ResolutionDetails<Value>> {
    const { delta } = context
    const { data, error } = await this.#tollgate.canUseFeature({
      userId: userOf(context),
      featureId,
      delta: typeof delta === 'number' ? delta : undefined,
    })
    return detailsOf(defaultValue, error ? { problem: 'GENERAL', message: error.message } : evaluate(data))
  }
}

function userOf({ targetingKey }: EvaluationContext): string {
  if (targetingKey) return targetingKey
  throw new TargetingKeyMissingError('The context requires a targetingKey with the ID of the user')
}

function detailsOf<Value>(defaultValue: Value, evaluation: Evaluation<Value>): ResolutionDetails<Value> {
  if (!('problem' in evaluation)) return evaluation
  const { problem, message } = evaluation
  return { value: defaultValue, reason: 'ERROR', errorCode: ErrorCode[problem], errorMessage: message }
}
