import { Calls, listOf, newKey, oneOf } from './calls.ts'
import { ERROR_TABLE, type TollgateError } from './errors.ts'
import type { CallOptions, MutationOptions, TollgateOptions } from './options.ts'
import { Checks } from './outage/checks.ts'
import { Usage } from './outage/usage.ts'
import { refuseBrowser, settingsOf } from './settings.ts'
import { Transport } from './transport.ts'
import type * as T from './types.ts'

export {
  AuthenticationError,
  type ErrorCode,
  type ErrorName,
  FeatureNotFoundError,
  NetworkError,
  PackageNotFoundError,
  SubscriptionError,
  SubscriptionNotFoundError,
  TollgateError,
  UserNotFoundError,
} from './errors.ts'
export type { CallOptions, MutationOptions, TollgateOptions } from './options.ts'
export type { CacheOptions, Fallback, FallbackPolicy } from './outage/checks.ts'
export type { KeyedEvent } from './outage/queue-store.ts'
export type { QueueOptions } from './outage/usage-queue.ts'
export type * from './types.ts'

/**
 * The client for an application's backend. A method takes its operation's arguments by name (one whose only argument
 * is `input` takes the input itself), then options; it answers `{ data, error }` and never throws.
 *
 * @example
 * const tollgate = new Tollgate({ apiKey: '…' })
 * const { data, error } = await tollgate.canUseFeature({ userId: 'ada', featureId: 'api-calls' })
 */
export class Tollgate {
  readonly #transport: Transport
  readonly #calls: Calls
  readonly #checks: Checks
  readonly #usage: Usage

  /** Throws when a setting is wrong or missing. */
  constructor(options: TollgateOptions = {}) {
    refuseBrowser(options)
    const { url, apiKey } = settingsOf(options)
    this.#transport = new Transport(url, apiKey, options, ERROR_TABLE)
    this.#calls = new Calls(this.#transport)
    this.#checks = new Checks(options.cache, options.fallback, () => performance.now())
    this.#usage = new Usage(options.queue, this.#calls, this.#transport, this.#checks)
  }

  /** FeatureNotFoundError where there is none with this id. */
  feature(args: { id: string }, options?: CallOptions): Promise<T.Result<T.Feature>> {
    return this.#calls.call('feature', args, options)
  }

  /** All features, oldest first. */
  features(args: T.Paging = {}, options?: CallOptions): Promise<T.Result<T.Feature[]>> {
    return this.#calls.call('features', args, options)
  }

