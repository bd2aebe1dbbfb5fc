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
import { removeOverride } from '../../operations/overrides/remove-override.ts'
import { setOverride } from '../../operations/overrides/set-override.ts'
import type { AdminMutation } from '../../operations/registry/registry.ts'
import { cancelSubscription } from '../../operations/subscriptions/cancel-subscription.ts'
import { keepSubscription } from '../../operations/subscriptions/keep-subscription.ts'
import { subscribe } from '../../operations/subscriptions/subscribe.ts'
import { recordUsage, recordUsages } from '../../operations/usage/record-usage.ts'
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
          nullable: true,
          args: { input: t.arg({ type: inputs.createFeature, required: true }) },
          resolve: (_, { input }, context, info) =>
            createFeature(mutationCall(context, info), newFeature(input)),
        }),
        updateFeature: t.field({
          type: types.feature,
          nullable: true,
          args: { id, input: t.arg({ type: inputs.updateFeature, required: true }) },
          resolve: (_, { id, input }, context, info) =>
            updateFeature(mutationCall(context, info), id, featureChange(input)),
        }),
        createPackage: t.field({
          type: types.package,
          nullable: true,
          args: { input: t.arg({ type: inputs.createPackage, required: true }) },
          resolve: (_, { input }, context, info) =>
            createPackage(mutationCall(context, info), newPackage(input)),
        }),
        updatePackage: t.field({
          type: types.package,
          nullable: true,
          args: { id, input: t.arg({ type: inputs.updatePackage, required: true }) },
          resolve: (_, { id, input }, context, info) =>
            updatePackage(mutationCall(context, info), id, packageChange(input)),
        }),
        createUser: t.field({
          type: types.user,
          nullable: true,
          args: { input: t.arg({ type: inputs.createUser, required: true }) },
          resolve: (_, { input }, context, info) => createUser(mutationCall(context, info), newUser(input)),
        }),
        updateUser: t.field({
          type: types.user,
          nullable: true,
          args: { id, input: t.arg({ type: inputs.updateUser, required: true }) },
          resolve: (_, { id, input }, context, info) =>
            updateUser(mutationCall(context, info), id, userChange(input)),
        }),
        deleteUser: t.field({
          type: types.deletedUser,
          nullable: true,
          description:
            "For good: ends what is live, at the provider first, and erases the user everywhere. What was used stays in the sums, as nobody's.",
          args: { id },
          resolve: (_, { id }, context, info) => deleteUser(mutationCall(context, info), id),
        }),
        subscribe: t.field({
          type: [types.subscription],
          nullable: true,
          args: {
            packageIds: t.arg.stringList({ required: true }),
            userId,
            quantities: t.arg.intList({ description: 'One for each of packageIds; 1 each, if absent.' }),
          },
          resolve: (_, { packageIds, userId, quantities }, context, info) =>
            subscribe(mutationCall(context, info), userId, packageIds, quantities ?? null),
        }),
        cancelSubscription: t.field({
          type: types.subscription,
          nullable: true,
          description: 'A base plan takes its add-ons with it. What is paid for ends at its provider too.',
          args: { id, atPeriodEnd: t.arg.boolean({ defaultValue: true }) },
          resolve: (_, { id, atPeriodEnd }, context, info) =>
            cancelSubscription(mutationCall(context, info), id, atPeriodEnd ?? true),
        }),
        keepSubscription: t.field({
          type: types.subscription,
          nullable: true,
          description:
            'Takes back an end that was set, also at the provider. One that has ended stays ended.',
          args: { id },
          resolve: (_, { id }, context, info) => keepSubscription(mutationCall(context, info), id),
        }),
        setOverride: t.field({
          type: types.override,
          nullable: true,
          description: 'Replaces the override of this user and feature, if there is one.',
          args: { input: t.arg({ type: inputs.override, required: true }) },
          resolve: (_, { input }, context, info) =>
            setOverride(mutationCall(context, info), newOverride(input)),
        }),
        removeOverride: t.field({
          type: types.override,
          nullable: true,
          description: 'Returns the override that was in force; null: there was none.',
          args: { userId, featureId: t.arg.string({ required: true }) },
          resolve: (_, { userId, featureId }, context, info) =>
            removeOverride(mutationCall(context, info), userId, featureId),
        }),
        migrateSubscriptions: t.field({
          type: types.migration,
          nullable: true,
          description:
            'Moves those who have one version of a package to another, all at once or each at the end of their period.',
          args: {
            packageId: t.arg.string({ required: true }),
            fromVersion: t.arg.int({ required: true }),
            toVersion: t.arg.int({ required: true }),
            when: t.arg({ type: types.changeTime, defaultValue: 'NOW', description: 'BEST is NOW.' }),
            dryRun: t.arg.boolean({ defaultValue: false }),
          },
          resolve: (_, { packageId, fromVersion, toVersion, when, dryRun }, context, info) => {
            const migrate = dryRun ? migrationPreview : migrateSubscriptions
            return migrate(mutationCall(context, info), packageId, fromVersion, toVersion, when ?? 'NOW')
          },
        }),
        undoMigration: t.field({
          type: types.migration,
          nullable: true,
          description: 'Restores all whom it moved. A later migration of the package is to be undone first.',
          args: { id },
          resolve: (_, { id }, context, info) => undoMigration(mutationCall(context, info), id),
        }),
        recordUsage: t.field({
          type: types.recordedUsage,
          nullable: true,
          args: { input: t.arg({ type: inputs.createUsageEvent, required: true }) },
          resolve: (_, { input }, context, info) =>
            recordUsage(mutationCall(context, info), usageEvent(input)),
        }),
        recordUsages: t.field({
          type: [types.recordedUsage],
          nullable: true,
          args: { inputs: t.arg({ type: [inputs.createUsageEvent], required: true }) },
          resolve: (_, { inputs }, context, info) =>
            recordUsages(mutationCall(context, info), inputs.map(usageEvent)),
        }),
        generateSubscriptionLink: t.field({
          type: types.subscriptionLink,
          nullable: true,
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
          nullable: true,
          args: { userId },
          resolve: (_, { userId }, context, info) => generateUserToken(mutationCall(context, info), userId),
        }),
      } satisfies Partial<Record<AdminMutation, unknown>>
    },
  })
}
