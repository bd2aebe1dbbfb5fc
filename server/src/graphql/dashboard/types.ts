import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { exponentOf } from '../../domain/currency.ts'
import type { Package, PackageEdit } from '../../domain/package.ts'
import { REACHES } from '../../domain/package-version.ts'
import type { Price } from '../../domain/price.ts'
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
import { defineUsageTypes } from '../types/usage-types.ts'
import type { DashboardContext } from './context.ts'

export type DashboardTypes = ReturnType<typeof defineDashboardTypes>

/** Types shared by several areas. */
export function defineDashboardTypes(builder: Builder<DashboardContext>) {
  const catalogue = defineCatalogueTypes(builder)
  const usage = defineUsageTypes(builder)
  const subscription = defineSubscriptionTypes(builder, catalogue.package)
  const { resetPeriod, entitlement } = defineEntitlementInput(builder)
  const role = builder.enumType('Role', { values: ROLES })
  const reach = builder.enumType('Reach', {
    description:
      'Who gets a new version: all who have the package, only those who get it from now on, or each when their period ends.',
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
        description: 'When one of their sessions was last used, to the minute; null: no session.',
        resolve: (m) => isoTimeOrNull(m.lastSeenAt),
      }),
      sessions: t.int({
        nullable: true,
        description: 'Browsers they are signed in with; null: not counted here.',
        resolve: (m) => m.sessions ?? null,
      }),
    }),
  })
  const appDeletion = builder.objectRef<NonNullable<ListedApp['deletion']>>('AppDeletion').implement({
    fields: (t) => ({
      since: t.string({ resolve: ({ since }) => isoTime(since) }),
      rows: t.expose('rows', { type: 'SafeInt', description: 'Rows that are gone so far.' }),
    }),
  })
  const app = builder.objectRef<AppRow | ListedApp>('App').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      testClock: t.boolean({
        description: 'Whether it has a time of its own, which advanceClock moves.',
        resolve: (app) => app.testClock !== null,
      }),
      origins: t.exposeStringList('origins', {
        description: 'The origins whose pages may use the client API.',
      }),
      now: t.string({ description: "The app's time.", resolve: (app) => isoTime(app.now) }),
      createdAt: t.string({ resolve: (app) => isoTime(app.createdAt) }),
      sampleLoaded: t.exposeBoolean('sampleLoaded', { description: 'Whether a sample catalogue is loaded.' }),
      archivedAt: t.string({
        nullable: true,
        description: 'Since when it is hidden and takes nothing new; null: it is in use.',
        resolve: (app) => isoTimeOrNull(app.archivedAt),
      }),
      deletion: t.field({
        type: appDeletion,
        nullable: true,
        description: 'How far its deletion is; null: it is not being deleted.',
        resolve: (app) => ('deletion' in app ? app.deletion : null),
      }),
    }),
  })

  const grant = builder.objectRef<PackageEdit['features'][number]>('Grant').implement({
    fields: (t) => ({
      id: t.exposeString('featureId'),
      limit: t.string({ nullable: true, resolve: (g) => (g.limit === null ? null : String(g.limit)) }),
      resetPeriod: t.expose('resetPeriod', { type: resetPeriod }),
      overageEnabled: t.exposeBoolean('overageEnabled'),
    }),
  })
  const packageDraft = builder.objectRef<PackageEdit>('PackageDraft').implement({
    fields: (t) => ({ name: t.exposeString('name'), grants: t.expose('features', { type: [grant] }) }),
  })
  const version = 'Another one after every change; pass it back as expectedVersion.'
  builder.objectFields(catalogue.package, (t) => ({
    grants: t.field({
      type: [grant],
      description: 'What subscribers get of each feature.',
      resolve: (p: Package) => p.features,
    }),
    draft: t.field({
      type: packageDraft,
      nullable: true,
      description: 'Edits made since it was published; nobody gets them before it is published again.',
      resolve: (p: Package) => p.draft,
    }),
    publishedVersion: t.int({
      description: 'The number of its publications so far; what subscriptions call their packageVersion.',
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
    description: 'Something with a page of its own.',
    fields: (t) => ({
      kind: t.expose('kind', { type: kind }),
      appId: t.exposeString('appId', { nullable: true, description: 'Null: it belongs to no app.' }),
      id: t.exposeString('id', { description: "A member's is the email address." }),
    }),
  })
  return builder.objectRef<SentencePart>('SentencePart').implement({
    description: 'Plain text, a name or a time; together the parts make a sentence.',
    fields: (t) => ({
      text: t.exposeString('text'),
      subject: t.expose('subject', {
        type: subject,
        nullable: true,
        description: 'What the text names; null: nothing, or something that no longer exists.',
      }),
      at: t.string({
        nullable: true,
        description: 'The time that the text tells.',
        resolve: (p) => isoTimeOrNull(p.at),
      }),
    }),
  })
}

export const DECIMALS = 'How many decimals the amount has: 1234 with 2 is 12.34.'
