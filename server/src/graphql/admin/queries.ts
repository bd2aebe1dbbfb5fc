import { autoRecharges } from '../../operations/billing/auto-recharge.ts'
import { feature, features } from '../../operations/catalogue/features.ts'
import { migration } from '../../operations/catalogue/migrations.ts'
import { packageById, packages } from '../../operations/catalogue/packages.ts'
import { caps } from '../../operations/credits/caps.ts'
import { credits } from '../../operations/credits/credits.ts'
import { reservations } from '../../operations/credits/reservations.ts'
import { events } from '../../operations/events/events.ts'
import { overrides } from '../../operations/overrides/overrides.ts'
import type { AdminQuery } from '../../operations/registry/registry.ts'
import { subscription, subscriptions } from '../../operations/subscriptions/subscriptions.ts'
import { canUseFeature, canUseFeatures } from '../../operations/usage/can-use-feature.ts'
import { showUsage } from '../../operations/usage/show-usage.ts'
import { usageSeries } from '../../operations/usage/usage-series.ts'
import { exportUser } from '../../operations/users/export-user.ts'
import { user, users } from '../../operations/users/users.ts'
import type { Builder } from '../types/builder.ts'
import { CAP_LIST, ENTITIES } from '../types/cap-types.ts'
import { CREDIT_LIST, RESERVATION_LIST } from '../types/credit-types.ts'
import { EVENT_TYPE_NAMES, EVENTS } from '../types/event-types.ts'
import { RECHARGE_LIST } from '../types/recharge-types.ts'
import { USAGE_RANGE, USAGE_SERIES } from '../types/usage-series-types.ts'
import { EXPORT } from '../types/user-types.ts'
import { type AdminContext, queryCall } from './context.ts'
import type { AdminTypes } from './types.ts'

