import type { PlanCap } from '../../domain/cap.ts'
import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { exponentOf } from '../../domain/currency.ts'
import type { Package, PackageEdit } from '../../domain/package.ts'
import type { Price } from '../../domain/price.ts'
import { REACHES, type ScheduledPublication } from '../../domain/publication.ts'
import { ROLES } from '../../domain/role.ts'
import { type SentencePart, SUBJECT_KINDS, type Subject } from '../../domain/sentence.ts'
import { featureVersion, packageVersion } from '../../operations/call/version.ts'
import type { AppRow, ListedApp } from '../../store/apps/apps.ts'
import type { Member } from '../../store/members/members.ts'
import type { Builder } from '../types/builder.ts'
import { defineCatalogueTypes } from '../types/catalogue-types.ts'
import { defineChangeTime } from '../types/change-types.ts'
import { defineEntitlementInput } from '../types/entitlement-input.ts'
import { defineSubscriptionTypes } from '../types/subscription-types.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { defineUsageSeries } from '../types/usage-series-types.ts'
import { defineUsageTypes } from '../types/usage-types.ts'
import type { DashboardContext } from './context.ts'

export type DashboardTypes = ReturnType<typeof defineDashboardTypes>

export function defineDashboardTypes(builder: Builder<DashboardContext>) {
  const catalogue = defineCatalogueTypes(builder)
  const usage = defineUsageTypes(builder)
  const subscription = defineSubscriptionTypes(builder, catalogue.package)
  const { resetPeriod, entitlement } = defineEntitlementInput(builder)
  const role = builder.enumType('Role', { values: ROLES })
  const reach = builder.enumType('Reach', {
    description:
      'Subscriptions that get a new version: all, new ones only, or all but each at the end of its period.',
    values: REACHES,
  })

  const member = builder.objectRef<Member>('Member').implement({
    fields: (t) => ({
      id: t.string({ resolve: (m) => String(m.id) }),
      email: t.exposeString('email'),
      role: t.expose('role', { type: role }),
      createdAt: t.string({ resolve: (m) => isoTime(m.createdAt) }),
      lastSeenAt: t.string({
        nullable: true,
        description: 'Time of last activity, to the minute; null if the member has no session.',
        resolve: (m) => isoTimeOrNull(m.lastSeenAt),
      }),
      sessions: t.int({
        nullable: true,
        description: 'Number of active sessions; null if not counted.',
        resolve: (m) => m.sessions ?? null,
      }),
    }),
  })
  const appDeletion = builder.objectRef<NonNullable<ListedApp['deletion']>>('AppDeletion').implement({
    fields: (t) => ({
      since: t.string({ resolve: ({ since }) => isoTime(since) }),
      rows: t.expose('rows', { type: 'SafeInt', description: 'Number of rows deleted so far.' }),
    }),
  })
  const app = builder.objectRef<AppRow | ListedApp>('App').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      testClock: t.boolean({
        description: 'Whether the app has a test clock, which `advanceClock` moves.',
        resolve: (app) => app.testClock !== null,
      }),
      origins: t.exposeStringList('origins', {
        description: 'Origins allowed to call the client API.',
      }),
      now: t.string({ description: "Current time by the app's clock.", resolve: (app) => isoTime(app.now) }),
      createdAt: t.string({ resolve: (app) => isoTime(app.createdAt) }),
      sampleLoaded: t.exposeBoolean('sampleLoaded', { description: 'Whether a sample catalogue is loaded.' }),
      archivedAt: t.string({
        nullable: true,
        description: 'Time at which the app was archived; null if it is not archived.',
        resolve: (app) => isoTimeOrNull(app.archivedAt),
      }),
      deletion: t.field({
        type: appDeletion,
        nullable: true,
        description: 'Progress of the deletion; null if the app is not being deleted.',
        resolve: (app) => ('deletion' in app ? app.deletion : null),
      }),
    }),
  })

  const grantCap = builder.objectRef<PlanCap>('GrantCap').implement({
    description: 'Cap for every subscriber, in windows of the UTC calendar.',
    fields: (t) => ({
      period: t.expose('period', { type: resetPeriod }),
      limit: t.string({ resolve: (cap) => String(cap.limit) }),
      perEntity: t.exposeString('perEntity', {
        nullable: true,
        description:
          'Type of the entities that are limited individually; null if all usage of the subscriber is limited.',
      }),
    }),
  })
  const grant = builder.objectRef<PackageEdit['features'][number]>('Grant').implement({
    fields: (t) => ({
      id: t.exposeString('featureId'),
      limit: t.string({ nullable: true, resolve: (g) => (g.limit === null ? null : String(g.limit)) }),
      resetPeriod: t.expose('resetPeriod', { type: resetPeriod }),
      overageEnabled: t.exposeBoolean('overageEnabled'),
      overageCap: t.string({
        nullable: true,
        resolve: (g) => (g.overageCap === undefined ? null : String(g.overageCap)),
      }),
      caps: t.field({ type: [grantCap], resolve: (g) => g.caps ?? [] }),
    }),
  })
  const packageDraft = builder.objectRef<PackageEdit>('PackageDraft').implement({
    fields: (t) => ({ name: t.exposeString('name'), grants: t.expose('features', { type: [grant] }) }),
  })
  const scheduled = builder.objectRef<ScheduledPublication>('ScheduledPublication').implement({
    description: 'Scheduled publication of a package.',
    fields: (t) => ({
      at: t.string({ description: "Time by the app's clock.", resolve: ({ at }) => isoTime(at) }),
      for: t.expose('reach', { type: reach }),
      note: t.exposeString('note', { nullable: true }),
      author: t.exposeString('author', {
        description:
          'Email address of the member who scheduled it. The member must be an editor or owner at that time.',
      }),
      problem: t.exposeString('problem', {
        nullable: true,
        description: 'Reason why the package was not published; null if the time is still to come.',
      }),
    }),
  })
  const version = 'Version identifier that changes with every edit, for use as `expectedVersion`.'
  builder.objectFields(catalogue.package, (t) => ({
    grants: t.field({
      type: [grant],
      description: 'Entitlements of subscribers, one per feature.',
      resolve: (p: Package) => p.features,
    }),
    draft: t.field({
      type: packageDraft,
      nullable: true,
      description: 'Unpublished edits to a published package.',
      resolve: (p: Package) => p.draft,
    }),
    scheduled: t.field({
      type: scheduled,
      nullable: true,
      description: 'Scheduled publication; null if there is none.',
      resolve: (p: Package) => p.scheduled,
    }),
    publishedVersion: t.int({
      description: 'Number of times the package was published; the `packageVersion` of its subscriptions.',
      resolve: (p: Package) => p.version,
    }),
    version: t.string({ description: version, resolve: (p: Package) => packageVersion(p) }),
  }))
  builder.objectFields(catalogue.feature, (t) => ({
    version: t.string({ description: version, resolve: (f: CataloguedFeature) => featureVersion(f) }),
  }))

  builder.objectFields(catalogue.price, (t) => ({
    decimals: t.int({
      description: DECIMALS,
      resolve: ({ provider, currency }: Price) => exponentOf(provider, currency),
    }),
  }))

  const changeTime = defineChangeTime(builder)
  const part = defineSentencePart(builder)
  return {
    ...catalogue,
    changeTime,
    ...usage,
    ...defineUsageSeries(builder),
    subscription,
    resetPeriod,
    entitlement,
    role,
    reach,
    member,
    app,
    grant,
    part,
  }
}

function defineSentencePart(builder: Builder<DashboardContext>) {
  const kind = builder.enumType('SubjectKind', { values: SUBJECT_KINDS })
  const subject = builder.objectRef<Subject>('SentenceSubject').implement({
    description: 'An object with a page in the dashboard.',
    fields: (t) => ({
      kind: t.expose('kind', { type: kind }),
      appId: t.exposeString('appId', {
        nullable: true,
        description: 'App of the object; null if it belongs to no app.',
      }),
      id: t.exposeString('id', { description: 'ID of the object. For a member, the email address.' }),
    }),
  })
  return builder.objectRef<SentencePart>('SentencePart').implement({
    description: 'Part of a sentence: plain text, a name or a time.',
    fields: (t) => ({
      text: t.exposeString('text'),
      subject: t.expose('subject', {
        type: subject,
        nullable: true,
        description: 'Object named by the text; null for plain text and for objects that no longer exist.',
      }),
      at: t.string({
        nullable: true,
        description: 'Time expressed by the text.',
        resolve: (p) => isoTimeOrNull(p.at),
      }),
    }),
  })
}

export const DECIMALS = 'Number of decimal places of the amount: with 2, 1234 stands for 12.34.'
