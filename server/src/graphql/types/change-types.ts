import { CHANGE_TIMES } from '../../domain/change-time.ts'
import type { FeatureAccessChange } from '../../operations/subscriptions/change-preview.ts'
import type { SubscriptionChange } from '../../operations/subscriptions/change-subscription.ts'
import type { Builder } from './builder.ts'
import type { defineCatalogueTypes } from './catalogue-types.ts'
import type { defineSubscriptionTypes } from './subscription-types.ts'
import { isoTime } from './time.ts'
import type { defineUsageTypes } from './usage-types.ts'

export function defineChangeTime<Context extends object>(builder: Builder<Context>) {
  return builder.enumType('ChangeTime', {
    description:
      'When a change takes effect. BEST means at the end of the period if the new plan is cheaper, otherwise immediately.',
    values: CHANGE_TIMES,
  })
}

export function defineChangeTypes<Context extends object>(
  builder: Builder<Context>,
  types: {
    package: ReturnType<typeof defineCatalogueTypes<Context>>['package']
    canUseFeatureData: ReturnType<typeof defineUsageTypes<Context>>['canUseFeatureData']
    subscription: ReturnType<typeof defineSubscriptionTypes<Context>>
  },
) {
  const featureChange = builder.objectRef<FeatureAccessChange>('FeatureChange').implement({
    description: 'Result of `canUseFeature` for one feature, before and after a change of plan.',
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      name: t.exposeString('name'),
      before: t.field({
        type: types.canUseFeatureData,
        resolve: ({ featureId, before }) => ({ featureId, ...before }),
      }),
      after: t.field({
        type: types.canUseFeatureData,
        resolve: ({ featureId, after }) => ({ featureId, ...after }),
      }),
    }),
  })
  const subscriptionChange = builder.objectRef<SubscriptionChange>('SubscriptionChange').implement({
    fields: (t) => ({
      at: t.string({
        description: 'Time at which the change takes effect.',
        resolve: (change) => isoTime(change.at),
      }),
      now: t.exposeBoolean('now'),
      from: t.expose('from', { type: types.package }),
      to: t.expose('to', { type: types.package }),
      gains: t.expose('gains', {
        type: [featureChange],
        description: 'Features the user gains access to.',
      }),
      loses: t.expose('loses', { type: [featureChange] }),
      moreOverage: t.expose('moreOverage', {
        type: [featureChange],
        description: 'Features whose usage goes into overage, or further into overage.',
      }),
      lessOverage: t.expose('lessOverage', { type: [featureChange] }),
      credit: t.expose('credit', {
        type: 'SafeInt',
        nullable: true,
        description:
          'Credit for unused time, in minor units of the currency; null if neither plan has a recurring price, or they have none in the same currency.',
      }),
      charge: t.expose('charge', { type: 'SafeInt', nullable: true }),
      currency: t.exposeString('currency', { nullable: true }),
      quotedBy: t.exposeString('quotedBy', {
        description:
          'Billing provider that calculated the amounts and charges them. `tollgate` means an estimate from list prices that is not charged.',
      }),
      formula: t.exposeString('formula', { description: 'Calculation of `credit` and `charge`.' }),
      subscription: t.expose('subscription', {
        type: types.subscription,
        nullable: true,
        description: 'Base plan of the user after the call; null for a dry run.',
      }),
    }),
  })
  return subscriptionChange
}
