import { inApp } from '../../operations/apps/apps.ts'
import { recordOrRevert } from '../../operations/credits/revert-usage.ts'
import { cancelSubscription } from '../../operations/subscriptions/cancel-subscription.ts'
import { keepSubscription } from '../../operations/subscriptions/keep-subscription.ts'
import { subscribe } from '../../operations/subscriptions/subscribe.ts'
import { subscription } from '../../operations/subscriptions/subscriptions.ts'
import { showUsage } from '../../operations/usage/show-usage.ts'
import { usageSeries } from '../../operations/usage/usage-series.ts'
import {
  type GrantedFeature,
  grantedFeatures,
  type LedgerPage,
  ledger,
} from '../../operations/usage/user-usage.ts'
import { deleteUser } from '../../operations/users/delete-user.ts'
import { exportUser } from '../../operations/users/export-user.ts'
import { createDashboardUser, dashboardUser, updateDashboardUser } from '../../operations/users/find-users.ts'
import { generateUserToken } from '../../operations/users/generate-user-token.ts'
import type { UserInList } from '../../operations/users/list-users.ts'
import { type UserDeletion, userDeletion } from '../../operations/users/user-deletion.ts'
import type { LedgerRow } from '../../store/ledger/ledger.ts'
import type { ListedUser } from '../../store/users/search-users.ts'
import type { Builder } from '../types/builder.ts'
import { memberUserChange, newUser, usageEvent } from '../types/inputs.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { USAGE_RANGE, USAGE_SERIES } from '../types/usage-series-types.ts'
import { defineUserTypes, EXPORT } from '../types/user-types.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import { defineLists } from './lists.ts'
import type { DashboardTypes } from './types.ts'

