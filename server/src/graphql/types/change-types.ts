import { CHANGE_TIMES } from '../../domain/change-time.ts'
import type { FeatureChange } from '../../operations/subscriptions/change-preview.ts'
import type { SubscriptionChange } from '../../operations/subscriptions/change-subscription.ts'
import type { Builder } from './builder.ts'
import type { defineCatalogueTypes } from './catalogue-types.ts'
import type { defineSubscriptionTypes } from './subscription-types.ts'
import { isoTime } from './time.ts'
import type { defineUsageTypes } from './usage-types.ts'

export function defineChangeTime<Context extends object>(builder: Builder<Context>) {
  return builder.enumType('ChangeTime', {
    description:
      "BEST: now if the new plan is dearer or has no price to compare, at the period's end if it is cheaper.",
    values: CHANGE_TIMES,
  })
}

/** A change of a base plan. */
export function defineChangeTypes<Context extends object>(
  builder: Builder<Context>,
  types: {
    package: ReturnType<typeof defineCatalogueTypes<Context>>['package']
    canUseFeatureData: ReturnType<typeof defineUsageTypes<Context>>['canUseFeatureData']
    subscription: ReturnType<typeof defineSubscriptionTypes<Context>>
  },
) {
  const featureChange = builder.objectRef<FeatureChange>('FeatureChange').implement({
    description: 'What a change does to one more use of a feature.',
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
      at: t.string({ description: 'When it takes effect.', resolve: (change) => isoTime(change.at) }),
      now: t.exposeBoolean('now'),
      from: t.expose('from', { type: types.package }),
      to: t.expose('to', { type: types.package }),
      gains: t.expose('gains', {
        type: [featureChange],
        description: 'What can be used after it and not before.',
      }),
      loses: t.expose('loses', { type: [featureChange] }),
      // Answers that the previous version stored under an idempotency key say nothing about overage.
      moreOverage: t.field({
        type: [featureChange],
        description: 'What goes into overage by it, or further into it.',
        resolve: ({ moreOverage }) => moreOverage ?? [],
      }),
      lessOverage: t.field({ type: [featureChange], resolve: ({ lessOverage }) => lessOverage ?? [] }),
      credit: t.expose('credit', {
        type: 'SafeInt',
        nullable: true,
        description:
          'Minor units given back for what is unused. Null: neither plan has a recurring price, or they have none in the same currency.',
      }),
      charge: t.expose('charge', { type: 'SafeInt', nullable: true }),
      currency: t.exposeString('currency', { nullable: true }),
      quotedBy: t.exposeString('quotedBy', {
        description:
          'The provider that charges it; `tollgate`: worked out from the prices, and charged by nobody.',
      }),
      formula: t.exposeString('formula', { description: 'How credit and charge were worked out.' }),
      subscription: t.expose('subscription', {
        type: types.subscription,
        nullable: true,
        description: "The user's base plan after the call. Null for a dry run.",
      }),
    }),
  })
  return subscriptionChange
}
