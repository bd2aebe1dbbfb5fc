import { MIGRATION_STATUSES } from '../../domain/migration.ts'
import type { Migration } from '../../operations/catalogue/migrations.ts'
import type { FeatureImpact } from '../../operations/catalogue/reach.ts'
import type { Builder } from './builder.ts'
import type { defineChangeTime } from './change-types.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

export function defineMigration<Context extends object>(
  builder: Builder<Context>,
  changeTime: ReturnType<typeof defineChangeTime<Context>>,
) {
  const status = builder.enumType('MigrationStatus', { values: MIGRATION_STATUSES })
  const impact = builder.objectRef<FeatureImpact>('MigratedFeature').implement({
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      gains: t.expose('gain', { type: 'SafeInt' }),
      loses: t.expose('lose', { type: 'SafeInt' }),
      moreOverage: t.expose('moreOverage', { type: 'SafeInt' }),
      lessOverage: t.expose('lessOverage', { type: 'SafeInt' }),
    }),
  })
  const migration = builder.objectRef<Migration>('Migration').implement({
    description: 'A migration of subscriptions from one version of a package to another.',
    fields: (t) => ({
      id: t.exposeString('id', { nullable: true, description: 'ID of the migration; null for a dry run.' }),
      packageId: t.exposeString('packageId'),
      fromVersion: t.exposeInt('fromVersion'),
      toVersion: t.exposeInt('toVersion'),
      when: t.expose('when', { type: changeTime, description: 'Either NOW or PERIOD_END.' }),
      at: t.string({
        description: 'Time at which the migration was created.',
        resolve: (m) => isoTime(m.at),
      }),
      status: t.expose('status', {
        type: status,
        description:
          'Status of the migration. SCHEDULED while some subscriptions are waiting for the end of their period.',
      }),
      subscriptions: t.expose('subscriptions', {
        type: 'SafeInt',
        description: 'Total number of live subscriptions to move.',
      }),
      moved: t.expose('moved', { type: 'SafeInt', description: 'Number of subscriptions moved so far.' }),
      gains: t.expose('gains', {
        type: 'SafeInt',
        description:
          'Number of subscriptions that gain access to at least one feature, for a `delta` of 1 at the time of the move.',
      }),
      loses: t.expose('loses', { type: 'SafeInt' }),
      moreOverage: t.field({
        type: 'SafeInt',
        description:
          'Number of subscriptions that go into overage, or further into overage, for at least one feature.',
        resolve: ({ moreOverage }) => moreOverage ?? 0,
      }),
      lessOverage: t.field({ type: 'SafeInt', resolve: ({ lessOverage }) => lessOverage ?? 0 }),
      features: t.expose('features', {
        type: [impact],
        description: 'Effect on each feature that differs between the two versions.',
      }),
      undoneAt: t.string({ nullable: true, resolve: (m) => isoTimeOrNull(m.undoneAt) }),
    }),
  })
  return migration
}
