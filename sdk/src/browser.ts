import { Answers, type Known } from './browser/answers.ts'
import { CLIENT_DOCUMENTS, type ClientOperation } from './browser/documents.ts'
import { Pulse } from './browser/pulse.ts'
import { askAll, checkKey, PACKAGES_KEY, SUBSCRIPTIONS_KEY, usageKey } from './browser/questions.ts'
import { type TokenSource, Tokens } from './browser/tokens.ts'
import { endpointOf } from './endpoint.ts'
import { TollgateError } from './errors.ts'
import type { CallOptions, TollgateOptions } from './options.ts'
import { Transport } from './transport.ts'
import type * as T from './types.ts'

export type { TokenSource } from './browser/tokens.ts'
export {
  AuthenticationError,
  type ErrorCode,
  type ErrorName,
  FeatureNotFoundError,
  NetworkError,
  TollgateError,
  UserNotFoundError,
} from './errors.ts'
export type { CallOptions } from './options.ts'
export type {
  CanUseFeatureData,
  Consumption,
  Package,
  PackageFeature,
  PackageSubscription,
  PackageWithFeatures,
  Price,
  ReasonCode,
  Result,
  UsagePeriod,
} from './types.ts'

/** Every setting of the client in a page. */
export interface TollgateClientOptions extends Pick<TollgateOptions, 'fetch' | 'timeout' | 'onError'> {
  /** The user's token from `generateUserToken`, or a function that fetches one: it is called again in time. */
  token: TokenSource
  /** Where the service is, without `/client/graphql`. */
  baseUrl: string
  /** Milliseconds between two looks for changes, while anybody listens and the page is seen; 0: none. @default 30_000 */
  refreshEvery?: number | undefined
  /** Answers that are known already, as from a server that rendered the page. @default none */
  initial?: InitialAnswers | undefined
}

export interface InitialAnswers {
  features?: readonly T.CanUseFeatureData[] | undefined
  /** by feature id */
  usage?: Readonly<Record<string, T.UsagePeriod | null>> | undefined
}

/**
 * The client for a page, with the token of one user. A method answers `{ data, error }` and never throws; calls made
 * in one go share a request.
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
  readonly #onError: TollgateClientOptions['onError']
  /** what is asked next, in one go, and what comes of it */
  #next: { keys: Set<string>; answers: Promise<ReadonlyMap<string, T.Result<unknown>>> } | null = null
  #requests = 0
  /** requests up to this one were another user's */
  #forgotten = 0

  /** Throws when a setting is wrong or missing. */
  constructor(options: TollgateClientOptions) {
    const { fetch, timeout = 10_000, refreshEvery = 30_000, initial = {} } = options
    this.#transport = new Transport(endpointOf(options.baseUrl, '/client/graphql'), '', { fetch, timeout })
    this.#tokens = new Tokens(options.token, timeout)
    this.#onError = options.onError
    this.#answers = new Answers([
      ...(initial.features ?? []).map((check) => [checkKey(check.featureId, 1), check] as [string, unknown]),
      ...Object.entries(initial.usage ?? {}).map(([id, usage]) => [usageKey(id), usage] as [string, unknown]),
    ])
    this.#pulse = new Pulse(refreshEvery, async () => (await this.refresh()).error === null)
  }

  /** Whether the user can use this much of the feature. `delta` is 1 unless given. */
  canUse(
    featureId: string,
    { delta = 1, signal }: CallOptions & { delta?: number | undefined } = {},
  ): Promise<T.Result<T.CanUseFeatureData>> {
    return this.#call(checkKey(featureId, delta), signal)
  }

  /** The current period's usage; null where the feature is not counted for this user. */
  usage(featureId: string, { signal }: CallOptions = {}): Promise<T.Result<T.UsagePeriod | null>> {
    return this.#call(usageKey(featureId), signal)
  }

  /** The published packages, with features and prices. */
  packages({ signal }: CallOptions = {}): Promise<T.Result<T.PackageWithFeatures[]>> {
    return this.#call(PACKAGES_KEY, signal)
  }

  /** The user's subscriptions, oldest first, with those that have ended. */
  subscriptions({ signal }: CallOptions = {}): Promise<T.Result<T.PackageSubscription[]>> {
    return this.#call(SUBSCRIPTIONS_KEY, signal)
  }

  /** Tells whenever an answer to what was asked before is another one now. Returns what ends it. */
  onChange(listener: () => void): () => void {
    const stop = this.#answers.listen(listener)
    this.#pulse.start()
    return () => {
      stop()
      if (!this.#answers.heard) this.#pulse.stop()
    }
  }

  /** Asks again whatever was asked before: for after something that the page did. */
  async refresh(): Promise<{ error: TollgateError | null }> {
    const results = await Promise.all(this.#answers.ofInterest().map((key) => this.#ask(key)))
    return { error: results.find(({ error }) => error)?.error ?? null }
  }

  /** Another user: forgets the token and all answers. Calls under way come to an error of code `ABORTED`. */
  async reset(): Promise<{ error: TollgateError | null }> {
    this.#forgotten = this.#requests
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

  async #call<Data>(key: string, signal: AbortSignal | undefined): Promise<T.Result<Data>> {
    this.#answers.asked(key)
    const answer = this.#ask(key) as Promise<T.Result<Data>>
    return signal ? untilAborted(answer, signal) : answer
  }

  async #ask(key: string): Promise<T.Result<unknown>> {
    this.#next ??= { keys: new Set(), answers: Promise.resolve().then(() => this.#askNext()) }
    this.#next.keys.add(key)
    return (await this.#next.answers).get(key) ?? { data: null, error: aborted('The user was changed') }
  }

  async #askNext(): Promise<ReadonlyMap<string, T.Result<unknown>>> {
    const keys = [...(this.#next?.keys ?? [])]
    this.#next = null
    const request = ++this.#requests
    const answers = await askAll(keys, (operation, variables) => this.#send(operation, variables))
    if (request <= this.#forgotten) return new Map()
    this.#answers.take(answers, request)
    return answers
  }

  async #send<Data>(operation: ClientOperation, variables: object): Promise<T.Result<Data>> {
    const request = { query: CLIENT_DOCUMENTS[operation], variables }
    try {
      const token = await this.#tokens.current()
      let { data, error } = await this.#transport.send({ ...request, authorization: token })
      if (error?.code === 'UNAUTHENTICATED') {
        const other = await this.#tokens.insteadOf(token)
        if (other !== token)
          ({ data, error } = await this.#transport.send({ ...request, authorization: other }))
      }
      if (error) throw error
      return { data: data?.[operation] as Data, error: null }
    } catch (thrown) {
      if (!(thrown instanceof TollgateError)) throw thrown
      await this.#transport.observe(() => this.#onError?.(thrown))
      return { data: null, error: thrown }
    }
  }
}

const aborted = (message: string, cause?: unknown): TollgateError =>
  new TollgateError(message, { code: 'ABORTED', status: 0, cause })

/** The request goes on, since others may wait for it: only this caller gives it up. */
function untilAborted<Data>(answer: Promise<T.Result<Data>>, signal: AbortSignal): Promise<T.Result<Data>> {
  return new Promise((resolve) => {
    const giveUp = () => resolve({ data: null, error: aborted('The call was aborted', signal.reason) })
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    answer.then(resolve).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
