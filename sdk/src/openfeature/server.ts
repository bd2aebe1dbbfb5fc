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

/** The options of `TollgateServerProvider`. */
export interface TollgateServerProviderOptions {
  /** Called with the outcome of each `track`: it may have been refused. @default none */
  onTracked?: ((event: CreateUsageEventInput, result: Result<Recorded>) => unknown) | undefined
}

/**
 * Features as flags: a boolean says whether the user has access, a number is the remaining budget. The context's
 * `targetingKey` is the user's id; its `delta`, if any, is how much they want to use.
 */
export class TollgateServerProvider implements Provider {
  /** The provider's name. */
  readonly metadata = { name: 'tollgate' }
  readonly runsOn = 'server'
  readonly #tollgate: Tollgate
  readonly #onTracked: TollgateServerProviderOptions['onTracked']

  /** Takes the client to use. */
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

  /** Records usage of the feature with the event's name: the details' `value`, or 1. */
  track(featureId: string, context: EvaluationContext, details: TrackingEventDetails = {}): void {
    const event = { userId: userOf(context), featureId, delta: details.value ?? 1 }
    this.#tollgate
      .recordUsage(event)
      .then((result) => this.#onTracked?.(event, result))
      .catch((thrown) => console.warn('Tollgate: onTracked threw', thrown))
  }

  /** Sends usage that the client has queued. */
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
  throw new TargetingKeyMissingError('The context needs a targetingKey: the id of the user')
}

function detailsOf<Value>(defaultValue: Value, evaluation: Evaluation<Value>): ResolutionDetails<Value> {
  if (!('problem' in evaluation)) return evaluation
  const { problem, message } = evaluation
  return { value: defaultValue, reason: 'ERROR', errorCode: ErrorCode[problem], errorMessage: message }
}
