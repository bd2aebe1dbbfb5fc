import { IF_OVER } from '../../domain/reservation.ts'
import type { User } from '../../domain/user.ts'
import type { Builder } from '../types/builder.ts'
import { defineCapTypes, ENTITIES } from '../types/cap-types.ts'
import { defineCatalogueInputs } from '../types/catalogue-inputs.ts'
import { defineCatalogueTypes } from '../types/catalogue-types.ts'
import { defineChangeTime } from '../types/change-types.ts'
import { defineCreditTypes } from '../types/credit-types.ts'
import { defineEntitlementInput } from '../types/entitlement-input.ts'
import { defineEventTypes } from '../types/event-types.ts'
import { defineMigration } from '../types/migration-type.ts'
import { defineOverrideTypes } from '../types/override-types.ts'
import { defineRechargeTypes } from '../types/recharge-types.ts'
import { defineReversals } from '../types/reversal-types.ts'
import { defineSubscriptionTypes } from '../types/subscription-types.ts'
import { defineUsageSeries } from '../types/usage-series-types.ts'
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

  const creditLink = builder.objectRef<{ url: string }>('CreditLink').implement({
    fields: (t) => ({ url: t.exposeString('url') }),
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
  const { creditInput, ...credits } = defineCreditTypes(builder)
  const { cap, capInput } = defineCapTypes(builder, resetPeriod)
  const { autoRecharge, autoRechargeInput } = defineRechargeTypes(builder)
  const ifOver = builder.enumType('IfOver', {
    description:
      'Treatment of units beyond the reservation. RECORD: record them anyway. CAP: record as many as are left. REJECT: record nothing and keep the reservation.',
    values: IF_OVER,
  })
  const reservationInput = builder.inputType('ReservationInput', {
    fields: (t) => ({
      id: t.string({
        description: 'The same request under the same ID returns the same reservation. Generated if omitted.',
      }),
      userId: t.string({ required: true }),
      featureId: t.string({ required: true }),
      amount: t.field({ type: 'SafeInt', required: true, description: 'Maximum number of units to hold.' }),
      atLeast: t.field({
        type: 'SafeInt',
        description: 'Minimum number of units; with fewer, nothing is held. Defaults to `amount`.',
      }),
      ttlSeconds: t.int({ description: 'Seconds until the reservation expires. Defaults to 300.' }),
      entities: t.stringList({ description: ENTITIES }),
      metadata: t.field({ type: 'JSON' }),
    }),
  })
  const written = { ...catalogue, entitlement }

  return {
    ...catalogue,
    ...usage,
    ...defineUsageSeries(builder),
    ...users,
    changeTime,
    eventPage: defineEventTypes(builder),
    migration: defineMigration(builder, changeTime),
    subscription,
    user,
    creditLink,
    subscriptionLink,
    override,
    ...credits,
    cap,
    autoRecharge,
    resetPeriod,
    ifOver,
    inputs: {
      createUser,
      updateUser,
      createUsageEvent,
      override: overrideInput,
      credit: creditInput,
      cap: capInput,
      autoRecharge: autoRechargeInput,
      reservation: reservationInput,
      ...defineCatalogueInputs(builder, written, 'CreatePackageFeatureInput'),
    },
  }
}
