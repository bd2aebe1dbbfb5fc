import { inApp } from '../../operations/apps/apps.ts'
import {
  migrateSubscriptions,
  migration,
  migrationPreview,
  undoMigration,
} from '../../operations/catalogue/migrations.ts'
import {
  type PackageVersion,
  type PackageVersions,
  packageVersions,
} from '../../operations/catalogue/package-versions.ts'
import type { HistoryRow } from '../../store/catalogue/package-history.ts'
import type { Builder } from '../types/builder.ts'
import { defineMigration } from '../types/migration-type.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Versions of a package, and migrations between them. */
export function defineVersions(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const { changeTime } = types
  const migrationType = defineMigration(builder, changeTime)
  const version = builder.objectRef<PackageVersion>('PackageVersion').implement({
    fields: (t) => ({
      version: t.exposeInt('version'),
      grants: t.field({ type: [types.grant], resolve: (v) => [...v.features] }),
      publishedAt: t.string({ nullable: true, resolve: (v) => isoTimeOrNull(v.publishedAt) }),
      for: t.expose('reach', {
        type: types.reach,
        nullable: true,
        description: 'Subscriptions the version was published for; null for the first version.',
      }),
      author: t.exposeString('author', {
        nullable: true,
        description: 'Email address of the member who published it; null if not recorded.',
      }),
      note: t.exposeString('note', { nullable: true, description: 'Note of the publication.' }),
      held: t.expose('held', {
        type: 'SafeInt',
        description: 'Number of live subscriptions with this version.',
      }),
    }),
  })
  const past = builder.objectRef<HistoryRow>('PastMigration').implement({
    fields: (t) => ({
      id: t.string({ resolve: (m) => m.id ?? '' }),
      fromVersion: t.exposeInt('from'),
      toVersion: t.exposeInt('to'),
      when: t.field({ type: changeTime, resolve: (m) => (m.reach === 'ALL' ? 'NOW' : 'PERIOD_END') }),
      at: t.string({ resolve: (m) => isoTime(m.at) }),
      author: t.exposeString('author', {
        nullable: true,
        description: 'Email address of the member who started it; null if not recorded.',
      }),
      undoneAt: t.string({ nullable: true, resolve: (m) => isoTimeOrNull(m.undoneAt) }),
    }),
  })
  const versions = builder.objectRef<PackageVersions>('PackageVersions').implement({
    fields: (t) => ({
      versions: t.expose('versions', {
        type: [version],
        description: 'Versions of the package, newest first.',
      }),
      migrations: t.expose('migrations', {
        type: [past],
        description: 'Migrations of the package, newest first.',
      }),
    }),
  })

  queryFields(builder, (t, { appId, id, packageId }) => ({
    packageVersions: t.field({
      type: versions,
      args: {
        appId,
        packageId,
        first: t.arg.int({
          description: 'Maximum number of versions and of migrations. Default and maximum: 500.',
        }),
        before: t.arg.int({ description: 'Only versions before this one.' }),
      },
      resolve: (_, { appId, packageId, first, before }, context) =>
        packageVersions(appCall(context, appId), packageId, { first, before }),
    }),
    migration: t.field({
      type: migrationType,
      args: { appId, id },
      resolve: async (_, { appId, id }, context) => migration(await inApp(appCall(context, appId)), id),
    }),
    migrationPreview: t.field({
      type: migrationType,
      args: {
        appId,
        packageId,
        fromVersion: t.arg.int({ required: true }),
        toVersion: t.arg.int({ required: true }),
        when: t.arg({ type: changeTime, defaultValue: 'NOW' }),
      },
      resolve: async (_, { appId, when, ...input }, context) =>
        migrationPreview(await inApp(appCall(context, appId)), { ...input, when: when ?? 'NOW' }),
    }),
  }))

  mutationFields(builder, (t, { appId, id, packageId }) => ({
    migrateSubscriptions: t.field({
      type: migrationType,
      args: {
        appId,
        packageId,
        fromVersion: t.arg.int({ required: true }),
        toVersion: t.arg.int({ required: true }),
        when: t.arg({ type: changeTime, defaultValue: 'NOW' }),
      },
      resolve: async (_, { appId, when, ...input }, context) =>
        migrateSubscriptions(await inApp(appCall(context, appId)), { ...input, when: when ?? 'NOW' }),
    }),
    undoMigration: t.field({
      type: migrationType,
      args: { appId, id },
      resolve: async (_, { appId, id }, context) => undoMigration(await inApp(appCall(context, appId)), id),
    }),
  }))
}
