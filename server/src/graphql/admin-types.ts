import { type RecordedUsage, USAGE_ACTIONS } from '../domain/usage.ts'
import type { User } from '../domain/user.ts'
import type { ShowUsage } from '../operations/show-usage.ts'
import type { Builder } from './builder.ts'
import { defineCatalogueTypes } from './catalogue-types.ts'
import type { AdminContext } from './context.ts'
import { defineEntitlementInput } from './entitlement-input.ts'
import { defineSubscriptionTypes } from './subscription-types.ts'
import { defineUsageTypes } from './usage-types.ts'

export type AdminTypes = ReturnType<typeof defineAdminTypes>

export function defineAdminTypes(builder: Builder<AdminContext>) {
  const catalogue = defineCatalogueTypes(builder)
  const usage = defineUsageTypes(builder)
  const subscription = defineSubscriptionTypes(builder, catalogue.package)

  const user = builder.objectRef<User>('User').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      billingId: t.exposeString('billingId', {
        nullable: true,
        description: "The user's id at the billing provider.",
      }),
      name: t.exposeString('name', { nullable: true }),
      email: t.exposeString('email', { nullable: true }),
      metadata: t.expose('metadata', { type: 'JSON' }),
    }),
  })

  const showUsageData = builder.objectRef<ShowUsage>('ShowUsageData').implement({
    fields: (t) => ({
      current: t.expose('current', {
        type: usage.usagePeriod,
        nullable: true,
        description: 'Null where the feature is not counted for this user.',
      }),
      past: t.expose('past', { type: [usage.usagePeriod], description: 'Newest first, at most 24.' }),
    }),
  })

  const recordedUsage = builder.objectRef<RecordedUsage>('RecordedUsage').implement({
    fields: (t) => ({
      recorded: t.exposeBoolean('recorded'),
      reason: t.exposeString('reason', { nullable: true, description: 'Null when recorded.' }),
      consumption: t.expose('consumption', {
        type: usage.consumption,
        nullable: true,
        description: 'As it stands after the call.',
      }),
    }),
  })

  const subscriptionLink = builder.objectRef<{ url: string }>('SubscriptionLink').implement({
    fields: (t) => ({ url: t.exposeString('url') }),
  })
  const generatedUserToken = builder.objectRef<{ token: string }>('GeneratedUserToken').implement({
    fields: (t) => ({ token: t.exposeString('token') }),
  })

  return {
    ...catalogue,
    ...usage,
    subscription,
    user,
    showUsageData,
    recordedUsage,
    subscriptionLink,
    generatedUserToken,
    inputs: defineInputs(builder, catalogue),
  }
}

function defineInputs(
  builder: Builder<AdminContext>,
  { featureType }: Pick<ReturnType<typeof defineCatalogueTypes<AdminContext>>, 'featureType'>,
) {
  const { entitlement } = defineEntitlementInput(builder)
  const usageAction = builder.enumType('UsageAction', { values: USAGE_ACTIONS })

  const packageFeature = builder.inputType('CreatePackageFeatureInput', {
    fields: (t) => ({
      id: t.string({ required: true }),
      entitlement: t.field({ type: entitlement }),
    }),
  })
  return {
    createUser: builder.inputType('CreateUserInput', {
      fields: (t) => ({
        id: t.string({ required: true }),
        billingId: t.string(),
        name: t.string(),
        email: t.string(),
        metadata: t.field({ type: 'JSON' }),
      }),
    }),
    updateUser: builder.inputType('UpdateUserInput', {
      fields: (t) => ({ id: t.string(), name: t.string(), metadata: t.field({ type: 'JSON' }) }),
    }),
    createFeature: builder.inputType('CreateFeatureInput', {
      fields: (t) => ({
        id: t.string({ required: true }),
        name: t.string({ required: true }),
        unitLabel: t.string(),
        unitLabelPlural: t.string(),
        type: t.field({ type: featureType, required: true }),
        metadata: t.field({ type: 'JSON' }),
      }),
    }),
    updateFeature: builder.inputType('UpdateFeatureInput', {
      fields: (t) => ({
        name: t.string(),
        unitLabel: t.string(),
        unitLabelPlural: t.string(),
        metadata: t.field({ type: 'JSON' }),
      }),
    }),
    createPackage: builder.inputType('CreatePackageInput', {
      fields: (t) => ({
        id: t.string({ required: true }),
        name: t.string({ required: true }),
        isAddon: t.boolean({ defaultValue: false }),
        metadata: t.field({ type: 'JSON' }),
        features: t.field({ type: [packageFeature] }),
      }),
    }),
    updatePackage: builder.inputType('UpdatePackageInput', {
      fields: (t) => ({ metadata: t.field({ type: 'JSON' }) }),
    }),
    createUsageEvent: builder.inputType('CreateUsageEventInput', {
      fields: (t) => ({
        userId: t.string({ required: true }),
        featureId: t.string({ required: true }),
        delta: t.field({ type: 'SafeInt', required: true }),
        action: t.field({ type: usageAction, description: 'ADD when left out.' }),
        idempotencyKey: t.string({ description: 'The same key is counted once.' }),
      }),
    }),
  }
}
