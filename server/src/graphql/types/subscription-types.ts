import { SUBSCRIPTION_STATUSES } from '../../domain/subscription.ts'
import type { PackageSubscription } from '../../operations/subscriptions/subscriptions.ts'
import type { Builder } from './builder.ts'
import type { defineCatalogueTypes } from './catalogue-types.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

export function defineSubscriptionTypes<Context extends object>(
  builder: Builder<Context>,
  packageRef: ReturnType<typeof defineCatalogueTypes<Context>>['package'],
) {
  const subscriptionStatus = builder.enumType('SubscriptionStatus', { values: SUBSCRIPTION_STATUSES })
  const scheduledChange = builder
    .objectRef<NonNullable<PackageSubscription['scheduled']>>('ScheduledChange')
    .implement({
      fields: (t) => ({
        packageId: t.exposeString('packageId'),
        packageName: t.exposeString('packageName'),
        at: t.string({ resolve: (change) => isoTime(change.at) }),
      }),
    })
  return builder.objectRef<PackageSubscription>('PackageSubscription').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      userId: t.exposeString('userId'),
      status: t.expose('status', { type: subscriptionStatus }),
      package: t.expose('package', { type: packageRef }),
      metadata: t.expose('metadata', { type: 'JSON' }),
      startedAt: t.string({ resolve: (s) => isoTime(s.startedAt) }),
      cancelAt: t.string({
        nullable: true,
        description: 'Time at which the subscription is scheduled to end. The status is ACTIVE until then.',
        resolve: (s) => isoTimeOrNull(s.cancelAt),
      }),
      cancelledAt: t.string({ nullable: true, resolve: (s) => isoTimeOrNull(s.cancelledAt) }),
      trialEndsAt: t.string({
        nullable: true,
        description: 'End of the trial; null if the subscription is not a trial.',
        resolve: (s) => isoTimeOrNull(s.trialEndsAt),
      }),
      quantity: t.exposeInt('quantity', {
        description: 'Quantity, by which the limits of the package are multiplied.',
      }),
      packageVersion: t.exposeInt('packageVersion', {
        description: 'Version of the package that currently applies.',
      }),
      scheduled: t.expose('scheduled', {
        type: scheduledChange,
        nullable: true,
        description: 'Scheduled change of the subscription, if any.',
      }),
    }),
  })
}
