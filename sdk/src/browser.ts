import { Answers, type Known } from './browser/answers.ts'
import { CLIENT_DOCUMENTS, type ClientOperation } from './browser/documents.ts'
import { Pulse } from './browser/pulse.ts'
import { askAll, checkKey, PACKAGES_KEY, SUBSCRIPTIONS_KEY, usageKey } from './browser/questions.ts'
import { type TokenSource, Tokens } from './browser/tokens.ts'
import { endpointOf } from './endpoint.ts'
import { aborted, type CallError, TollgateError } from './errors.ts'
import type { SignalOption, TollgateOptions } from './options.ts'
import { failed } from './reply.ts'
import { Transport } from './transport.ts'
import type * as T from './types.ts'

export type { TokenSource } from './browser/tokens.ts'
export {
  AuthenticationError,
  type CallError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorName,
  FeatureNotFoundError,
  type LocalErrorCode,
  NetworkError,
  type NetworkErrorCode,
  type ServiceErrorCode,
  TollgateError,
  UserNotFoundError,
} from './errors.ts'
export type { SignalOption } from './options.ts'
export type {
  CanUseFeatureData,
  Consumption,
  FeatureType,
  JsonObject,
  Package,
  PackageFeature,
  PackageStatus,
  PackageSubscription,
  PackageWithFeatures,
  Price,
  ReasonCode,
  Result,
  SubscriptionStatus,
  UsagePeriod,
} from './types.ts'

/** Options of `TollgateClient`. */
export interface TollgateClientOptions extends Pick<TollgateOptions, 'fetch' | 'timeout' | 'onError'> {
  /** User token from `generateUserToken`, or a function that fetches one and is called again before the token expires. */
  token: TokenSource
  /** Base URL of the service, without `/client/graphql`. */
  baseUrl: string
  /** Milliseconds between polls while there is a listener and the page is visible; 0 disables polling. @default 30_000 */
  refreshEvery?: number | undefined
  /** Initial results, for example from server-side rendering. @default none */
  initial?: InitialAnswers | undefined
}

/** Options of `canUse`. */
export interface CanUseOptions extends SignalOption {
  /** Number of units to check for. @default 1 */
  delta?: number | undefined
}

/** Initial results of a client. */
export interface InitialAnswers {
  /** Checks for a `delta` of 1, as returned by `canUseFeatures`. @default [] */
  features?: readonly T.CanUseFeatureData[] | undefined
  /** Usage by feature ID. @default {} */
  usage?: Readonly<Record<string, T.UsagePeriod | null>> | undefined
}

interface NextRequest {
  keys: Set<string>
  answers: Promise<ReadonlyMap<string, T.Result<unknown>>>
}

/**
 * Client for a browser, with the token of one user. Methods return `{ data, error }` and never throw. Calls made at
 * the same time share a request.
 *
 * @example
 * const tollgate = new TollgateClient({ baseUrl, token: () => fetch('/token').then((reply) => reply.text()) })
 * const { data } = await tollgate.canUse('export')
 */
export class TollgateClient {
  readonly #transport: Transport
  readonly #tokens: Tokens
  readonly #answers: Answers
  readonly #pulse: Pulse
  /** the next request, and its promise */
  #next: NextRequest | null = null
  #requests = 0
  /** requests up to this number were for another user */
  #forgotten = 0

