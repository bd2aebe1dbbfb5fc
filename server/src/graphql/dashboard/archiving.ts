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

const REFUSAL = 'Why it cannot be deleted, and what to do; null: it can.'

/** Archiving and deleting what a catalogue is made of, and what to know before. */
export function defineArchiving(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const deleted = builder.objectRef<{ id: string }>('Deleted').implement({
    fields: (t) => ({ id: t.exposeString('id') }),
  })
  const ofPackage = builder.objectRef<PackageUse>('PackageUse').implement({
    fields: (t) => ({
      subscriptions: t.expose('subscriptions', { type: 'SafeInt', description: 'Past ones included.' }),
      live: t.expose('live', { type: 'SafeInt' }),
      templates: t.exposeInt('templates', { description: 'Billing templates that sell it.' }),
      refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
    }),
  })
  const ofFeature = builder.objectRef<FeatureUse>('FeatureUse').implement({
    fields: (t) => ({
      packages: t.exposeInt('packages', { description: 'Packages that grant it, in force or in a draft.' }),
      earlier: t.exposeInt('earlier', {
        description: 'Other packages that granted it in an earlier version.',
      }),
      overridden: t.exposeBoolean('overridden', { description: 'Whether an override was ever set for it.' }),
      refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
    }),
  })
  const ofTemplate = builder
    .objectRef<Awaited<ReturnType<typeof templateUse>>>('BillingTemplateUse')
    .implement({
      fields: (t) => ({
        links: t.expose('links', { type: 'SafeInt', description: 'Payment links, as far as they are kept.' }),
        refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
      }),
    })

  const ofApp = builder.objectRef<AppUse>('AppUse').implement({
    fields: (t) => {
      const count = (name: Exclude<keyof AppUse, 'refusal'>, description?: string) =>
        t.expose(name, { type: 'SafeInt', ...(description && { description }) })
      return {
        users: count('users'),
        subscriptions: count('subscriptions', 'Past ones included.'),
        ledgerEntries: count('ledgerEntries', 'Each recorded usage is one.'),
        features: count('features'),
        packages: count('packages'),
        payments: count('payments'),
        auditEntries: count('auditEntries'),
        keys: count('keys', 'API keys that work.'),
        paid: count('paid', 'Subscriptions that a provider still charges; the sandbox charges nobody.'),
        openLinks: count('openLinks', 'Payment links that can still be paid, outside the sandbox.'),
        refusal: t.exposeString('refusal', { nullable: true, description: REFUSAL }),
      }
    },
  })

  queryFields(builder, (t) => {
    const args = { appId: t.arg.string({ required: true }), id: t.arg.string({ required: true }) }
    return {
      appUse: t.field({
        type: ofApp,
        nullable: true,
        description: 'What would go with an app.',
        args: { appId: args.appId },
        resolve: (_, { appId }, context) => appUse(appCall(context, appId)),
      }),
      packageUse: t.field({
        type: ofPackage,
        nullable: true,
        args,
        resolve: (_, { appId, id }, context) => packageUse(appCall(context, appId), id),
      }),
      featureUse: t.field({
        type: ofFeature,
        nullable: true,
        args,
        resolve: (_, { appId, id }, context) => featureUse(appCall(context, appId), id),
      }),
      billingTemplateUse: t.field({
        type: ofTemplate,
        nullable: true,
        args,
        resolve: (_, { appId, id }, context) => templateUse(appCall(context, appId), id),
      }),
    }
  })

  mutationFields(builder, (t) => {
    const args = { appId: t.arg.string({ required: true }), id: t.arg.string({ required: true }) }
    const archived = t.arg.boolean({ defaultValue: true })
    return {
      archiveApp: t.field({
        type: types.app,
        nullable: true,
        description:
          'An archived app takes no new users, subscriptions, payments or catalogue changes; checks and records go on. archived: false brings it back.',
        args: { appId: args.appId, archived },
        resolve: (_, { appId, archived }, context) => archiveApp(appCall(context, appId), archived ?? true),
      }),
      deleteApp: t.field({
        type: deleted,
        nullable: true,
        description:
          'Only an archived app of which nobody is charged any more. Its keys stop working at once.',
        args: {
          appId: args.appId,
          confirm: t.arg.string({ required: true, description: "The app's id once more." }),
        },
        resolve: (_, { appId, confirm }, context) => deleteApp(installationCall(context), appId, confirm),
      }),
      archiveFeature: t.field({
        type: types.feature,
        nullable: true,
        description: 'An archived feature can be added to nothing new. archived: false brings it back.',
        args: { ...args, archived },
        resolve: async (_, { appId, id, archived }, context) =>
          archiveFeature(await inApp(appCall(context, appId)), id, archived ?? true),
      }),
      deleteFeature: t.field({
        type: deleted,
        nullable: true,
        description: 'Refused once a package has granted it or an override was set for it.',
        args,
        resolve: async (_, { appId, id }, context) => deleteFeature(await inApp(appCall(context, appId)), id),
      }),
      archivePackage: t.field({
        type: types.package,
        nullable: true,
        description: 'An archived package takes no new subscribers. archived: false brings it back.',
        args: { ...args, archived },
        resolve: async (_, { appId, id, archived }, context) =>
          archivePackage(await inApp(appCall(context, appId)), id, archived ?? true),
      }),
      deletePackage: t.field({
        type: deleted,
        nullable: true,
        description: 'Refused once somebody has subscribed to it, and while a template sells it.',
        args,
        resolve: async (_, { appId, id }, context) => deletePackage(await inApp(appCall(context, appId)), id),
      }),
      deleteBillingTemplate: t.field({
        type: deleted,
        nullable: true,
        description: 'Refused while payment links of it are kept.',
        args,
        resolve: async (_, { appId, id }, context) =>
          deleteBillingTemplate(await inApp(appCall(context, appId)), id),
      }),
    }
  })
}
