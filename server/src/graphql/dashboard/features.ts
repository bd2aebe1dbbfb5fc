import { inApp } from '../../operations/apps/apps.ts'
import type { KeyedPage } from '../../operations/call/pages.ts'
import { type FeaturePackage, featurePackages } from '../../operations/catalogue/feature-packages.ts'
import { type FeatureUser, featureUsers } from '../../operations/catalogue/feature-users.ts'
import { FEATURE_INTERVALS, featureActivity } from '../../operations/home/feature-activity.ts'
import type { FeatureCalls } from '../../store/usage/feature-activity.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** A feature's page: who has it, and how it is used. */
export function defineFeatures(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const interval = builder.enumType('FeatureInterval', { values: FEATURE_INTERVALS })
  const point = builder.objectRef<FeatureCalls & { at: number }>('FeatureActivityPoint').implement({
    description: 'Calls that concern the feature, in the interval that starts then.',
    fields: (t) => ({
      at: t.string({ resolve: (p) => isoTime(p.at) }),
      checks: t.expose('checks', { type: 'SafeInt' }),
      denied: t.expose('denied', { type: 'SafeInt', description: 'Of the checks: those answered with no.' }),
      records: t.expose('records', { type: 'SafeInt' }),
      units: t.exposeFloat('units', {
        description: 'What the records added up to; negative where more was taken back than recorded.',
      }),
      refused: t.expose('refused', { type: 'SafeInt', description: 'Records that were refused.' }),
    }),
  })
  const carrier = builder.objectRef<FeaturePackage>('FeaturePackage').implement({
    description: 'A version of a package that grants the feature.',
    fields: (t) => ({
      package: t.expose('package', { type: types.package }),
      version: t.exposeInt('version', { nullable: true, description: 'Null: only its draft grants it.' }),
      grant: t.expose('grant', { type: types.grant }),
      subscribers: t.int({
        description: 'How many live subscriptions have this version.',
        resolve: ({ held }) => held.count,
      }),
      moreSubscribers: t.boolean({
        description: 'Whether there are older subscriptions that were not looked at.',
        resolve: ({ held }) => held.more,
      }),
    }),
  })
  const users = defineUserPage(builder)
  queryFields(builder, (t) => {
    const args = { appId: t.arg.string({ required: true }), id: t.arg.string({ required: true }) }
    const page = { first: t.arg.int({ defaultValue: 50 }), after: t.arg.string() }
    return {
      featurePackages: t.field({
        type: [carrier],
        description: 'The packages that grant the feature.',
        args,
        resolve: async (_, { appId, id }, context) =>
          featurePackages(await inApp(appCall(context, appId)), id),
      }),
      featureUsers: t.field({
        type: users,
        nullable: true,
        description: 'Users to whom a package grants the feature, package by package.',
        args: { ...args, packageId: t.arg.string({ description: 'Only those who have this one.' }), ...page },
        resolve: async (_, { appId, id, packageId, first, after }, context) =>
          featureUsers(await inApp(appCall(context, appId)), id, packageId ?? null, first, after),
      }),
      featureActivity: t.field({
        type: [point],
        args: {
          ...args,
          from: t.arg.string({ required: true, description: 'ISO 8601.' }),
          to: t.arg.string({ required: true }),
          interval: t.arg({ type: interval, required: true }),
        },
        resolve: async (_, { appId, id, from, to, interval }, context) =>
          featureActivity(await inApp(appCall(context, appId)), id, from, to, interval),
      }),
    }
  })
}

function defineUserPage(builder: Builder<DashboardContext>) {
  const user = builder.objectRef<FeatureUser>('FeatureUser').implement({
    fields: (t) => ({
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true }),
      packageId: t.exposeString('packageId', {
        description: 'Of several that grant the feature, the first that is listed.',
      }),
      packageName: t.exposeString('packageName'),
      denied: t.exposeBoolean('denied', { description: 'By an override.' }),
      overridden: t.exposeBoolean('overridden'),
      used: t.exposeFloat('used', { nullable: true, description: 'Null: the feature is not counted.' }),
      budget: t.exposeFloat('budget', { nullable: true, description: 'Null: without a limit.' }),
      overageEnabled: t.exposeBoolean('overageEnabled'),
      periodEnd: t.string({ nullable: true, resolve: (u) => isoTimeOrNull(u.periodEnd) }),
    }),
  })
  return builder.objectRef<KeyedPage<FeatureUser>>('FeatureUserPage').implement({
    fields: (t) => ({
      rows: t.field({ type: [user], resolve: (page) => page.rows }),
      next: t.string({
        nullable: true,
        description:
          'Passed as after, it leads to the next page; null: that was all. A page may be short, or empty.',
        resolve: (page) => page.next,
      }),
    }),
  })
}