  /** Whether the user can use this much of the feature. `delta` is 1 unless given. Says no, and why, to the unknown. */
  async canUseFeature(
    args: { userId: string; featureId: string; delta?: number | undefined },
    options?: CallOptions,
  ): Promise<T.Result<T.Check>> {
    const { userId, featureId, delta = 1 } = args
    const checks = await this.#checks.check(userId, [featureId], delta, async () =>
      listOf(
        await this.#calls.call<T.CanUseFeatureData>('canUseFeature', { userId, featureId, delta }, options),
      ),
    )
    return oneOf(checks)
  }

  /** Several features at once, in their order, each for a delta of 1. */
  canUseFeatures(
    args: { userId: string; featureIds: readonly string[] },
    options?: CallOptions,
  ): Promise<T.Result<T.Check[]>> {
    return this.#checks.check(args.userId, args.featureIds, 1, (featureIds) =>
      this.#calls.call('canUseFeatures', { userId: args.userId, featureIds }, options),
    )
  }

  /** The current period's usage; null where the feature is not counted for this user. */
  async showUsage(
    args: { userId: string; featureId: string },
    options?: CallOptions,
  ): Promise<T.Result<T.UsagePeriod | null>> {
    const { data, error } = await this.#calls.call<{ current: T.UsagePeriod | null }>(
      'showUsage',
      args,
      options,
    )
    return error ? { data: null, error } : { data: data.current, error }
  }

  /** With its features if `includeFeatures` is true; by default without. */
  package(
    args: { id: string; includeFeatures: true },
    options?: CallOptions,
  ): Promise<T.Result<T.PackageWithFeatures>>
  package(
    args: { id: string; includeFeatures?: boolean | undefined },
    options?: CallOptions,
  ): Promise<T.Result<T.Package>>
  package(
    { id, includeFeatures = false }: { id: string; includeFeatures?: boolean | undefined },
    options?: CallOptions,
  ): Promise<T.Result<T.Package>> {
    return this.#calls.call('package', { id, includeFeatures }, options)
  }

  /** Those of a `status`, PUBLISHED unless given; with their features if `includeFeatures` is true. */
  packages(
    args: PackagesArguments & { includeFeatures: true },
    options?: CallOptions,
  ): Promise<T.Result<T.PackageWithFeatures[]>>
  packages(args?: PackagesArguments, options?: CallOptions): Promise<T.Result<T.Package[]>>
  packages(
    { includeFeatures = false, ...args }: PackagesArguments = {},
    options?: CallOptions,
  ): Promise<T.Result<T.Package[]>> {
    return this.#calls.call('packages', { ...args, includeFeatures }, options)
  }

  user(args: { id: string }, options?: CallOptions): Promise<T.Result<T.User>> {
    return this.#calls.call('user', args, options)
  }

  /** All users, oldest first. */
  users(args: T.Paging = {}, options?: CallOptions): Promise<T.Result<T.User[]>> {
    return this.#calls.call('users', args, options)
  }

  subscription(args: { id: string }, options?: CallOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#calls.call('subscription', args, options)
  }

  /** Those of a user; without `userId`, all. */
  subscriptions(
    args: T.Paging & { userId?: string | undefined } = {},
    options?: CallOptions,
  ): Promise<T.Result<T.PackageSubscription[]>> {
    return this.#calls.call('subscriptions', args, options)
  }

  createFeature(input: T.CreateFeatureInput, options?: MutationOptions): Promise<T.Result<T.Feature>> {
    return this.#calls.call('createFeature', { input }, options)
  }

  /** Changes the fields that `input` carries. */
  updateFeature(
    args: { id: string; input: T.UpdateFeatureInput },
    options?: MutationOptions,
  ): Promise<T.Result<T.Feature>> {
    return this.#calls.call('updateFeature', args, options)
  }

  /** The package is a DRAFT until it is published in the dashboard. */
  createPackage(
    input: T.CreatePackageInput,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageWithFeatures>> {
    return this.#calls.call('createPackage', { input }, options)
  }

  /** Changes the metadata; everything else is changed in the dashboard. */
  updatePackage(
    args: { id: string; input: T.UpdatePackageInput },
    options?: MutationOptions,
  ): Promise<T.Result<T.Package>> {
    return this.#calls.call('updatePackage', args, options)
  }

  createUser(input: T.CreateUserInput, options?: MutationOptions): Promise<T.Result<T.User>> {
    return this.#calls.call('createUser', { input }, options)
  }

  /** Changes the fields that `input` carries, also the user's id. */
  async updateUser(
    args: { id: string; input: T.UpdateUserInput },
    options?: MutationOptions,
  ): Promise<T.Result<T.User>> {
    const result = await this.#calls.call<T.User>('updateUser', args, options)
    this.#checks.changed(args.id)
    if (args.input?.id !== undefined) this.#checks.changed(args.input.id)
    return result
  }

  /** To one base plan, and to add-ons beside one: all or nothing. */
  async subscribe(
    args: { userId: string; packageIds: readonly string[] },
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageSubscription[]>> {
    const result = await this.#calls.call<T.PackageSubscription[]>('subscribe', args, options)
    this.#checks.changed(args.userId)
    return result
  }

  /** Adds to the usage, sets it (`action: 'SET'`), or takes some back (a negative `delta`). */
  async recordUsage(
    input: T.CreateUsageEventInput,
    options: MutationOptions = {},
  ): Promise<T.Result<T.Recorded>> {
    const event = this.#usage.withKey(input, options.idempotencyKey)
    // One key is enough, and one in the event holds in whichever request it comes.
    const key = event.idempotencyKey === undefined ? (options.idempotencyKey ?? newKey()) : undefined
    const request = { signal: options.signal, idempotencyKey: key }
    const recorded = await this.#usage.record([event], options.signal, async () =>
      listOf(await this.#calls.send<T.RecordedUsage>('recordUsage', { input: event }, request)),
    )
    return oneOf(recorded)
  }

  /** Several events at once, at most 100, in their order; each stands for itself. */
  recordUsages(
    inputs: readonly T.CreateUsageEventInput[],
    options: MutationOptions = {},
  ): Promise<T.Result<T.Recorded[]>> {
    const { signal, idempotencyKey: key } = options
    // Derived from the request's key, so that the same call again is the same request.
    const events = inputs.map((input, i) => this.#usage.withKey(input, key && `${key}:${i}`))
    const send = () => this.#calls.call<T.RecordedUsage[]>('recordUsages', { inputs: events }, options)
    return this.#usage.record(events, signal, send)
  }

  /** A token with which this user's browser asks for itself. */
  generateUserToken(
    args: { userId: string },
    options?: MutationOptions,
  ): Promise<T.Result<T.GeneratedUserToken>> {
    return this.#calls.call('generateUserToken', args, options)
  }

  /**
   * Any other document. `data` may come together with an `error`, the first of several. It carries an
   * Idempotency-Key, which the service heeds for mutations.
   */
  async graphql<Data = Record<string, unknown>, Variables extends object = Record<string, unknown>>(
    query: string,
    variables?: Variables,
    { signal, idempotencyKey = newKey() }: MutationOptions = {},
  ): Promise<{ data: Data | null; error: TollgateError | null }> {
    const { data, error } = await this.#transport.send({ query, variables, signal, idempotencyKey })
    return { data: data as Data | null, error }
  }

  /** Sends queued usage now. Resolves with how many events still wait: 0 unless the service is unreachable. */
  flush(): Promise<{ waiting: number }> {
    return this.#usage.flush()
  }

  /** Flushes once more and lets go of the queue's file. Events that wait in memory are lost with the process. */
  close(): Promise<{ waiting: number }> {
    return this.#usage.close()
  }
}

interface PackagesArguments extends T.Paging {
  /** @default 'PUBLISHED' */
  status?: T.PackageStatus | undefined
  /** @default false */
  includeFeatures?: boolean | undefined
}
