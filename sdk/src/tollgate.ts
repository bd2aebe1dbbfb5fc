import { checkArguments, checkOptions, refused } from './arguments.ts'
import { BackendTransport } from './backend-transport.ts'
import type * as A from './call-arguments.ts'
import { Calls, listOf, newKey, oneOf } from './calls.ts'
import { DETAILED_CHECK, DOCUMENTS } from './documents.ts'
import { type CallError, mayHaveHappened } from './errors.ts'
import { EventStream } from './event-stream.ts'
import type { LiveReservation } from './live-reservation.ts'
import type { CallOptions, MutationOptions, TollgateOptions } from './options.ts'
import { Checks } from './outage/checks.ts'
import { Usage } from './outage/usage.ts'
import { entriesOf, type PageSize } from './pages.ts'
import { refuseBrowser, settingsOf } from './settings.ts'
import type * as T from './types.ts'
import { withReservation } from './with-reservation.ts'

/**
 * Client for an application's backend. Each method takes the arguments of its operation as an object (or the `input`
 * itself if that is the only argument), followed by options. It returns `{ data, error }` and never throws.
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

  /** Throws if an option is invalid or missing. */
  constructor(options: TollgateOptions = {}) {
    refuseBrowser(options)
    const { url, apiKey } = settingsOf(options)
    this.#transport = new BackendTransport(url, apiKey, options)
    this.#calls = new Calls(this.#transport)
    this.#checks = new Checks(options.cache, options.fallback, () => performance.now())
    this.#usage = new Usage(options.queue, this.#calls, this.#transport, this.#checks)
  }

  /** Returns a feature, or the error `FEATURE_NOT_FOUND`. */
  feature(args: A.ById, options?: CallOptions): Promise<T.Result<T.Feature>> {
    return this.#calls.call('feature', args, options)
  }

  /** Returns all features, oldest first, or one page of them. */
  features(args: A.Paging = {}, options?: CallOptions): Promise<T.Result<T.Feature[]>> {
    return this.#calls.call('features', args, options)
  }

  /** Iterates over all features, oldest first, fetching page by page. Throws on error. */
  allFeatures(args?: PageSize, options?: CallOptions): AsyncGenerator<T.Feature, void, undefined> {
    return entriesOf(args, (page) => this.features(page, options))
  }

  /**
   * Checks whether a user can use a feature. `delta` defaults to 1. Access is denied for an unknown user or feature. With
   * `includeSources`, the result has the sources that would pay and the limit that denied access.
   */
  async canUseFeature(args: A.CanUseFeatureArguments, options?: CallOptions): Promise<T.Result<T.Check>> {
    const refusal = await this.#calls.refusal('canUseFeature', args, options)
    if (refusal) return refusal
    const { userId, featureId, entities, includeSources } = args
    const delta = args.delta ?? 1
    const asked = { userId, featureId, delta, ...(entities && { entities }) }
    const query = includeSources === true ? DETAILED_CHECK : DOCUMENTS.canUseFeature
    const checks = await this.#checks.check(
      { userId, featureIds: [featureId], delta, entities, includeSources },
      async () => listOf(await this.#calls.call<T.CanUseFeatureData>('canUseFeature', asked, options, query)),
    )
    return oneOf(checks)
  }

  /** Checks up to 100 features in one call, each for a `delta` of 1. Results keep the order of `featureIds`. */
  async canUseFeatures(args: A.CanUseFeaturesArguments, options?: CallOptions): Promise<T.Result<T.Check[]>> {
    const refusal = await this.#calls.refusal('canUseFeatures', args, options)
    if (refusal) return refusal
    const { userId } = args
    return this.#checks.check({ userId, featureIds: args.featureIds, delta: 1 }, (featureIds) =>
      this.#calls.call('canUseFeatures', { userId, featureIds }, options),
    )
  }

  /** Returns the usage of the current period, or null if the feature is not metered for this user. */
  async showUsage(args: A.ByUserAndFeature, options?: CallOptions): Promise<T.Result<T.UsagePeriod | null>> {
    const { data, error } = await this.#calls.call<{ current: T.UsagePeriod | null }>(
      'showUsage',
      args,
      options,
    )
    return error ? { data: null, error } : { data: data.current, error }
  }

  /** Returns the recorded usage of a feature over time, by one user or by all users. */
  usageSeries(args: A.UsageSeriesArguments, options?: CallOptions): Promise<T.Result<T.UsageSeries>> {
    return this.#calls.call('usageSeries', args, options)
  }

  /** Returns a package, with its features if `includeFeatures` is true. */
  package(
    args: A.ById & { includeFeatures: true },
    options?: CallOptions,
  ): Promise<T.Result<T.PackageWithFeatures>>
  /** Returns a package, with its features if `includeFeatures` is true. */
  package(args: A.ById & A.IncludeFeatures, options?: CallOptions): Promise<T.Result<T.Package>>
  package(args: A.ById & A.IncludeFeatures, options?: CallOptions): Promise<T.Result<T.Package>> {
    return this.#calls.call('package', withFeatures(args), options)
  }

  /** Returns packages by `status` (default: PUBLISHED), with their features if `includeFeatures` is true. */
  packages(
    args: A.Paging & A.PackagesArguments & { includeFeatures: true },
    options?: CallOptions,
  ): Promise<T.Result<T.PackageWithFeatures[]>>
  /** Returns packages by `status` (default: PUBLISHED), with their features if `includeFeatures` is true. */
  packages(args?: A.Paging & A.PackagesArguments, options?: CallOptions): Promise<T.Result<T.Package[]>>
  packages(args: A.Paging & A.PackagesArguments = {}, options?: CallOptions): Promise<T.Result<T.Package[]>> {
    return this.#calls.call('packages', withFeatures(args), options)
  }

  /** Iterates over packages as returned by `packages`, fetching page by page. Throws on error. */
  allPackages(
    args: PageSize & A.PackagesArguments & { includeFeatures: true },
    options?: CallOptions,
  ): AsyncGenerator<T.PackageWithFeatures, void, undefined>
  /** Iterates over packages as returned by `packages`, fetching page by page. Throws on error. */
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

  /** Returns a user, or the error `USER_NOT_FOUND`. */
  user(args: A.ById, options?: CallOptions): Promise<T.Result<T.User>> {
    return this.#calls.call('user', args, options)
  }

  /** Returns all users, oldest first, or one page of them. */
  users(args: A.Paging = {}, options?: CallOptions): Promise<T.Result<T.User[]>> {
    return this.#calls.call('users', args, options)
  }

  /**
   * Iterates over all users, oldest first, fetching page by page. Throws on error.
   *
   * @example
   * for await (const user of tollgate.allUsers()) console.log(user.id)
   */
  allUsers(args?: PageSize, options?: CallOptions): AsyncGenerator<T.User, void, undefined> {
    return entriesOf(args, (page) => this.users(page, options))
  }

  /**
   * Exports all data stored about a user as JSON, in pages.
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

  /**
   * Returns events in the order of their publication. Iterate over the result for all events after `after`, and then those
   * that happen; or await it for one page. Store the `cursor` of an event and pass it as `after` to resume after it.
   *
   * @example
   * for await (const event of tollgate.events({ after: stored, types: ['subscription.ended'] })) {
   *   await handle(event)
   *   stored = event.cursor
   * }
   */
  events(args: A.EventsArguments = {}, options?: CallOptions): EventStream {
    const read = (some: A.EventsArguments) => this.#calls.call<T.EventPage>('events', some, options)
    return new EventStream(args, read, options?.signal)
  }

  /** Returns a subscription, or the error `SUBSCRIPTION_NOT_FOUND`. */
  subscription(args: A.ById, options?: CallOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#calls.call('subscription', args, options)
  }

  /** Returns the subscriptions of a user, or all subscriptions without `userId`, oldest first. */
  subscriptions(
    args: A.Paging & A.SubscriptionsArguments = {},
    options?: CallOptions,
  ): Promise<T.Result<T.PackageSubscription[]>> {
    return this.#calls.call('subscriptions', args, options)
  }

  /** Iterates over subscriptions as returned by `subscriptions`, fetching page by page. Throws on error. */
  allSubscriptions(
    args?: PageSize & A.SubscriptionsArguments,
    options?: CallOptions,
  ): AsyncGenerator<T.PackageSubscription, void, undefined> {
    return entriesOf(args, (page) => this.subscriptions({ ...page, userId: args?.userId }, options))
  }

  /** Creates a feature with an `id` of your choice. */
  createFeature(input: T.CreateFeatureInput, options?: MutationOptions): Promise<T.Result<T.Feature>> {
    return this.#calls.call('createFeature', { input }, options)
  }

  /** Updates the fields of a feature that are present in `input`. */
  updateFeature(
    args: A.Update<T.UpdateFeatureInput>,
    options?: MutationOptions,
  ): Promise<T.Result<T.Feature>> {
    return this.#calls.call('updateFeature', args, options)
  }

  /** Creates a package. It is a DRAFT until it is published in the dashboard. */
  createPackage(
    input: T.CreatePackageInput,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageWithFeatures>> {
    return this.#calls.call('createPackage', { input }, options)
  }

  /** Updates the metadata of a package. All other changes are made in the dashboard. */
  updatePackage(
    args: A.Update<T.UpdatePackageInput>,
    options?: MutationOptions,
  ): Promise<T.Result<T.Package>> {
    return this.#calls.call('updatePackage', args, options)
  }

  /** Creates a user with an `id` of your choice. */
  createUser(input: T.CreateUserInput, options?: MutationOptions): Promise<T.Result<T.User>> {
    return this.#ofUser(input?.id, this.#calls.call('createUser', { input }, options))
  }

  /** Updates the fields of a user that are present in `input`, including the `id`. */
  async updateUser(args: A.Update<T.UpdateUserInput>, options?: MutationOptions): Promise<T.Result<T.User>> {
    const result = await this.#calls.call<T.User>('updateUser', args, options)
    for (const id of [args?.id, args?.input?.id]) if (id !== undefined) this.#checks.changed(id)
    return result
  }

  /**
   * Permanently deletes a user and their personal data. Paid subscriptions are first cancelled at the billing
   * provider. Usage totals are kept without a reference to the user.
   */
  deleteUser(args: A.ById, options?: MutationOptions): Promise<T.Result<T.DeletedUser>> {
    return this.#ofUser(args?.id, this.#calls.call('deleteUser', args, options))
  }

  /** Subscribes a user to a base plan, add-ons, or both. Either all packages are subscribed or none. */
  subscribe(
    args: A.SubscribeArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageSubscription[]>> {
    return this.#ofUser(args?.userId, this.#calls.call('subscribe', args, options))
  }

  /**
   * Cancels a subscription at the end of its period, or immediately with `atPeriodEnd: false`. Cancelling a base plan
   * also cancels its add-ons. Paid subscriptions are also cancelled at the billing provider.
   */
  cancelSubscription(
    args: A.CancelArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.PackageSubscription>> {
    return this.#changed(this.#calls.call('cancelSubscription', args, options))
  }

  /** Reverts a scheduled cancellation. A subscription that has ended cannot be restored. */
  keepSubscription(args: A.ById, options?: MutationOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#changed(this.#calls.call('keepSubscription', args, options))
  }

  /** Returns the current state of a migration, or the error `MIGRATION_NOT_FOUND`. */
  migration(args: A.ById, options?: CallOptions): Promise<T.Result<T.Migration>> {
    return this.#calls.call('migration', args, options)
  }

  /**
   * Moves subscriptions from one version of a package to another, immediately or at the end of each subscription's
   * period. With `dryRun`, only returns how many subscriptions would gain or lose access.
   */
  async migrateSubscriptions(
    args: A.MigrateArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.Migration>> {
    const result = await this.#calls.call<T.Migration>('migrateSubscriptions', args, options)
    this.#checks.allChanged()
    return result
  }

  /** Undoes a migration for all subscriptions it moved. Later migrations of the same package must be undone first. */
  async undoMigration(args: A.ById, options?: MutationOptions): Promise<T.Result<T.Migration>> {
    const result = await this.#calls.call<T.Migration>('undoMigration', args, options)
    this.#checks.allChanged()
    return result
  }

  /**
   * Changes a user's base plan or its quantity: immediately, at the end of the period, or whichever is better for the
   * user. With `dryRun`, returns the result without changing anything.
   */
  changeSubscription(
    args: A.ChangeArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.SubscriptionChange>> {
    return this.#ofUser(args?.userId, this.#calls.call('changeSubscription', args, options))
  }

  /** Cancels a scheduled change of plan, including a package scheduled to follow a trial. */
  cancelScheduledChange(args: A.ByUser, options?: MutationOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#ofUser(args?.userId, this.#calls.call('cancelScheduledChange', args, options))
  }

  /**
   * Starts a trial that lasts for `days` or `until` a time. Afterwards the user is subscribed to the package `then`,
   * if given.
   */
  startTrial(args: A.TrialArguments, options?: MutationOptions): Promise<T.Result<T.PackageSubscription>> {
    return this.#ofUser(args?.userId, this.#calls.call('startTrial', args, options))
  }

  /** Extends a trial. A package scheduled to follow it is delayed accordingly. */
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

  /** Cached checks of the object's user are stale now; only the answer says who that is. */
  async #changed<Data extends { userId: string }>(asked: Promise<T.Result<Data>>): Promise<T.Result<Data>> {
    const result = await asked
    if (result.data) this.#checks.changed(result.data.userId)
    else if (result.error && mayHaveHappened(result.error)) this.#checks.allChanged()
    return result
  }

  /** Returns the overrides of a user that are currently in force, or the error `USER_NOT_FOUND`. */
  overrides(args: A.ByUser, options?: CallOptions): Promise<T.Result<T.Override[]>> {
    return this.#calls.call('overrides', args, options)
  }

  /**
   * Sets an override for a user and feature, which takes precedence over the user's packages. It replaces an existing
   * override and keeps the recorded usage.
   */
  setOverride(input: T.OverrideInput, options?: MutationOptions): Promise<T.Result<T.Override>> {
    return this.#ofUser(input?.userId, this.#calls.call('setOverride', { input }, options))
  }

  /** Removes an override. `data` is the removed override, or null if there was none. */
  removeOverride(args: A.ByUserAndFeature, options?: MutationOptions): Promise<T.Result<T.Override | null>> {
    return this.#ofUser(args?.userId, this.#calls.call('removeOverride', args, options))
  }

  /** Returns the credits of a user, oldest first. */
  credits(args: A.CreditsArguments, options?: CallOptions): Promise<T.Result<T.Credit[]>> {
    return this.#calls.call('credits', args, options)
  }

  /** Adds units of a consumable feature that the user can use in addition to the plan. */
  addCredit(input: T.CreditInput, options?: MutationOptions): Promise<T.Result<T.Credit>> {
    return this.#ofUser(input?.userId, this.#calls.call('addCredit', { input }, options))
  }

  /** Voids a credit: its remaining units can no longer be used. Live reservations keep what they hold of it. */
  voidCredit(args: A.VoidCreditArguments, options?: MutationOptions): Promise<T.Result<T.Credit>> {
    return this.#changed(this.#calls.call('voidCredit', args, options))
  }

  /** Generates a payment link for credits. They are added once the user has paid. */
  generateCreditLink(
    args: A.GenerateCreditLinkArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.CreditLink>> {
    return this.#calls.call('generateCreditLink', args, options)
  }

  /** Returns the automatic recharges of a user, by feature. */
  autoRecharges(args: A.AutoRechargesArguments, options?: CallOptions): Promise<T.Result<T.AutoRecharge[]>> {
    return this.#calls.call('autoRecharges', args, options)
  }

  /**
   * Buys credits with the saved card of a user whenever fewer than `below` are left. If fewer are left now, it charges at
   * once.
   */
  setAutoRecharge(input: T.AutoRechargeInput, options?: MutationOptions): Promise<T.Result<T.AutoRecharge>> {
    return this.#calls.call('setAutoRecharge', { input }, options)
  }

  /** Removes an automatic recharge; null if there was none. A charge under way is completed. */
  removeAutoRecharge(
    args: A.RemoveAutoRechargeArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.AutoRecharge | null>> {
    return this.#calls.call('removeAutoRecharge', args, options)
  }

  /** Returns the caps of a user, by feature, entity and period. */
  caps(args: A.CapsArguments, options?: CallOptions): Promise<T.Result<T.Cap[]>> {
    return this.#calls.call('caps', args, options)
  }

  /** Limits the usage of a feature in windows of the UTC calendar. Changing the limit of a cap keeps its count. */
  setCap(input: T.CapInput, options?: MutationOptions): Promise<T.Result<T.Cap>> {
    return this.#ofUser(input?.userId, this.#calls.call('setCap', { input }, options))
  }

  /** Removes a cap; null if there was none. */
  removeCap(args: A.RemoveCapArguments, options?: MutationOptions): Promise<T.Result<T.Cap | null>> {
    return this.#ofUser(args?.userId, this.#calls.call('removeCap', args, options))
  }

  /** Returns the reservations of a user, oldest first. */
  reservations(args: A.ReservationsArguments, options?: CallOptions): Promise<T.Result<T.Reservation[]>> {
    return this.#calls.call('reservations', args, options)
  }

  /**
   * Holds units of a feature until they are settled or released, or the reservation expires. If too few are left,
   * `reserved` is 0 and `reason` says why.
   */
  reserveUsage(input: T.ReservationInput, options?: MutationOptions): Promise<T.Result<T.Reservation>> {
    return this.#ofUser(input?.userId, this.#calls.call('reserveUsage', { input }, options))
  }

  /** Postpones the expiry of a live reservation to `ttlSeconds` from now, adds units to it, or both. */
  extendReservation(
    args: A.ExtendReservationArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.Reservation>> {
    return this.#changed(this.#calls.call('extendReservation', args, options))
  }

  /** Records the use of reserved units. A final settlement returns the rest. */
  settleReservation(
    args: A.SettleReservationArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.Reservation>> {
    return this.#changed(this.#calls.call('settleReservation', args, options))
  }

  /** Releases a reservation and returns what it holds. */
  releaseReservation(args: A.ById, options?: MutationOptions): Promise<T.Result<T.Reservation>> {
    return this.#changed(this.#calls.call('releaseReservation', args, options))
  }

  /**
   * Reserves `amount` units, runs `work` and settles the units that `work` counted with `reservation.add`. The reservation
   * is extended by as many units whenever it runs out, and does not expire while `work` runs. If `work` throws, what it
   * had counted is settled, the rest is released, and the error is thrown. Without room, `work` does not run.
   *
   * @example
   * const { data, error } = await tollgate.withReservation(
   *   { userId: 'ada', featureId: 'tokens', amount: 500, atLeast: 1 },
   *   async (reservation) => {
   *     for await (const token of answer()) {
   *       send(token)
   *       if (!(await reservation.add(1))) break // no room for another
   *     }
   *   },
   * )
   * if (data?.reserved === false) refuse(data.reason)
   */
  withReservation<Value>(
    args: A.WithReservationArguments,
    work: (reservation: LiveReservation) => Value | Promise<Value>,
    options?: CallOptions,
  ): Promise<T.Result<T.ReservedWork<Value>>> {
    const client = { calls: this.#calls, changed: (userId: string) => this.#checks.changed(userId) }
    return withReservation(client, args, work, options)
  }

  /** Records usage: adds `delta`, reverts usage if `delta` is negative, or sets it with `action: 'SET'`. */
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

  /**
   * Returns exactly what an earlier event or reservation took, to the same sources. `revertOf` is the event's
   * `idempotencyKey`, or the id of a reservation that has ended. Repeated calls have the same answer and no further effect.
   */
  async revertUsage(input: T.RevertUsageInput, options?: MutationOptions): Promise<T.Result<T.Recorded>> {
    const event = { ...input, delta: 0 }
    const refusal = await this.#calls.refusalBy(() => {
      checkArguments('recordUsage', { input: event })
      if (typeof event.revertOf !== 'string')
        throw refused('revertOf', 'revertOf must be a string', event.revertOf)
      checkOptions(options)
    })
    if (refusal) return refusal
    return oneOf(await this.#usage.revert(event, options))
  }

  /** Records up to 100 usage events in one call, in order. Each event succeeds or fails on its own. */
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

  /** Returns the webhook endpoints of the app, oldest first. */
  webhookEndpoints(options?: CallOptions): Promise<T.Result<T.WebhookEndpoint[]>> {
    return this.#calls.call('webhookEndpoints', {}, options)
  }

  /** Creates a webhook endpoint. It receives events from now on, which `verifyWebhook` verifies with the `secret`. */
  createWebhookEndpoint(
    input: T.CreateWebhookEndpointInput,
    options?: MutationOptions,
  ): Promise<T.Result<T.WebhookEndpointWithSecret>> {
    return this.#calls.call('createWebhookEndpoint', { input }, options)
  }

  /** Updates the fields of a webhook endpoint that are present in `input`. */
  updateWebhookEndpoint(
    args: A.Update<T.UpdateWebhookEndpointInput>,
    options?: MutationOptions,
  ): Promise<T.Result<T.WebhookEndpoint>> {
    return this.#calls.call('updateWebhookEndpoint', args, options)
  }

  /** Replaces the signing secret of a webhook endpoint. The previous secret signs as well for 24 hours. */
  rotateWebhookSecret(
    args: A.ById,
    options?: MutationOptions,
  ): Promise<T.Result<T.WebhookEndpointWithSecret>> {
    return this.#calls.call('rotateWebhookSecret', args, options)
  }

  /** Deletes a webhook endpoint with its deliveries. */
  deleteWebhookEndpoint(
    args: A.ById,
    options?: MutationOptions,
  ): Promise<T.Result<T.DeletedWebhookEndpoint>> {
    return this.#calls.call('deleteWebhookEndpoint', args, options)
  }

  /** Sends an event of type `webhook.test` to one webhook endpoint. */
  sendTestEvent(args: A.ByEndpoint, options?: MutationOptions): Promise<T.Result<T.TestEvent>> {
    return this.#calls.call('sendTestEvent', args, options)
  }

  /** Returns deliveries to a webhook endpoint, newest first, with their attempts. */
  webhookDeliveries(
    args: A.DeliveriesArguments,
    options?: CallOptions,
  ): Promise<T.Result<T.WebhookDeliveries>> {
    return this.#calls.call('webhookDeliveries', args, options)
  }

  /** Sends events to a webhook endpoint again, or for the first time if it did not exist when they happened. */
  resendEvents(args: A.ResendArguments, options?: MutationOptions): Promise<T.Result<T.ResentEvents>> {
    return this.#calls.call('resendEvents', args, options)
  }

  /** Sends all events again whose delivery to a webhook endpoint failed, oldest first, at most 10,000 per call. */
  resendFailedEvents(
    args: A.ResendFailedArguments,
    options?: MutationOptions,
  ): Promise<T.Result<T.ResentEvents>> {
    return this.#calls.call('resendFailedEvents', args, options)
  }

  /** Generates a token for `TollgateClient` in the user's browser, valid for one hour. */
  generateUserToken(args: A.ByUser, options?: MutationOptions): Promise<T.Result<T.GeneratedUserToken>> {
    return this.#calls.call('generateUserToken', args, options)
  }

  /**
   * Sends any GraphQL document. The result may contain both `data` and `error`, which is the first of the errors.
   * The request carries an Idempotency-Key, which the service uses for mutations.
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

  /** Sends queued usage now. Resolves with the number of events still queued: 0 unless the service is unreachable. */
  flush(): Promise<{ waiting: number }> {
    return this.#usage.flush()
  }

  /** Flushes the queue a last time and releases its file. Events still queued in memory are lost when the process exits. */
  close(): Promise<{ waiting: number }> {
    return this.#usage.close()
  }
}

/** The variable that makes the document include features. */
const withFeatures = (args: A.IncludeFeatures): object =>
  isArguments(args) ? { ...args, includeFeatures: args.includeFeatures ?? false } : args

const isArguments = (args: unknown): boolean => typeof args === 'object' && args !== null