export function defineAdminQueries(builder: Builder<AdminContext>, types: AdminTypes): void {
  builder.queryType({
    fields: (t) => {
      const id = t.arg.string({ required: true })
      const page = {
        first: t.arg.int({ description: 'Maximum number of items.' }),
        after: t.arg.string({ description: 'Return items after this ID.' }),
      }
      const includeFeatures = t.arg.boolean({
        defaultValue: false,
        description: 'Used by the SDKs only. In GraphQL, the selection determines which fields are returned.',
      })
      return {
        feature: t.field({
          type: types.feature,
          args: { id },
          resolve: (_, args, context) => feature(queryCall(context), args.id),
        }),
        features: t.field({
          type: [types.feature],
          args: page,
          resolve: (_, args, context) => features(queryCall(context), args),
        }),
        canUseFeature: t.field({
          type: types.canUseFeatureData,
          args: {
            featureId: t.arg.string({ required: true }),
            userId: t.arg.string({ required: true }),
            delta: t.arg.int({ defaultValue: 1 }),
            entities: t.arg.stringList({ description: ENTITIES }),
          },
          resolve: (_, { userId, featureId, delta, entities }, context) =>
            canUseFeature(queryCall(context), userId, featureId, delta ?? 1, entities ?? undefined),
        }),
        canUseFeatures: t.field({
          type: [types.canUseFeatureData],
          args: {
            userId: t.arg.string({ required: true }),
            featureIds: t.arg.stringList({ required: true }),
          },
          resolve: (_, args, context) => canUseFeatures(queryCall(context), args.userId, args.featureIds),
        }),
        showUsage: t.field({
          type: types.showUsageData,
          args: {
            userId: t.arg.string({ required: true }),
            featureId: t.arg.string({ required: true }),
          },
          resolve: (_, args, context) => showUsage(queryCall(context), args.userId, args.featureId),
        }),
        usageSeries: t.field({
          type: types.usageSeries,
          description: USAGE_SERIES,
          args: {
            featureId: t.arg.string({ required: true }),
            userId: t.arg.string({ description: USAGE_RANGE.userId }),
            from: t.arg.string({ required: true, description: USAGE_RANGE.from }),
            to: t.arg.string({ required: true, description: USAGE_RANGE.to }),
            bucket: t.arg({ type: types.usageBucket, required: true, description: USAGE_RANGE.bucket }),
          },
          resolve: (_, args, context) => usageSeries(queryCall(context), args),
        }),
        package: t.field({
          type: types.package,
          args: { id, includeFeatures },
          resolve: (_, args, context) => packageById(queryCall(context), args.id),
        }),
        packages: t.field({
          type: [types.package],
          args: {
            status: t.arg.string({
              defaultValue: 'PUBLISHED',
              description: 'Status of the packages: DRAFT or PUBLISHED.',
            }),
            includeFeatures,
            ...page,
          },
          resolve: (_, args, context) => packages(queryCall(context), args.status ?? 'PUBLISHED', args),
        }),
        migration: t.field({
          type: types.migration,
          args: { id },
          resolve: (_, args, context) => migration(queryCall(context), args.id),
        }),
        user: t.field({
          type: types.user,
          args: { id },
          resolve: (_, args, context) => user(queryCall(context), args.id),
        }),
        exportUser: t.field({
          type: 'JSON',
          description: EXPORT,
          args: { id, after: t.arg.string({ description: 'The `next` value of the previous page.' }) },
          resolve: (_, args, context) => exportUser(queryCall(context), args.id, args.after),
        }),
        users: t.field({
          type: [types.user],
          args: page,
          resolve: (_, args, context, info) =>
            context.lists.read(info, (cursor) => users(queryCall(context), args, cursor)),
        }),
        subscription: t.field({
          type: types.subscription,
          args: { id },
          resolve: (_, args, context) => subscription(queryCall(context), args.id),
        }),
        subscriptions: t.field({
          type: [types.subscription],
          args: { userId: t.arg.string(), ...page },
          resolve: (_, args, context, info) =>
            context.lists.read(info, (cursor) =>
              subscriptions(queryCall(context), args.userId ?? null, args, cursor),
            ),
        }),
        events: t.field({
          type: types.eventPage,
          description: EVENTS,
          args: {
            after: t.arg.string({ description: 'The `next` value of the previous page.' }),
            types: t.arg.stringList({ description: EVENT_TYPE_NAMES }),
            userId: t.arg.string({ description: 'Return only events of this user.' }),
            first: t.arg.int({ defaultValue: 100, description: 'Maximum number of events.' }),
          },
          resolve: (_, args, context) => events(queryCall(context), args),
        }),
        overrides: t.field({
          type: [types.override],
          description: 'Overrides of a user that are currently in force.',
          args: {
            userId: t.arg.string({ required: true }),
            first: page.first,
            after: t.arg.string({ description: 'Return items after the one of this feature.' }),
          },
          resolve: (_, args, context) => overrides(queryCall(context), args.userId, args),
        }),
        credits: t.field({
          type: [types.credit],
          description: CREDIT_LIST,
          args: {
            userId: t.arg.string({ required: true }),
            featureId: t.arg.string(),
            state: t.arg({ type: types.creditState }),
            ...page,
          },
          resolve: (_, { userId, featureId = null, state = null, ...page }, context) =>
            credits(queryCall(context), userId, { featureId, state, ...page }),
        }),
        caps: t.field({
          type: [types.cap],
          description: CAP_LIST,
          args: { userId: t.arg.string({ required: true }), featureId: t.arg.string() },
          resolve: (_, { userId, featureId = null }, context) => caps(queryCall(context), userId, featureId),
        }),
        autoRecharges: t.field({
          type: [types.autoRecharge],
          description: RECHARGE_LIST,
          args: { userId: t.arg.string({ required: true }), featureId: t.arg.string() },
          resolve: (_, { userId, featureId = null }, context) =>
            autoRecharges(queryCall(context), userId, featureId),
        }),
        reservations: t.field({
          type: [types.reservation],
          description: RESERVATION_LIST,
          args: {
            userId: t.arg.string({ required: true }),
            featureId: t.arg.string(),
            state: t.arg({ type: types.reservationState }),
            ...page,
          },
          resolve: (_, { userId, featureId = null, state = null, ...page }, context) =>
            reservations(queryCall(context), userId, { featureId, state, ...page }),
        }),
      } satisfies Partial<Record<AdminQuery, unknown>>
    },
  })
}