/** Users, their subscriptions and their usage. */
export function defineUsers(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const own = defineTypes(builder, types)
  defineLists(builder, types, own.user)
  queryFields(builder, (t, { appId, id, userId, featureId }) => {
    const page = { first: t.arg.int({ defaultValue: 50 }), after: t.arg.string() }
    return {
      user: t.field({
        type: own.user,
        args: { appId, id },
        resolve: (_, { appId, id }, context) => dashboardUser(appCall(context, appId), id),
      }),
      exportUser: t.field({
        type: 'JSON',
        description: EXPORT,
        args: { appId, id, after: t.arg.string() },
        resolve: (_, { appId, id, after }, context) => exportUser(appCall(context, appId), id, after),
      }),
      userDeletion: t.field({
        type: own.userDeletion,
        description: 'Effects of deleting a user.',
        args: { appId, id },
        resolve: (_, { appId, id }, context) => userDeletion(appCall(context, appId), id),
      }),
      grantedFeatures: t.field({
        type: [own.grantedFeature],
        args: { appId, userId },
        resolve: (_, { appId, userId }, context) => grantedFeatures(appCall(context, appId), userId),
      }),
      showUsage: t.field({
        type: own.showUsageData,
        args: { appId, userId, featureId },
        resolve: async (_, { appId, userId, featureId }, context) =>
          showUsage(await inApp(appCall(context, appId)), userId, featureId),
      }),
      usageSeries: t.field({
        type: types.usageSeries,
        description: USAGE_SERIES,
        args: {
          appId,
          featureId,
          userId: t.arg.string({ description: USAGE_RANGE.userId }),
          from: t.arg.string({ required: true, description: USAGE_RANGE.from }),
          to: t.arg.string({ required: true, description: USAGE_RANGE.to }),
          bucket: t.arg({ type: types.usageBucket, required: true, description: USAGE_RANGE.bucket }),
        },
        resolve: async (_, { appId, ...query }, context) =>
          usageSeries(await inApp(appCall(context, appId)), query),
      }),
      ledger: t.field({
        type: own.ledgerPage,
        description: 'Recorded usage of a user, newest first.',
        args: { appId, userId, featureId: t.arg.string(), ...page },
        resolve: (_, { appId, userId, featureId, first, after }, context) =>
          ledger(appCall(context, appId), userId, featureId, first, after),
      }),
      subscription: t.field({
        type: types.subscription,
        args: { appId, id },
        resolve: async (_, { appId, id }, context) => subscription(await inApp(appCall(context, appId)), id),
      }),
    }
  })

  mutationFields(builder, (t, { appId, id, userId }) => ({
    createUser: t.field({
      type: own.user,
      args: { appId, input: t.arg({ type: own.createUser, required: true }) },
      resolve: (_, { appId, input }, context) => createDashboardUser(appCall(context, appId), newUser(input)),
    }),
    updateUser: t.field({
      type: own.user,
      args: { appId, id, input: t.arg({ type: own.updateUser, required: true }) },
      resolve: (_, { appId, id, input }, context) =>
        updateDashboardUser(appCall(context, appId), id, memberUserChange(input)),
    }),
    deleteUser: t.field({
      type: own.deletedUser,
      description: 'Permanently deletes a user and their personal data.',
      args: { appId, id },
      resolve: (_, { appId, id }, context) => deleteUser(appCall(context, appId), id),
    }),
    subscribe: t.field({
      type: [types.subscription],
      args: {
        appId,
        userId,
        packageIds: t.arg.stringList({ required: true }),
        quantities: t.arg.intList(),
      },
      resolve: (_, { appId, userId, packageIds, quantities }, context) =>
        subscribe(appCall(context, appId), userId, packageIds, quantities ?? null),
    }),
    cancelSubscription: t.field({
      type: types.subscription,
      args: { appId, id, atPeriodEnd: t.arg.boolean({ defaultValue: true }) },
      resolve: (_, { appId, id, atPeriodEnd }, context) =>
        cancelSubscription(appCall(context, appId), id, atPeriodEnd ?? true),
    }),
    keepSubscription: t.field({
      type: types.subscription,
      description: 'Reverts a scheduled cancellation.',
      args: { appId, id },
      resolve: (_, { appId, id }, context) => keepSubscription(appCall(context, appId), id),
    }),
    recordUsage: t.field({
      type: own.recordedUsage,
      args: { appId, input: t.arg({ type: own.createUsageEvent, required: true }) },
      resolve: (_, { appId, input }, context) => recordOrRevert(appCall(context, appId), usageEvent(input)),
    }),
    generateUserToken: t.field({
      type: own.generatedUserToken,
      args: { appId, userId },
      resolve: (_, { appId, userId }, context) => generateUserToken(appCall(context, appId), userId),
    }),
  }))
}

