import type { AdminMutation } from '../../operations/registry/registry.ts'
import { cancelScheduledChange } from '../../operations/subscriptions/cancel-scheduled-change.ts'
import { changeSubscription, previewChange } from '../../operations/subscriptions/change-subscription.ts'
import { extendTrial, startTrial } from '../../operations/subscriptions/start-trial.ts'
import type { Builder } from '../types/builder.ts'
import { defineChangeTypes } from '../types/change-types.ts'
import { type AdminContext, mutationCall } from './context.ts'
import type { AdminTypes } from './types.ts'

/** Changes and trials. */
export function defineAdminLifecycle(builder: Builder<AdminContext>, types: AdminTypes): void {
  const { changeTime } = types
  const subscriptionChange = defineChangeTypes(builder, types)
  builder.mutationFields((t) => {
    const userId = t.arg.string({ required: true })
    const packageId = t.arg.string({ required: true })
    return {
      changeSubscription: t.field({
        type: subscriptionChange,
        nullable: true,
        description:
          "Changes a user's base plan for another, or its quantity. What is paid for changes at its provider.",
        args: {
          userId,
          packageId,
          when: t.arg({ type: changeTime, defaultValue: 'BEST' }),
          quantity: t.arg.int({ description: 'The present one, if absent.' }),
          dryRun: t.arg.boolean({ defaultValue: false, description: 'Only say what would happen.' }),
        },
        resolve: (_, { userId, packageId, when, quantity, dryRun }, context, info) => {
          const change = dryRun ? previewChange : changeSubscription
          const input = { userId, packageId, when: when ?? 'BEST', quantity: quantity ?? null }
          return change(mutationCall(context, info), input)
        },
      }),
      cancelScheduledChange: t.field({
        type: types.subscription,
        nullable: true,
        description: 'The plan goes on as it is. What would have followed a trial is dropped.',
        args: { userId },
        resolve: (_, { userId }, context, info) => cancelScheduledChange(mutationCall(context, info), userId),
      }),
      startTrial: t.field({
        type: types.subscription,
        nullable: true,
        description: 'Ends by the clock, and is followed by the package `then`, or by nothing.',
        args: {
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
        resolve: (_, { userId, packageId, days, until, then, again }, context, info) =>
          startTrial(mutationCall(context, info), {
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
        args: { id: t.arg.string({ required: true }), until: t.arg.string({ required: true }) },
        resolve: (_, { id, until }, context, info) => extendTrial(mutationCall(context, info), id, until),
      }),
    } satisfies Partial<Record<AdminMutation, unknown>>
  })
}
