import type { ChangeTime } from '../../domain/change-time.ts'
import { inApp } from '../../operations/apps/apps.ts'
import { cancelScheduledChange } from '../../operations/subscriptions/cancel-scheduled-change.ts'
import { changeSubscription, previewChange } from '../../operations/subscriptions/change-subscription.ts'
import { extendTrial, startTrial } from '../../operations/subscriptions/start-trial.ts'
import type { Builder } from '../types/builder.ts'
import { defineChangeTypes } from '../types/change-types.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import { type DashboardTypes, DECIMALS } from './types.ts'

export function defineLifecycle(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const { changeTime } = types
  const subscriptionChange = defineChangeTypes(builder, types)
  builder.objectFields(subscriptionChange, (t) => ({
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
      },
      resolve: async (_, { appId, userId, packageId, when, quantity }, context) =>
        previewChange(await inApp(appCall(context, appId)), changeInput(userId, packageId, when, quantity)),
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
      },
      resolve: async (_, { appId, userId, packageId, when, quantity }, context) =>
        changeSubscription(
          await inApp(appCall(context, appId)),
          changeInput(userId, packageId, when, quantity),
        ),
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
      resolve: async (_, { appId, userId, packageId, days, until, then, again }, context) =>
        startTrial(await inApp(appCall(context, appId)), {
          userId,
          packageId,
          days: days ?? null,
          until: until ?? null,
          next: then ?? null,
          again: again ?? false,
        }),
    }),
    extendTrial: t.field({
      type: types.subscription,
      args: { appId, id, until: t.arg.string({ required: true }) },
      resolve: async (_, { appId, id, until }, context) =>
        extendTrial(await inApp(appCall(context, appId)), id, until),
    }),
  }))
}

const changeInput = (
  userId: string,
  packageId: string,
  when: ChangeTime | null | undefined,
  quantity: number | null | undefined,
) => ({ userId, packageId, when: when ?? ('BEST' as const), quantity: quantity ?? null })