function defineTypes(builder: Builder<DashboardContext>, types: DashboardTypes) {
  const { usageAction, ...shared } = defineUserTypes(builder, types)
  const user = builder.objectRef<ListedUser & Partial<UserInList>>('User').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      billingId: t.exposeString('billingId', { nullable: true }),
      name: t.exposeString('name', { nullable: true }),
      email: t.exposeString('email', { nullable: true }),
      metadata: t.expose('metadata', { type: 'JSON' }),
      createdAt: t.string({ resolve: (u) => isoTime(u.createdAt) }),
      packages: t.field({
        type: [types.package],
        description: "Packages of the user's live subscriptions, base plan first. Only set in lists.",
        resolve: (u) => u.packages?.() ?? [],
      }),
      plan: t.field({
        type: types.subscription,
        nullable: true,
        description: 'Live subscription of the user to a plan. Only set in lists.',
        resolve: (u) => u.plan?.() ?? null,
      }),
    }),
  })
  const grantedFeature = builder.objectRef<GrantedFeature>('GrantedFeature').implement({
    description:
      'Access of a user to one feature that their packages grant, or that credits or a pool pay for.',
    fields: (t) => ({
      featureId: t.string({ resolve: (g) => g.feature.id }),
      name: t.string({ resolve: (g) => g.feature.name }),
      type: t.field({ type: types.featureType, resolve: (g) => g.feature.type }),
      unitLabel: t.string({ nullable: true, resolve: (g) => g.feature.unitLabel }),
      unitLabelPlural: t.string({ nullable: true, resolve: (g) => g.feature.unitLabelPlural }),
      access: t.exposeBoolean('access'),
      reason: t.exposeString('reason'),
      reasonCode: t.expose('reasonCode', { type: types.reasonCode }),
      consumption: t.expose('consumption', {
        type: types.consumption,
        nullable: true,
        description: 'Usage and budget; null for a binary feature.',
      }),
      creditsLeft: t.exposeFloat('creditsLeft', {
        nullable: true,
        description: 'Units left in credits of the feature; null if nothing but the plan pays.',
      }),
      poolLeft: t.exposeFloat('poolLeft', {
        nullable: true,
        description: 'Units that the pool can pay for; null if there is none, or if it is unlimited.',
      }),
      resetPeriod: t.expose('resetPeriod', { type: types.resetPeriod, nullable: true }),
      periodStart: t.string({ nullable: true, resolve: (g) => isoTimeOrNull(g.periodStart) }),
      periodEnd: t.string({
        nullable: true,
        description: 'End of the current period; null for a binary feature or one that never resets.',
        resolve: (g) => isoTimeOrNull(g.periodEnd),
      }),
      source: t.field({
        type: [types.part],
        description: 'Sources of the limit: the packages and the override that add up to it.',
        resolve: (g) => [...g.source],
      }),
    }),
  })
  const ledgerEntry = builder.objectRef<LedgerRow>('LedgerEntry').implement({
    fields: (t) => ({
      id: t.string({ resolve: (l) => String(l.seq) }),
      featureId: t.exposeString('featureId'),
      credit: t.exposeString('credit', {
        nullable: true,
        description: 'ID of the credit that paid for it; null for the plan.',
      }),
      action: t.expose('action', { type: usageAction }),
      delta: t.expose('delta', {
        type: 'SafeInt',
        description: 'Amount added to the usage. For SET, the resulting adjustment.',
      }),
      used: t.expose('used', { type: 'SafeInt', description: 'Usage after the entry.' }),
      periodStart: t.string({ resolve: (l) => isoTime(l.periodStart) }),
      recordedAt: t.string({ resolve: (l) => isoTime(l.recordedAt) }),
    }),
  })
  const userDeletion = builder.objectRef<UserDeletion>('UserDeletion').implement({
    fields: (t) => ({
      liveSubscriptions: t.exposeInt('liveSubscriptions', {
        description: 'Number of live subscriptions, which will end.',
      }),
      paidSubscriptions: t.exposeInt('paidSubscriptions', {
        description:
          'Number of paid subscriptions, which will be cancelled at the billing provider immediately.',
      }),
      openLinks: t.exposeInt('openLinks', {
        description: 'Number of open payment links, which will be closed.',
      }),
      pastSubscriptions: t.exposeInt('pastSubscriptions', {
        description: 'Number of past subscriptions, which will be erased.',
      }),
      counters: t.exposeInt('counters', {
        description: 'Number of usage totals, which will be kept without a reference to the user.',
      }),
    }),
  })
  const updateUser = builder.inputType('UpdateUserInput', {
    description: 'Changes to a user. Omitted fields are not changed; null clears a field.',
    fields: (t) => ({
      id: t.string(),
      billingId: t.string({
        description:
          'ID at the billing provider. Cannot be changed while the user has subscriptions that are charged to it.',
      }),
      name: t.string(),
      email: t.string(),
      metadata: t.field({ type: 'JSON' }),
    }),
  })
  const ledgerPage = definePage<LedgerRow, LedgerPage>(builder, 'LedgerPage', ledgerEntry)
  builder.objectField(ledgerPage, 'olderEntries', (t) =>
    t.field({
      type: 'SafeInt',
      description:
        'On the last page, the number of older entries that were archived or deleted. They are still included in `used`.',
      resolve: (page) => page.olderEntries,
    }),
  )
  return {
    user,
    userDeletion,
    grantedFeature,
    ledgerPage,
    updateUser,
    ...shared,
  }
}
