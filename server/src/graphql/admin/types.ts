import type { User } from '../../domain/user.ts'
import type { Builder } from '../types/builder.ts'
import { defineCatalogueInputs } from '../types/catalogue-inputs.ts'
import { defineCatalogueTypes } from '../types/catalogue-types.ts'
import { defineChangeTime } from '../types/change-types.ts'
import { defineEntitlementInput } from '../types/entitlement-input.ts'
import { defineEventTypes } from '../types/event-types.ts'
import { defineMigration } from '../types/migration-type.ts'
import { defineOverrideTypes } from '../types/override-types.ts'
import { defineReversals } from '../types/reversal-types.ts'
import { defineSubscriptionTypes } from '../types/subscription-types.ts'
import { defineUsageTypes } from '../types/usage-types.ts'
import { defineUserTypes } from '../types/user-types.ts'
import type { AdminContext } from './context.ts'

export type AdminTypes = ReturnType<typeof defineAdminTypes>

export function defineAdminTypes(builder: Builder<AdminContext>) {
  const catalogue = defineCatalogueTypes(builder)
  const usage = defineUsageTypes(builder)
  const subscription = defineSubscriptionTypes(builder, catalogue.package)
  defineReversals(builder, subscription, ({ service }) => service)

  const changeTime = defineChangeTime(builder)

  const user = builder.objectRef<User>('User').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      billingId: t.exposeString('billingId', {
        nullable: true,
        description: 'ID of the user at the billing provider.',
      }),
      name: t.exposeString('name', { nullable: true }),
      email: t.exposeString('email', { nullable: true }),
      metadata: t.expose('metadata', { type: 'JSON' }),
    }),
  })

  const subscriptionLink = builder.objectRef<{ url: string }>('SubscriptionLink').implement({
    fields: (t) => ({ url: t.exposeString('url') }),
  })

  const { createUser, createUsageEvent, ...users } = defineUserTypes(builder, usage)
  // Spec §2: email and billingId cannot be changed through the API. Members change them in the dashboard.
  const updateUser = builder.inputType('UpdateUserInput', {
    description: 'Changes to a user. Omitted fields are not changed; null clears a field.',
    fields: (t) => ({ id: t.string(), name: t.string(), metadata: t.field({ type: 'JSON' }) }),
  })
  const { resetPeriod, entitlement } = defineEntitlementInput(builder)
  const { override, overrideInput } = defineOverrideTypes(builder, resetPeriod)
  const written = { ...catalogue, entitlement }

  return {
    ...catalogue,
    ...usage,
    ...users,
    changeTime,
    eventPage: defineEventTypes(builder),
    migration: defineMigration(builder, changeTime),
    subscription,
    user,
    subscriptionLink,
    override,
    inputs: {
      createUser,
      updateUser,
      createUsageEvent,
      override: overrideInput,
      ...defineCatalogueInputs(builder, written, 'CreatePackageFeatureInput'),
    },
  }
}
