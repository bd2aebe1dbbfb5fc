import { inApp } from '../../operations/apps/apps.ts'
import { type AppUse, appUse, archiveApp, deleteApp } from '../../operations/apps/remove-app.ts'
import { deleteBillingTemplate, templateUse } from '../../operations/billing/billing-templates.ts'
import { archiveFeature } from '../../operations/catalogue/archive-feature.ts'
import { archivePackage } from '../../operations/catalogue/archive-package.ts'
import { deleteFeature, type FeatureUse, featureUse } from '../../operations/catalogue/delete-feature.ts'
import { deletePackage, type PackageUse, packageUse } from '../../operations/catalogue/delete-package.ts'
import type { Builder } from '../types/builder.ts'
import { appCall, type DashboardContext, installationCall } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

const REFUSAL = 'Reason why deletion is not possible and how to resolve it; null if it is possible.'

/** Archiving and deleting apps, catalogue objects and billing templates. */
export function defineArchiving(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const deleted = builder.objectRef<{ id: string }>('Deleted').implement({
    fields: (t) => ({ id: t.exposeString('id') }),
  })
  const ofPackage = builder.objectRef<PackageUse>('PackageUse').implement({
    fields: (t) => ({
      subscriptions: t.expose('subscriptions', {
        type: 'SafeInt',
        description: 'Number of subscriptions, including cancelled ones.',
      }),
      live: t.expose('live', { type: 'SafeInt' }),
      templates: t.exposeInt('templates', {
        description: 'Number of billing templates that include the package.',
      }),
      refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
    }),
  })
  const ofFeature = builder.objectRef<FeatureUse>('FeatureUse').implement({
    fields: (t) => ({
      packages: t.exposeInt('packages', {
        description: 'Number of packages that grant the feature, including drafts.',
      }),
      earlier: t.exposeInt('earlier', {
        description: 'Number of other packages that granted the feature in an earlier version.',
      }),
      overridden: t.exposeBoolean('overridden', {
        description: 'Whether an override was ever set for the feature.',
      }),
      refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
    }),
  })
  const ofTemplate = builder
    .objectRef<Awaited<ReturnType<typeof templateUse>>>('BillingTemplateUse')
    .implement({
      fields: (t) => ({
        links: t.expose('links', { type: 'SafeInt', description: 'Number of stored payment links.' }),
        refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
      }),
    })

  const ofApp = builder.objectRef<AppUse>('AppUse').implement({
    fields: (t) => {
      const count = (name: Exclude<keyof AppUse, 'refusal'>, description?: string) =>
        t.expose(name, { type: 'SafeInt', ...(description && { description }) })
      return {
        users: count('users'),
        subscriptions: count('subscriptions', 'Number of subscriptions, including cancelled ones.'),
        ledgerEntries: count('ledgerEntries', 'Number of recorded usage events.'),
        features: count('features'),
        packages: count('packages'),
        payments: count('payments'),
        auditEntries: count('auditEntries'),
        keys: count('keys', 'Number of valid API keys.'),
        paid: count('paid', 'Number of subscriptions charged by a billing provider other than the sandbox.'),
        openLinks: count(
          'openLinks',
          'Number of open payment links at billing providers other than the sandbox.',
        ),
        refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
      }
    },
  })

  queryFields(builder, (t, { appId, id }) => {
    const args = { appId, id }
    return {
      appUse: t.field({
        type: ofApp,
        description: 'Data that would be deleted with an app.',
        args: { appId: args.appId },
        resolve: (_, { appId }, context) => appUse(appCall(context, appId)),
      }),
      packageUse: t.field({
        type: ofPackage,
        args,
        resolve: (_, { appId, id }, context) => packageUse(appCall(context, appId), id),
      }),
      featureUse: t.field({
        type: ofFeature,
        args,
        resolve: (_, { appId, id }, context) => featureUse(appCall(context, appId), id),
      }),
      billingTemplateUse: t.field({
        type: ofTemplate,
        args,
        resolve: (_, { appId, id }, context) => templateUse(appCall(context, appId), id),
      }),
    }
  })

  mutationFields(builder, (t, { appId, id }) => {
    const args = { appId, id }
    const archived = t.arg.boolean({ defaultValue: true })
    return {
      archiveApp: t.field({
        type: types.app,
        description:
          'Archives an app, or restores it if `archived` is false. An archived app rejects new users, subscriptions, payments and catalogue changes; checks and usage recording keep working.',
        args: { appId: args.appId, archived },
        resolve: (_, { appId, archived }, context) => archiveApp(appCall(context, appId), archived ?? true),
      }),
      deleteApp: t.field({
        type: deleted,
        description:
          'Deletes an archived app that has no charged subscriptions. Its API keys stop working immediately.',
        args: {
          appId: args.appId,
          confirm: t.arg.string({ required: true, description: 'ID of the app, as a confirmation.' }),
        },
        resolve: (_, { appId, confirm }, context) => deleteApp(installationCall(context), appId, confirm),
      }),
      archiveFeature: t.field({
        type: types.feature,
        description:
          'Archives a feature, or restores it if `archived` is false. An archived feature cannot be added to packages.',
        args: { ...args, archived },
        resolve: async (_, { appId, id, archived }, context) =>
          archiveFeature(await inApp(appCall(context, appId)), id, archived ?? true),
      }),
      deleteFeature: t.field({
        type: deleted,
        description: 'Deletes a feature that was never granted by a package or overridden.',
        args,
        resolve: async (_, { appId, id }, context) => deleteFeature(await inApp(appCall(context, appId)), id),
      }),
      archivePackage: t.field({
        type: types.package,
        description:
          'Archives a package, or restores it if `archived` is false. An archived package accepts no new subscriptions.',
        args: { ...args, archived },
        resolve: async (_, { appId, id, archived }, context) =>
          archivePackage(await inApp(appCall(context, appId)), id, archived ?? true),
      }),
      deletePackage: t.field({
        type: deleted,
        description: 'Deletes a package that never had a subscription and is not part of a billing template.',
        args,
        resolve: async (_, { appId, id }, context) => deletePackage(await inApp(appCall(context, appId)), id),
      }),
      deleteBillingTemplate: t.field({
        type: deleted,
        description: 'Deletes a billing template that has no stored payment links.',
        args,
        resolve: async (_, { appId, id }, context) =>
          deleteBillingTemplate(await inApp(appCall(context, appId)), id),
      }),
    }
  })
}
