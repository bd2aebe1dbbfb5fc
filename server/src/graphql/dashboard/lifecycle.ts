import type { ChangeTime } from '../../domain/change-time.ts'
import { inApp } from '../../operations/apps/apps.ts'
import { cancelScheduledChange } from '../../operations/subscriptions/cancel-scheduled-change.ts'
import type { LimitChange } from '../../operations/subscriptions/change-preview.ts'
import { changeSubscription, previewChange } from '../../operations/subscriptions/change-subscription.ts'
import type { ChangeInput } from '../../operations/subscriptions/plan-change.ts'
import { extendTrial, startTrial } from '../../operations/subscriptions/start-trial.ts'
import type { Builder } from '../types/builder.ts'
import { defineChangeTypes } from '../types/change-types.ts'
import { newTrial } from '../types/inputs.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import { type DashboardTypes, DECIMALS } from './types.ts'

export function defineLifecycle(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const { changeTime } = types
  const subscriptionChange = defineChangeTypes(builder, types)
  const limitChange = defineLimitChange(builder, types)
  builder.objectFields(subscriptionChange, (t) => ({
    limits: t.expose('limits', {
      type: [limitChange],
      description: 'Features that the user has before the change or after it.',
    }),
    decimals: t.exposeInt('decimals', { nullable: true, description: DECIMALS }),
  }))
  queryFields(builder, (t, { appId, userId, packageId }) => ({
    changePreview: t.field({
      type: subscriptionChange,
      description: 'Preview of `changeSubscription`.',
      args: {
        appId,
        userId,
        packageId,
        when: t.arg({ type: changeTime, defaultValue: 'BEST' }),
        quantity: t.arg.int(),
        priceId: t.arg.string({ description: PRICE }),
      },
      resolve: async (_, { appId, ...input }, context) =>
        previewChange(await inApp(appCall(context, appId)), changeInput(input)),
    }),
  }))
  mutationFields(builder, (t, { appId, id, userId, packageId }) => ({
    changeSubscription: t.field({
      type: subscriptionChange,
      description:
        "Changes a user's base plan or its quantity. A paid subscription is also changed at the billing provider.",
      args: {
        appId,
        userId,
        packageId,
        when: t.arg({ type: changeTime, defaultValue: 'BEST' }),
        quantity: t.arg.int({ description: 'New quantity. Defaults to the current one.' }),
        priceId: t.arg.string({ description: PRICE }),
      },
      resolve: async (_, { appId, ...input }, context) =>
        changeSubscription(await inApp(appCall(context, appId)), changeInput(input)),
    }),
    cancelScheduledChange: t.field({
      type: types.subscription,
      description:
        "Cancels the scheduled change of a user's base plan, including a package scheduled to follow a trial.",
      args: { appId, userId },
      resolve: async (_, { appId, userId }, context) =>
        cancelScheduledChange(await inApp(appCall(context, appId)), userId),
    }),
    startTrial: t.field({
      type: types.subscription,
      description:
        'Starts a trial of a package. When the trial ends, the user is subscribed to the package `then`, if given.',
      args: {
        appId,
        userId,
        packageId,
        days: t.arg.int({
          description: 'Length of the trial in days. Exactly one of `days` and `until` is required.',
        }),
        until: t.arg.string(),
        // biome-ignore lint/suspicious/noThenProperty: the name in the API; a string is no thenable
        then: t.arg.string(),
        again: t.arg.boolean({
          defaultValue: false,
          description: 'If true, allows another trial of a package the user has tried before.',
        }),
      },
      resolve: async (_, { appId, ...input }, context) =>
        startTrial(await inApp(appCall(context, appId)), newTrial(input)),
    }),
    extendTrial: t.field({
      type: types.subscription,
      args: { appId, id, until: t.arg.string({ required: true }) },
      resolve: async (_, { appId, id, until }, context) =>
        extendTrial(await inApp(appCall(context, appId)), id, until),
    }),
  }))
}

const PRICE =
  'ID of a recurring price of the package, for a plan that a billing provider charges for. Defaults to the price with the current interval. With another price of the current package, only the price changes.'

interface ChangeArgs {
  userId: string
  packageId: string
  when?: ChangeTime | null | undefined
  quantity?: number | null | undefined
  priceId?: string | null | undefined
}

const changeInput = ({ userId, packageId, when, quantity, priceId }: ChangeArgs): ChangeInput => ({
  userId,
  packageId,
  when: when ?? 'BEST',
  quantity: quantity ?? null,
  priceId: priceId ?? null,
})

/** Limits before and after a change, in the dashboard only. */
function defineLimitChange(builder: Builder<DashboardContext>, { resetPeriod }: DashboardTypes) {
  const limit = builder.objectRef<NonNullable<LimitChange['before']>>('PlanLimit').implement({
    description: 'Limit of a feature.',
    fields: (t) => ({
      budget: t.expose('budget', {
        type: 'SafeInt',
        nullable: true,
        description: 'Null for an unlimited or binary feature.',
      }),
      resetPeriod: t.expose('resetPeriod', {
        type: resetPeriod,
        nullable: true,
        description: 'Null for a binary feature.',
      }),
      overageEnabled: t.exposeBoolean('overageEnabled'),
    }),
  })
  return builder.objectRef<LimitChange>('LimitChange').implement({
    description: 'Limit of a feature before and after a change of plan.',
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      name: t.exposeString('name'),
      unitLabel: t.exposeString('unitLabel', { nullable: true }),
      unitLabelPlural: t.exposeString('unitLabelPlural', { nullable: true }),
      before: t.expose('before', { type: limit, nullable: true, description: 'Null if not included.' }),
      after: t.expose('after', { type: limit, nullable: true, description: 'Null if not included.' }),
      usedNow: t.expose('usedNow', {
        type: 'SafeInt',
        nullable: true,
        description: 'Usage in the current period; null if not included or binary.',
      }),
      used: t.expose('used', {
        type: 'SafeInt',
        nullable: true,
        description:
          'Usage that counts towards the new limit at the time of the change: 0 if a new period starts then. Null for a binary feature.',
      }),
    }),
  })
}
