import { checkOptions, refused } from './arguments.ts'
import { BackendTransport } from './backend-transport.ts'
import type * as A from './call-arguments.ts'
import { Calls, listOf, newKey, oneOf } from './calls.ts'
import { type CallError, mayHaveHappened } from './errors.ts'
import type { CallOptions, MutationOptions, TollgateOptions } from './options.ts'
import { Checks } from './outage/checks.ts'
import { Usage } from './outage/usage.ts'
import { entriesOf, type PageSize } from './pages.ts'
import { refuseBrowser, settingsOf } from './settings.ts'
import type * as T from './types.ts'

/**
 * The client for an application's backend. A method takes its operation's arguments by name (one whose only argument
 * is `input` takes the input itself), then options; it returns `{ data, error }` and never throws.
 *
 * @example
 * const tollgate = new Tollgate({ apiKey: '…' })
 * const { data, error } = await tollgate.canUseFeature({ userId: 'ada', featureId: 'api-calls' })
 */
export class Tollgate {
  readonly #transport: BackendTransport
  readonly #calls: Calls
  readonly #checks: Checks
  readonly #usage: Usage

  /** Throws when an option is invalid or missing. */
  constructor(options: TollgateOptions = {}) {
    refuseBrowser(options)
    const { url, apiKey } = settingsOf(options)
    this.#transport = new BackendTransport(url, apiKey, options)
    this.#calls = new Calls(this.#transport)
    this.#checks = new Checks(options.cache, options.fallback, () => performance.now())
    this.#usage = new Usage(options.queue, this.#calls, this.#transport, this.#checks)
  }

  /** One feature. `FEATURE_NOT_FOUND` where there is none with this id. */
  feature(args: A.ById, options?: CallOptions): Promise<T.Result<T.Feature>> {
    return this.#calls.call('feature', args, options)
  }

  /** All features, oldest first, or a page of them. */
  features(args: A.Paging = {}, options?: CallOptions): Promise<T.Result<T.Feature[]>> {
    return this.#calls.call('features', args, options)
  }

  /** All features, oldest first, read page by page while they are iterated over. An error is thrown. */
  allFeatures(args?: PageSize, options?: CallOptions): AsyncGenerator<T.Feature, void, undefined> {
    return entriesOf(args, (page) => this.features(page, options))
  }

