import { inApp } from '../../operations/apps/apps.ts'
import type { KeyedPage } from '../../operations/call/pages.ts'
import { type FeaturePackage, featurePackages } from '../../operations/catalogue/feature-packages.ts'
import { type FeatureUser, featureUsers } from '../../operations/catalogue/feature-users.ts'
import { FEATURE_INTERVALS, featureActivity, featureTotals } from '../../operations/home/feature-activity.ts'
import { type FeatureDenial, featureDenials } from '../../operations/home/feature-denials.ts'
import { DENIAL_KINDS } from '../../store/usage/denials.ts'
import type { FeatureCalls } from '../../store/usage/feature-activity.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { queryFields, USER_NAME } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** The page of a feature: its users and usage. */
export function defineFeatures(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const interval = builder.enumType('FeatureInterval', { values: FEATURE_INTERVALS })
  const point = builder.objectRef<FeatureCalls & { at: number }>('FeatureActivityPoint').implement({
    description: 'Number of calls for the feature in the interval that starts at `at`.',
    fields: (t) => ({
      at: t.string({ resolve: (p) => isoTime(p.at) }),
      checks: t.expose('checks', { type: 'SafeInt' }),
      denied: t.expose('denied', { type: 'SafeInt', description: 'Number of checks that denied access.' }),
      records: t.expose('records', { type: 'SafeInt' }),
      units: t.exposeFloat('units', {
        description: 'Sum of recorded usage; negative if more was reverted than recorded.',
      }),
      refused: t.expose('refused', {
        type: 'SafeInt',
        description: 'Number of usage events that were not recorded.',
      }),
    }),
  })
  const totals = builder.objectRef<FeatureCalls & { featureId: string }>('FeatureTotals').implement({
    description: 'Number of calls for a feature in the last seven days.',
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      checks: t.expose('checks', { type: 'SafeInt' }),
      denied: t.expose('denied', { type: 'SafeInt', description: 'Number of checks that denied access.' }),
      records: t.expose('records', { type: 'SafeInt' }),
      units: t.exposeFloat('units', {
        description: 'Sum of recorded usage; negative if more was reverted than recorded.',
      }),
    }),
  })
  const carrier = builder.objectRef<FeaturePackage>('FeaturePackage').implement({
    description: 'A version of a package that grants the feature.',
    fields: (t) => ({
      package: t.expose('package', { type: types.package }),
      version: t.exposeInt('version', {
        nullable: true,
        description: 'Version of the package; null if only the draft grants the feature.',
      }),
      grant: t.expose('grant', { type: types.grant }),
      subscribers: t.int({
        description: 'Number of live subscriptions with this version.',
        resolve: ({ held }) => held.count,
      }),
      moreSubscribers: t.boolean({
        description: 'Whether there are older subscriptions that were not counted.',
        resolve: ({ held }) => held.more,
      }),
    }),
  })
  const users = defineUserPage(builder)
  const denials = defineDenials(builder)
  queryFields(builder, (t, { appId, id }) => {
    const args = { appId, id }
    const page = { first: t.arg.int({ defaultValue: 50 }), after: t.arg.string() }
    return {
      featurePackages: t.field({
        type: [carrier],
        description: 'Package versions that grant the feature.',
        args,
        resolve: async (_, { appId, id }, context) =>
          featurePackages(await inApp(appCall(context, appId)), id),
      }),
      featureUsers: t.field({
        type: users,
        description: 'Users who are granted the feature, grouped by package.',
        args: { ...args, packageId: t.arg.string({ description: 'Only users of this package.' }), ...page },
        resolve: async (_, { appId, id, packageId, first, after }, context) =>
          featureUsers(await inApp(appCall(context, appId)), id, packageId ?? null, { first, after }),
      }),
      featureTotals: t.field({
        type: [totals],
        description: 'Calls for the features of the app. Features without calls are omitted.',
        args: { appId },
        resolve: async (_, { appId }, context) => featureTotals(await inApp(appCall(context, appId))),
      }),
      featureDenials: t.field({
        type: denials,
        description:
          'Users whose checks or usage were denied, latest first: one row per user, for up to 500 users. Calls for unknown users are counted in `featureActivity`, but not listed.',
        args: { ...args, ...page },
        resolve: async (_, { appId, id, first, after }, context) =>
          featureDenials(await inApp(appCall(context, appId)), id, { first, after }),
      }),
      featureActivity: t.field({
        type: [point],
        args: {
          ...args,
          from: t.arg.string({ required: true, description: 'Start of the time range (ISO 8601).' }),
          to: t.arg.string({ required: true }),
          interval: t.arg({ type: interval, required: true }),
        },
        resolve: async (_, { appId, id, from, to, interval }, context) =>
          featureActivity(await inApp(appCall(context, appId)), id, from, to, interval),
      }),
    }
  })
}

function defineDenials(builder: Builder<DashboardContext>) {
  const kind = builder.enumType('DenialKind', { values: DENIAL_KINDS })
  const denial = builder.objectRef<FeatureDenial>('FeatureDenial').implement({
    fields: (t) => ({
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
      kind: t.expose('kind', { type: kind, description: 'Kind of the latest denied call.' }),
      reason: t.exposeString('reason', { description: 'Human-readable reason of the latest denial.' }),
      times: t.expose('times', {
        type: 'SafeInt',
        description:
          'Number of denials of this user. Some are missing if very many users are denied at once.',
      }),
      firstAt: t.string({ resolve: (d) => isoTime(d.firstAt) }),
      at: t.string({ description: 'Time of the latest denial.', resolve: (d) => isoTime(d.at) }),
    }),
  })
  return definePage(builder, 'FeatureDenialPage', denial)
}

function defineUserPage(builder: Builder<DashboardContext>) {
  const user = builder.objectRef<FeatureUser>('FeatureUser').implement({
    fields: (t) => ({
      userId: t.exposeString('userId'),
      userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
      packageId: t.exposeString('packageId', {
        description: 'Package that grants the feature. If there are several, the first in the list.',
      }),
      packageName: t.exposeString('packageName'),
      denied: t.exposeBoolean('denied', { description: 'Whether an override denies access.' }),
      overridden: t.exposeBoolean('overridden'),
      used: t.exposeFloat('used', {
        nullable: true,
        description: 'Usage in the current period; null for a binary feature.',
      }),
      budget: t.exposeFloat('budget', {
        nullable: true,
        description: 'Allowance for the period; null if unlimited.',
      }),
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
          'Cursor for the next page, passed as `after`; null on the last page. A page may contain fewer rows than requested, or none.',
        resolve: (page) => page.next,
      }),
    }),
  })
}