  /** Throws if an option is invalid or missing. */
  constructor(options: TollgateClientOptions) {
    const { refreshEvery = 30_000 } = options
    const initial = options.initial ?? {}
    this.#transport = new Transport(endpointOf(options.baseUrl, '/client/graphql'), options)
    this.#tokens = new Tokens(options.token, this.#transport.timeout)
    this.#answers = new Answers([
      ...(initial.features ?? []).map((check) => [checkKey(check.featureId, 1), check] as [string, unknown]),
      ...Object.entries(initial.usage ?? {}).map(([id, usage]) => [usageKey(id), usage] as [string, unknown]),
    ])
    this.#pulse = new Pulse(refreshEvery, async () => (await this.refresh()).error === null)
  }

  /** Checks whether the user can use a feature. `delta` defaults to 1. */
  canUse(featureId: string, options?: CanUseOptions): Promise<T.Result<T.CanUseFeatureData>> {
    return this.#call(checkKey(featureId, options?.delta ?? 1), options)
  }

  /** Returns the usage of the current period, or null if the feature is not metered for this user. */
  usage(featureId: string, options?: SignalOption): Promise<T.Result<T.UsagePeriod | null>> {
    return this.#call(usageKey(featureId), options)
  }

  /** Returns the published packages with features and prices. */
  packages(options?: SignalOption): Promise<T.Result<T.PackageWithFeatures[]>> {
    return this.#call(PACKAGES_KEY, options)
  }

  /** Returns the subscriptions of the user, oldest first, including ended ones. */
  subscriptions(options?: SignalOption): Promise<T.Result<T.PackageSubscription[]>> {
    return this.#call(SUBSCRIPTIONS_KEY, options)
  }

  /** Calls `listener` when an earlier result has changed. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    const stop = this.#answers.listen(() => this.#transport.observe(listener))
    this.#pulse.start()
    return () => {
      stop()
      if (!this.#answers.heard) this.#pulse.stop()
    }
  }

  /** Fetches all earlier results again. Call it after a change made by the page. */
  async refresh(): Promise<{ error: CallError | null }> {
    const results = await Promise.all(this.#answers.ofInterest().map((key) => this.#ask(key)))
    return { error: results.find(({ error }) => error)?.error ?? null }
  }

  /** Discards the token and all results, for a change of user. Pending calls return an error with code `ABORTED`. */
  async reset(): Promise<{ error: CallError | null }> {
    this.#forgotten = this.#requests
    this.#next = null
    this.#tokens.forget()
    this.#answers.forget()
    return this.refresh()
  }

  /** @internal */
  watch(key: string, listener: () => void): () => void {
    const release = this.#answers.watch(key)
    const stop = this.onChange(listener)
    this.#ask(key)
    return () => {
      stop()
      release()
    }
  }

  /** @internal */
  known<Data>(key: string): Known<Data> {
    return this.#answers.known(key) as Known<Data>
  }

  /** @internal */
  initially<Data>(key: string): Known<Data> {
    return this.#answers.initial(key) as Known<Data>
  }

  async #call<Data>(key: string, options: SignalOption | undefined): Promise<T.Result<Data>> {
    const signal = options?.signal
    if (signal && !signal.addEventListener) return this.#failure(refused('signal', 'an AbortSignal'))
    this.#answers.asked(key)
    const answer = this.#ask(key) as Promise<T.Result<Data>>
    return signal ? untilAborted(answer, signal) : answer
  }

  async #ask(key: string): Promise<T.Result<unknown>> {
    this.#next ??= this.#newRequest()
    this.#next.keys.add(key)
    return (await this.#next.answers).get(key) ?? failed(aborted('another user'))
  }

  #newRequest(): NextRequest {
    const keys = new Set<string>()
    const request = ++this.#requests
    return { keys, answers: Promise.resolve().then(() => this.#askNext(keys, request)) }
  }

  async #askNext(keys: Set<string>, request: number): NextRequest['answers'] {
    if (request <= this.#forgotten) return new Map()
    this.#next = null
    const answers = await askAll([...keys], (operation, variables) => this.#send(operation, variables))
    if (request <= this.#forgotten) return new Map()
    this.#answers.take(answers, request)
    return answers
  }

  async #send<Data>(operation: ClientOperation, variables: object): Promise<T.Result<Data>> {
    const send = (Authorization: string) =>
      this.#transport.send({ query: CLIENT_DOCUMENTS[operation], variables, headers: { Authorization } })
    try {
      check(variables)
      const token = await this.#tokens.current()
      let { data, error } = await send(token)
      if (error?.code === 'UNAUTHENTICATED') {
        const other = await this.#tokens.insteadOf(token)
        if (other !== token) ({ data, error } = await send(other))
      }
      if (error) throw error
      return { data: data?.[operation] as Data, error: null }
    } catch (thrown) {
      if (!(thrown instanceof TollgateError)) throw thrown
      return this.#failure(thrown)
    }
  }

  async #failure(error: TollgateError): Promise<T.Result<never>> {
    await this.#transport.report(error)
    return failed(error)
  }
}

/** The service would refuse these too, but with everything else in the request. */
function check({ featureId = '', delta = 1 }: { featureId?: unknown; delta?: unknown }): void {
  if (typeof featureId !== 'string') throw refused('featureId', 'a string')
  if (!Number.isInteger(delta)) throw refused('delta', 'an integer')
}

const refused = (field: string, kind: string): TollgateError =>
  new TollgateError(`${field} must be ${kind}`, { code: 'BAD_USER_INPUT', status: 400, field })

/** The request continues, since others may wait for it: only this caller gives up. */
function untilAborted<Data>(answer: Promise<T.Result<Data>>, signal: AbortSignal): Promise<T.Result<Data>> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(failed(aborted(signal.reason)))
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp)
    answer.then(resolve).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
