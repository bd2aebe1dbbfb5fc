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

/** Changes and trials. */
export function defineLifecycle(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const { changeTime } = types
  const subscriptionChange = defineChangeTypes(builder, types)
  builder.objectFields(subscriptionChange, (t) => ({
    decimals: t.exposeInt('decimals', { nullable: true, description: DECIMALS }),
  }))
  queryFields(builder, (t) => ({
    changePreview: t.field({
      type: subscriptionChange,
      nullable: true,
      description: 'What changeSubscription would do.',
      args: {
        appId: t.arg.string({ required: true }),
        userId: t.arg.string({ required: true }),
        packageId: t.arg.string({ required: true }),
        when: t.arg({ type: changeTime, defaultValue: 'BEST' }),
        quantity: t.arg.int(),
      },
      resolve: async (_, { appId, userId, packageId, when, quantity }, context) =>
        previewChange(await inApp(appCall(context, appId)), changeInput(userId, packageId, when, quantity)),
    }),
  }))
  mutationFields(builder, (t) => {
    const appId = t.arg.string({ required: true })
    const userId = t.arg.string({ required: true })
    const packageId = t.arg.string({ required: true })
    return {
      changeSubscription: t.field({
        type: subscriptionChange,
        nullable: true,
        description:
          "Changes a user's base plan for another, or its quantity. What is paid for changes at its provider.",
        args: {
          appId,
          userId,
          packageId,
          when: t.arg({ type: changeTime, defaultValue: 'BEST' }),
          quantity: t.arg.int({ description: 'The present one, if absent.' }),
        },
        resolve: async (_, { appId, userId, packageId, when, quantity }, context) =>
          changeSubscription(
            await inApp(appCall(context, appId)),
            changeInput(userId, packageId, when, quantity),
          ),
      }),
      cancelScheduledChange: t.field({
        type: types.subscription,
        nullable: true,
        description: 'The plan goes on as it is. What would have followed a trial is dropped.',
        args: { appId, userId },
        resolve: async (_, { appId, userId }, context) =>
          cancelScheduledChange(await inApp(appCall(context, appId)), userId),
      }),
      startTrial: t.field({
        type: types.subscription,
        nullable: true,
        description: 'Ends by the clock, and is followed by the package `then`, or by nothing.',
        args: {
          appId,
          userId,
          packageId,
          days: t.arg.int({ description: 'Give either this or until.' }),
          until: t.arg.string(),
          // biome-ignore lint/suspicious/noThenProperty: the name in the API; a string is no thenable
          then: t.arg.string(),
          again: t.arg.boolean({
            defaultValue: false,
            description: 'Even if the user has tried this package before.',
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
        nullable: true,
        args: { appId, id: t.arg.string({ required: true }), until: t.arg.string({ required: true }) },
        resolve: async (_, { appId, id, until }, context) =>
          extendTrial(await inApp(appCall(context, appId)), id, until),
      }),
    }
  })
}

const changeInput = (
  userId: string,
  packageId: string,
  when: ChangeTime | null | undefined,
  quantity: number | null | undefined,
) => ({ userId, packageId, when: when ?? ('BEST' as const), quantity: quantity ?? null })
