import { generateSubscriptionLink } from '../../operations/billing/generate-subscription-link.ts'
import { createFeature } from '../../operations/catalogue/create-feature.ts'
import { createPackage } from '../../operations/catalogue/create-package.ts'
import { updatePackage } from '../../operations/catalogue/edit-package.ts'
import {
  migrateSubscriptions,
  migrationPreview,
  undoMigration,
} from '../../operations/catalogue/migrations.ts'
import { updateFeature } from '../../operations/catalogue/update-feature.ts'
import { recordOrRevert } from '../../operations/credits/revert-usage.ts'
import { removeOverride } from '../../operations/overrides/remove-override.ts'
import { setOverride } from '../../operations/overrides/set-override.ts'
import type { AdminMutation } from '../../operations/registry/registry.ts'
import { cancelSubscription } from '../../operations/subscriptions/cancel-subscription.ts'
import { keepSubscription } from '../../operations/subscriptions/keep-subscription.ts'
import { subscribe } from '../../operations/subscriptions/subscribe.ts'
import { recordUsages } from '../../operations/usage/record-usage.ts'
import { createUser } from '../../operations/users/create-user.ts'
import { deleteUser } from '../../operations/users/delete-user.ts'
import { generateUserToken } from '../../operations/users/generate-user-token.ts'
import { updateUser } from '../../operations/users/update-user.ts'
import type { Builder } from '../types/builder.ts'
import {
  featureChange,
  newFeature,
  newOverride,
  newPackage,
  newUser,
  packageChange,
  usageEvent,
  userChange,
} from '../types/inputs.ts'
import { type AdminContext, mutationCall } from './context.ts'
import type { AdminTypes } from './types.ts'

