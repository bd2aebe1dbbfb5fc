import type { User } from '../../domain/user.ts'
import type { Call, UserActor } from '../../operations/call/call.ts'
import { offeredPackages, publishedPackage } from '../../operations/catalogue/packages.ts'
import { subscriptions } from '../../operations/subscriptions/subscriptions.ts'
import { canUseFeature, canUseFeatures } from '../../operations/usage/can-use-feature.ts'
import { showUsage, type UsagePeriod } from '../../operations/usage/show-usage.ts'
import { asThemselves, me } from '../../operations/users/me.ts'
import type { LongLists } from '../engine/long-lists.ts'
import {
  acceptQuotedEnums,
  type Builder,
  builtOnce,
  newBuilder,
  nullableOperations,
} from '../types/builder.ts'
import { defineCatalogueTypes } from '../types/catalogue-types.ts'
import { defineSubscriptionTypes } from '../types/subscription-types.ts'
import { defineUsageTypes } from '../types/usage-types.ts'

/** A request by an end user from a browser. */
export interface ClientContext {
  call: Call<UserActor>
  lists: LongLists
}

/** The client API: read-only, for data of the authenticated user. */
export const clientSchema = builtOnce(() => {
  const builder = newBuilder<ClientContext>()
  defineQueries(builder)
  return nullableOperations(acceptQuotedEnums(builder.toSchema()))
})

function defineQueries(builder: Builder<ClientContext>): void {
  const catalogue = defineCatalogueTypes(builder)
  const usage = defineUsageTypes(builder)
  const subscription = defineSubscriptionTypes(builder, catalogue.package)

  const user = builder.objectRef<User>('User').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name', { nullable: true }),
      email: t.exposeString('email', { nullable: true }),
    }),
  })
  const showUsageData = builder.objectRef<{ current: UsagePeriod | null }>('ShowUsageData').implement({
    fields: (t) => ({ current: t.expose('current', { type: usage.usagePeriod, nullable: true }) }),
  })

  builder.queryType({
    fields: (t) => {
      const featureId = t.arg.string({ required: true })
      return {
        me: t.field({ type: user, nullable: true, resolve: (_, _args, { call }) => me(call) }),
        canUseFeature: t.field({
          type: usage.canUseFeatureData,
          args: { featureId, delta: t.arg.int({ defaultValue: 1 }) },
          resolve: (_, { featureId, delta }, { call }) =>
            asThemselves(call, (userId) => canUseFeature(call, userId, featureId, delta ?? 1)),
        }),
        canUseFeatures: t.field({
          type: [usage.canUseFeatureData],
          args: { featureIds: t.arg.stringList({ required: true }) },
          resolve: (_, { featureIds }, { call }) =>
            asThemselves(call, (userId) => canUseFeatures(call, userId, featureIds)),
        }),
        showUsage: t.field({
          type: showUsageData,
          args: { featureId },
          resolve: (_, { featureId }, { call }) =>
            asThemselves(call, (userId) => showUsage(call, userId, featureId)),
        }),
        package: t.field({
          type: catalogue.package,
          args: { id: t.arg.string({ required: true }) },
          resolve: (_, { id }, { call }) => publishedPackage(call, id),
        }),
        packages: t.field({
          type: [catalogue.package],
          resolve: (_, _args, { call }) => offeredPackages(call),
        }),
        subscriptions: t.field({
          type: [subscription],
          resolve: (_, _args, { call, lists }, info) =>
            lists.read(info, (cursor) =>
              asThemselves(call, (userId) => subscriptions(call, userId, {}, cursor)),
            ),
        }),
      }
    },
  })
}