  /** Whether the user can use this much of the feature. `delta` is 1 by default. An unknown user or feature is denied, with the reason. */
  async canUseFeature(args: A.CanUseFeatureArguments, options?: CallOptions): Promise<T.Result<T.Check>> {
    const refusal = await this.#calls.refusal('canUseFeature', args, options)
    if (refusal) return refusal
    const { userId, featureId } = args
    const delta = args.delta ?? 1
    const checks = await this.#checks.check(userId, [featureId], delta, async () =>
      listOf(
        await this.#calls.call<T.CanUseFeatureData>('canUseFeature', { userId, featureId, delta }, options),
      ),
    )
    return oneOf(checks)
  }

  /** Several features at once, at most 100, in their order, each for a `delta` of 1. */
  async canUseFeatures(args: A.CanUseFeaturesArguments, options?: CallOptions): Promise<T.Result<T.Check[]>> {
    const refusal = await this.#calls.refusal('canUseFeatures', args, options)
    if (refusal) return refusal
    const { userId } = args
    return this.#checks.check(userId, args.featureIds, 1, (featureIds) =>
      this.#calls.call('canUseFeatures', { userId, featureIds }, options),
    )
  }

  /** The current period's usage; null where the feature is not counted for this user. */
  async showUsage(args: A.ByUserAndFeature, options?: CallOptions): Promise<T.Result<T.UsagePeriod | null>> {
    const { data, error } = await this.#calls.call<{ current: T.UsagePeriod | null }>(
      'showUsage',
      args,
      options,
    )
    return error ? { data: null, error } : { data: data.current, error }
  }

  /** One package, with its features if `includeFeatures` is true; by default without. */
  package(
    args: A.ById & { includeFeatures: true },
    options?: CallOptions,
  ): Promise<T.Result<T.PackageWithFeatures>>
  /** One package, with its features if `includeFeatures` is true; by default without. */
  package(args: A.ById & A.IncludeFeatures, options?: CallOptions): Promise<T.Result<T.Package>>
  package(args: A.ById & A.IncludeFeatures, options?: CallOptions): Promise<T.Result<T.Package>> {
    return this.#calls.call('package', withFeatures(args), options)
  }

  /** Packages with this `status`, PUBLISHED by default; with their features if `includeFeatures` is true. */
  packages(
    args: A.Paging & A.PackagesArguments & { includeFeatures: true },
    options?: CallOptions,
  ): Promise<T.Result<T.PackageWithFeatures[]>>
  /** Packages with this `status`, PUBLISHED by default; with their features if `includeFeatures` is true. */
  packages(args?: A.Paging & A.PackagesArguments, options?: CallOptions): Promise<T.Result<T.Package[]>>
  packages(args: A.Paging & A.PackagesArguments = {}, options?: CallOptions): Promise<T.Result<T.Package[]>> {
    return this.#calls.call('packages', withFeatures(args), options)
  }

  /** As `packages`, read page by page while they are iterated over. An error is thrown. */
  allPackages(
    args: PageSize & A.PackagesArguments & { includeFeatures: true },
    options?: CallOptions,
  ): AsyncGenerator<T.PackageWithFeatures, void, undefined>
  /** As `packages`, read page by page while they are iterated over. An error is thrown. */
  allPackages(
    args?: PageSize & A.PackagesArguments,
    options?: CallOptions,
  ): AsyncGenerator<T.Package, void, undefined>
  allPackages(
    args?: PageSize & A.PackagesArguments,
    options?: CallOptions,
  ): AsyncGenerator<T.Package, void, undefined> {
    const { status, includeFeatures } = args ?? {}
    return entriesOf(args, (page) => this.packages({ ...page, status, includeFeatures }, options))
  }

  /** One user. `USER_NOT_FOUND` where there is none with this id. */
  user(args: A.ById, options?: CallOptions): Promise<T.Result<T.User>> {
    return this.#calls.call('user', args, options)
  }

  /** All users, oldest first, or a page of them. */
  users(args: A.Paging = {}, options?: CallOptions): Promise<T.Result<T.User[]>> {
    return this.#calls.call('users', args, options)
  }

  /**
   * All users, oldest first, read page by page while they are iterated over. An error is thrown.
   *
   * @example
   * for await (const user of tollgate.allUsers()) console.log(user.id)
   */
  allUsers(args?: PageSize, options?: CallOptions): AsyncGenerator<T.User, void, undefined> {
    return entriesOf(args, (page) => this.users(page, options))
  }

  /**
   * All that is stored about a user, as JSON.
   *
   * @example
   * for (let after: string | null | undefined; after !== null; ) {
   *   const { data, error } = await tollgate.exportUser({ id: 'ada', after })
   *   if (error) throw error
   *   save(data)
   *   after = data.next
   * }
   */
  exportUser(args: A.ExportUserArguments, options?: CallOptions): Promise<T.Result<T.UserExport>> {
    return this.#calls.call('exportUser', args, options)
  }

  /** One subscription. `SUBSCRIPTION_NOT_FOUND` where there is none with this id. */
  subscription(args: A.ById, options?: CallOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#calls.call('subscription', args, options)
  }

  /** A user's subscriptions, oldest first; without `userId`, all. */
  subscriptions(
    args: A.Paging & A.SubscriptionsArguments = {},
    options?: CallOptions,
  ): Promise<T.Result<T.PackageSubscription[]>> {
    return this.#calls.call('subscriptions', args, options)
  }

  /** As `subscriptions`, read page by page while they are iterated over. An error is thrown. */
  allSubscriptions(
    args?: PageSize & A.SubscriptionsArguments,
    options?: CallOptions,
  ): AsyncGenerator<T.PackageSubscription, void, undefined> {
    return entriesOf(args, (page) => this.subscriptions({ ...page, userId: args?.userId }, options))
  }

  /** Creates a feature. Its `id` is yours to choose. */
  createFeature(input: T.CreateFeatureInput, options?: MutationOptions): Promise<T.Result<T.Feature>> {
    return this.#calls.call('createFeature', { input }, options)
  }

  /** Changes the fields in `input`. */
  updateFeature(
    args: A.Update<T.UpdateFeatureInput>,
    options?: MutationOptions,
  ): Promise<T.Result<T.Feature>> {
    return this.#calls.call('updateFeature', args, options)
  }

  /** Creates a package, which is a DRAFT until it is published in the dashboard. */
  createPackage(
    input: T.CreatePackageInput,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageWithFeatures>> {
    return this.#calls.call('createPackage', { input }, options)
  }

  /** Changes the metadata; everything else is changed in the dashboard. */
  updatePackage(
    args: A.Update<T.UpdatePackageInput>,
    options?: MutationOptions,
  ): Promise<T.Result<T.Package>> {
    return this.#calls.call('updatePackage', args, options)
  }

  /** Creates a user. Their `id` is yours to choose. */
  createUser(input: T.CreateUserInput, options?: MutationOptions): Promise<T.Result<T.User>> {
    return this.#ofUser(input?.id, this.#calls.call('createUser', { input }, options))
  }

  /** Changes the fields in `input`, including the user's id. */
  async updateUser(args: A.Update<T.UpdateUserInput>, options?: MutationOptions): Promise<T.Result<T.User>> {
    const result = await this.#calls.call<T.User>('updateUser', args, options)
    for (const id of [args?.id, args?.input?.id]) if (id !== undefined) this.#checks.changed(id)
    return result
  }

  /**
   * Deletes a user for good: what they pay for is cancelled at its provider, then they are erased everywhere. What was
   * used stays in the sums. It cannot be undone.
   */
  deleteUser(args: A.ById, options?: MutationOptions): Promise<T.Result<T.DeletedUser>> {
    return this.#ofUser(args?.id, this.#calls.call('deleteUser', args, options))
  }

  /** Subscribes to a base plan and add-ons: all or nothing. */
  subscribe(
    args: A.SubscribeArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageSubscription[]>> {
    return this.#ofUser(args?.userId, this.#calls.call('subscribe', args, options))
  }

  /**
   * Cancels a subscription, at the end of its period or now (`atPeriodEnd: false`). A base plan's add-ons end with it.
   * What is paid for is cancelled at its provider too.
   */
  cancelSubscription(
    args: A.CancelArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageSubscription>> {
    return this.#changed(this.#calls.call('cancelSubscription', args, options))
  }

  /** Undoes a scheduled cancellation. A subscription that has ended stays ended. */
  keepSubscription(args: A.ById, options?: MutationOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#changed(this.#calls.call('keepSubscription', args, options))
  }

  /** A migration as it stands now. `MIGRATION_NOT_FOUND` where there is none with this id. */
  migration(args: A.ById, options?: CallOptions): Promise<T.Result<T.Migration>> {
    return this.#calls.call('migration', args, options)
  }

  /**
   * Moves everybody who has one version of a package to another, now or each at the end of their period. With `dryRun`
   * it only counts who would gain and lose.
   */
  async migrateSubscriptions(
    args: A.MigrateArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.Migration>> {
    const result = await this.#calls.call<T.Migration>('migrateSubscriptions', args, options)
    this.#checks.allChanged()
    return result
  }

  /** Restores everybody whom the migration moved. A later migration of the package has to be undone first. */
  async undoMigration(args: A.ById, options?: MutationOptions): Promise<T.Result<T.Migration>> {
    const result = await this.#calls.call<T.Migration>('undoMigration', args, options)
    this.#checks.allChanged()
    return result
  }

  /**
   * Changes a user's base plan for another, or its quantity: now, at the end of its period, or whichever is best for
   * them. `dryRun: true` only says what would happen.
   */
  changeSubscription(
    args: A.ChangeArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.SubscriptionChange>> {
    return this.#ofUser(args?.userId, this.#calls.call('changeSubscription', args, options))
  }

  /** Takes a scheduled change back. What would have followed a trial is dropped. */
  cancelScheduledChange(args: A.ByUser, options?: MutationOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#ofUser(args?.userId, this.#calls.call('cancelScheduledChange', args, options))
  }

  /** Starts a trial, for `days` or `until` a time, followed by the package `then` or by nothing. */
  startTrial(args: A.TrialArguments, options?: MutationOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#ofUser(args?.userId, this.#calls.call('startTrial', args, options))
  }

  /** Lets a trial last longer; what follows it waits. */
  extendTrial(
    args: A.ExtendTrialArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageSubscription>> {
    return this.#changed(this.#calls.call('extendTrial', args, options))
  }

  /** Cached checks of the user are stale now, whatever the answer is. */
  async #ofUser<Data>(userId: string, asked: Promise<T.Result<Data>>): Promise<T.Result<Data>> {
    const result = await asked
    this.#checks.changed(userId)
    return result
  }

  /** Cached checks of the subscription's user are stale now; only the answer says who that is. */
  async #changed(asked: Promise<T.Result<T.PackageSubscription>>): Promise<T.Result<T.PackageSubscription>> {
    const result = await asked
    if (result.data) this.#checks.changed(result.data.userId)
    else if (mayHaveHappened(result.error)) this.#checks.allChanged()
    return result
  }

  /** The user's overrides that are in force. `USER_NOT_FOUND` where there is no such user. */
  overrides(args: A.ByUser, options?: CallOptions): Promise<T.Result<T.Override[]>> {
    return this.#calls.call('overrides', args, options)
  }

  /**
   * Makes an exception for one user and feature, which wins over their packages. It replaces the one there is, and
   * keeps its count.
   */
  setOverride(input: T.OverrideInput, options?: MutationOptions): Promise<T.Result<T.Override>> {
    return this.#ofUser(input?.userId, this.#calls.call('setOverride', { input }, options))
  }

  /** Ends an exception. `data` is the override that was in force; null: there was none. */
  removeOverride(args: A.ByUserAndFeature, options?: MutationOptions): Promise<T.Result<T.Override | null>> {
    return this.#ofUser(args?.userId, this.#calls.call('removeOverride', args, options))
  }

  /** Adds to the usage, sets it (`action: 'SET'`), or reverts some (a negative `delta`). */
  async recordUsage(
    input: T.CreateUsageEventInput,
    options?: MutationOptions,
  ): Promise<T.Result<T.Recorded>> {
    const refusal = await this.#calls.refusal('recordUsage', { input }, options)
    if (refusal) return refusal
    const { idempotencyKey, ...request } = options ?? {}
    const event = this.#usage.withKey(input, idempotencyKey)
    // One key is enough, and one in the event works in any request.
    const key = event.idempotencyKey === undefined ? (idempotencyKey ?? newKey()) : undefined
    const recorded = await this.#usage.record([event], request.signal, async () =>
      listOf(
        await this.#calls.send<T.RecordedUsage>(
          'recordUsage',
          { input: event },
          { ...request, idempotencyKey: key },
        ),
      ),
    )
    return oneOf(recorded)
  }

  /** Several events at once, at most 100, in order; each is independent. */
  async recordUsages(
    inputs: readonly T.CreateUsageEventInput[],
    options?: MutationOptions,
  ): Promise<T.Result<T.Recorded[]>> {
    const refusal = await this.#calls.refusal('recordUsages', { inputs }, options)
    if (refusal) return refusal
    const key = options?.idempotencyKey
    // Derived from the request's key, so that the same call again is the same request.
    const events = inputs.map((input, i) => this.#usage.withKey(input, key && `${key}:${i}`))
    const send = () => this.#calls.call<T.RecordedUsage[]>('recordUsages', { inputs: events }, options)
    return this.#usage.record(events, options?.signal, send)
  }

  /** A token for this user's browser, valid for an hour. */
  generateUserToken(args: A.ByUser, options?: MutationOptions): Promise<T.Result<T.GeneratedUserToken>> {
    return this.#calls.call('generateUserToken', args, options)
  }

  /**
   * Any other document. `data` may come together with an `error`, the first of several. It carries an
   * Idempotency-Key, which the service uses for mutations.
   */
  async graphql<Data = Record<string, unknown>, Variables extends object = Record<string, unknown>>(
    query: string,
    variables?: Variables,
    options?: MutationOptions,
  ): Promise<{ data: Data | null; error: CallError | null }> {
    const refusal = await this.#calls.refusalBy(() => {
      if (typeof query !== 'string') throw refused('query', 'query must be a string', query)
      checkOptions(options)
    })
    if (refusal) return refusal
    const { idempotencyKey = newKey(), ...request } = options ?? {}
    const { data, error } = await this.#transport.request({ ...request, query, variables, idempotencyKey })
    return { data: data as Data | null, error }
  }

  /** Sends queued usage now. Resolves with the number of events still waiting: 0 unless the service is unreachable. */
  flush(): Promise<{ waiting: number }> {
    return this.#usage.flush()
  }

  /** Flushes once more and releases the queue's file. Events waiting in memory are lost with the process. */
  close(): Promise<{ waiting: number }> {
    return this.#usage.close()
  }
}

/** The variable that makes the document include features. */
const withFeatures = (args: A.IncludeFeatures): object =>
  isArguments(args) ? { ...args, includeFeatures: args.includeFeatures ?? false } : args

const isArguments = (args: unknown): boolean => typeof args === 'object' && args !== null
