import type { AdminMutation } from '../../operations/registry/registry.ts'
import { cancelScheduledChange } from '../../operations/subscriptions/cancel-scheduled-change.ts'
import { changeSubscription, previewChange } from '../../operations/subscriptions/change-subscription.ts'
import { extendTrial, startTrial } from '../../operations/subscriptions/start-trial.ts'
import type { Builder } from '../types/builder.ts'
import { defineChangeTypes } from '../types/change-types.ts'
import { newTrial } from '../types/inputs.ts'
import { type AdminContext, mutationCall } from './context.ts'
import type { AdminTypes } from './types.ts'

export function defineAdminLifecycle(builder: Builder<AdminContext>, types: AdminTypes): void {
  const { changeTime } = types
  const subscriptionChange = defineChangeTypes(builder, types)
  builder.mutationFields((t) => {
    const userId = t.arg.string({ required: true })
    const packageId = t.arg.string({ required: true })
    return {
      changeSubscription: t.field({
        type: subscriptionChange,
        description:
          "Changes a user's base plan or its quantity. A paid subscription is also changed at the billing provider.",
        args: {
          userId,
          packageId,
          when: t.arg({ type: changeTime, defaultValue: 'BEST' }),
          quantity: t.arg.int({ description: 'New quantity. Defaults to the current one.' }),
          dryRun: t.arg.boolean({
            defaultValue: false,
            description: 'If true, returns the result without changing anything.',
          }),
        },
        resolve: (_, { userId, packageId, when, quantity, dryRun }, context, info) => {
          const change = dryRun ? previewChange : changeSubscription
          const input = { userId, packageId, when: when ?? 'BEST', quantity: quantity ?? null, priceId: null }
          return change(mutationCall(context, info), input)
        },
      }),
      cancelScheduledChange: t.field({
        type: types.subscription,
        description:
          "Cancels the scheduled change of a user's base plan, including a package scheduled to follow a trial.",
        args: { userId },
        resolve: (_, { userId }, context, info) => cancelScheduledChange(mutationCall(context, info), userId),
      }),
      startTrial: t.field({
        type: types.subscription,
        description:
          'Starts a trial of a package. When the trial ends, the user is subscribed to the package `then`, if given.',
        args: {
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
        resolve: (_, input, context, info) => startTrial(mutationCall(context, info), newTrial(input)),
      }),
      extendTrial: t.field({
        type: types.subscription,
        args: { id: t.arg.string({ required: true }), until: t.arg.string({ required: true }) },
        resolve: (_, { id, until }, context, info) => extendTrial(mutationCall(context, info), id, until),
      }),
    } satisfies Partial<Record<AdminMutation, unknown>>
  })
}