export function defineAdminMutations(builder: Builder<AdminContext>, types: AdminTypes): void {
  const { inputs } = types
  builder.mutationType({
    fields: (t) => {
      const id = t.arg.string({ required: true })
      const userId = t.arg.string({ required: true })
      return {
        createFeature: t.field({
          type: types.feature,
          args: { input: t.arg({ type: inputs.createFeature, required: true }) },
          resolve: (_, { input }, context, info) =>
            createFeature(mutationCall(context, info), newFeature(input)),
        }),
        updateFeature: t.field({
          type: types.feature,
          args: { id, input: t.arg({ type: inputs.updateFeature, required: true }) },
          resolve: (_, { id, input }, context, info) =>
            updateFeature(mutationCall(context, info), id, featureChange(input)),
        }),
        createPackage: t.field({
          type: types.package,
          args: { input: t.arg({ type: inputs.createPackage, required: true }) },
          resolve: (_, { input }, context, info) =>
            createPackage(mutationCall(context, info), newPackage(input)),
        }),
        updatePackage: t.field({
          type: types.package,
          args: { id, input: t.arg({ type: inputs.updatePackage, required: true }) },
          resolve: (_, { id, input }, context, info) =>
            updatePackage(mutationCall(context, info), id, packageChange(input)),
        }),
        createUser: t.field({
          type: types.user,
          args: { input: t.arg({ type: inputs.createUser, required: true }) },
          resolve: (_, { input }, context, info) => createUser(mutationCall(context, info), newUser(input)),
        }),
        updateUser: t.field({
          type: types.user,
          args: { id, input: t.arg({ type: inputs.updateUser, required: true }) },
          resolve: (_, { id, input }, context, info) =>
            updateUser(mutationCall(context, info), id, userChange(input)),
        }),
        deleteUser: t.field({
          type: types.deletedUser,
          description:
            'Permanently deletes a user and their personal data. Live subscriptions end, and paid ones are first cancelled at the billing provider. Usage totals are kept without a reference to the user.',
          args: { id },
          resolve: (_, { id }, context, info) => deleteUser(mutationCall(context, info), id),
        }),
        subscribe: t.field({
          type: [types.subscription],
          args: {
            packageIds: t.arg.stringList({ required: true }),
            userId,
            quantities: t.arg.intList({
              description: 'Quantity of each package, in the order of `packageIds`. Defaults to 1 for each.',
            }),
          },
          resolve: (_, { packageIds, userId, quantities }, context, info) =>
            subscribe(mutationCall(context, info), userId, packageIds, quantities ?? null),
        }),
        cancelSubscription: t.field({
          type: types.subscription,
          description:
            'Cancels a subscription. Cancelling a base plan also cancels its add-ons. Paid subscriptions are also cancelled at the billing provider.',
          args: { id, atPeriodEnd: t.arg.boolean({ defaultValue: true }) },
          resolve: (_, { id, atPeriodEnd }, context, info) =>
            cancelSubscription(mutationCall(context, info), id, atPeriodEnd ?? true),
        }),
        keepSubscription: t.field({
          type: types.subscription,
          description:
            'Reverts a scheduled cancellation, also at the billing provider. A subscription that has ended cannot be restored.',
          args: { id },
          resolve: (_, { id }, context, info) => keepSubscription(mutationCall(context, info), id),
        }),
        setOverride: t.field({
          type: types.override,
          description: 'Sets the override for a user and feature, replacing any existing one.',
          args: { input: t.arg({ type: inputs.override, required: true }) },
          resolve: (_, { input }, context, info) =>
            setOverride(mutationCall(context, info), newOverride(input)),
        }),
        removeOverride: t.field({
          type: types.override,
          nullable: true,
          description: 'Removes an override. Returns the removed override, or null if there was none.',
          args: { userId, featureId: t.arg.string({ required: true }) },
          resolve: (_, { userId, featureId }, context, info) =>
            removeOverride(mutationCall(context, info), userId, featureId),
        }),
        migrateSubscriptions: t.field({
          type: types.migration,
          description:
            "Moves subscriptions from one version of a package to another, immediately or at the end of each subscription's period.",
          args: {
            packageId: t.arg.string({ required: true }),
            fromVersion: t.arg.int({ required: true }),
            toVersion: t.arg.int({ required: true }),
            when: t.arg({
              type: types.changeTime,
              defaultValue: 'NOW',
              description: 'When to move the subscriptions. BEST is treated as NOW.',
            }),
            dryRun: t.arg.boolean({ defaultValue: false }),
          },
          resolve: (_, { when, dryRun, ...input }, context, info) => {
            const migrate = dryRun ? migrationPreview : migrateSubscriptions
            return migrate(mutationCall(context, info), { ...input, when: when ?? 'NOW' })
          },
        }),
        undoMigration: t.field({
          type: types.migration,
          description:
            'Undoes a migration and restores the previous version of every subscription it moved. Later migrations of the same package must be undone first.',
          args: { id },
          resolve: (_, { id }, context, info) => undoMigration(mutationCall(context, info), id),
        }),
        recordUsage: t.field({
          type: types.recordedUsage,
          args: { input: t.arg({ type: inputs.createUsageEvent, required: true }) },
          resolve: (_, { input }, context, info) =>
            recordOrRevert(mutationCall(context, info), usageEvent(input)),
        }),
        recordUsages: t.field({
          type: [types.recordedUsage],
          args: { inputs: t.arg({ type: [inputs.createUsageEvent], required: true }) },
          resolve: (_, { inputs }, context, info) =>
            recordUsages(mutationCall(context, info), inputs.map(usageEvent)),
        }),
        generateSubscriptionLink: t.field({
          type: types.subscriptionLink,
          args: {
            userId: t.arg.string(),
            templateId: t.arg.string({ required: true }),
            successUrl: t.arg.string({ required: true }),
            cancelUrl: t.arg.string({ required: true }),
          },
          resolve: (_, args, context, info) =>
            generateSubscriptionLink(mutationCall(context, info), { ...args, userId: args.userId ?? null }),
        }),
        generateUserToken: t.field({
          type: types.generatedUserToken,
          args: { userId },
          resolve: (_, { userId }, context, info) => generateUserToken(mutationCall(context, info), userId),
        }),
      } satisfies Partial<Record<AdminMutation, unknown>>
    },
  })
}
