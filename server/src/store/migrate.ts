import { Kysely, type Migration, Migrator, PostgresAdapter, PostgresDialect } from 'kysely'
import { type Db, type Pool, transactionOnce } from './database.ts'
import * as initial from './migrations/001-initial.ts'
import * as billing from './migrations/002-billing.ts'
import * as dashboard from './migrations/003-dashboard.ts'
import * as imports from './migrations/004-imports.ts'
import * as jobWorkers from './migrations/005-job-workers.ts'
import * as liveness from './migrations/006-liveness.ts'
import * as signInPace from './migrations/007-sign-in-pace.ts'
import * as retention from './migrations/008-retention.ts'
import * as tokenKeys from './migrations/009-token-keys.ts'
import * as payments from './migrations/010-payments.ts'
import * as lifecycle from './migrations/011-lifecycle.ts'
import * as priceChanges from './migrations/012-price-changes.ts'
import * as providerPeriods from './migrations/013-provider-periods.ts'
import * as saleTerms from './migrations/014-sale-terms.ts'
import * as erasure from './migrations/015-erasure.ts'
import * as refunds from './migrations/016-refunds.ts'
import * as passwordResets from './migrations/017-password-resets.ts'
import * as search from './migrations/018-search.ts'
import * as revenue from './migrations/019-revenue.ts'
import * as archive from './migrations/020-archive.ts'
import * as auditLog from './migrations/022-audit-log.ts'
import * as ledgerPartitions from './migrations/023-ledger-partitions.ts'
import * as providerLeases from './migrations/024-provider-leases.ts'
import * as featureActivity from './migrations/025-feature-activity.ts'
import * as appRemoval from './migrations/026-app-removal.ts'
import * as replica from './migrations/027-replica.ts'
import * as cells from './migrations/028-cells.ts'
import * as makersOfLinks from './migrations/029-makers-of-links.ts'
import * as splitCells from './migrations/030-split-cells.ts'
import * as remoteCells from './migrations/031-remote-cells.ts'
import * as retireRemoteLedgers from './migrations/032-retire-remote-ledgers.ts'
import * as firstPublication from './migrations/033-first-publication.ts'

const MIGRATIONS: Record<string, Migration> = {
  '001-initial': initial,
  '002-billing': billing,
  '003-dashboard': dashboard,
  '004-imports': imports,
  '005-job-workers': jobWorkers,
  '006-liveness': liveness,
  '007-sign-in-pace': signInPace,
  '008-retention': retention,
  '009-token-keys': tokenKeys,
  '010-payments': payments,
  '011-lifecycle': lifecycle,
  '012-price-changes': priceChanges,
  '013-provider-periods': providerPeriods,
  '014-sale-terms': saleTerms,
  '015-erasure': erasure,
  '016-refunds': refunds,
  '017-password-resets': passwordResets,
  '018-search': search,
  '019-revenue': revenue,
  '020-archive': archive,
  '022-audit-log': auditLog,
  '023-ledger-partitions': ledgerPartitions,
  '024-provider-leases': providerLeases,
  '025-feature-activity': featureActivity,
  '026-app-removal': appRemoval,
  '027-replica': replica,
  '028-cells': cells,
  '029-makers-of-links': makersOfLinks,
  '030-split-cells': splitCells,
  '031-remote-cells': remoteCells,
  '032-retire-remote-ledgers': retireRemoteLedgers,
  '033-first-publication': firstPublication,
}

export const LATEST_MIGRATION = Object.keys(MIGRATIONS).sort().at(-1) ?? ''

/**
 * Without Kysely's own lock: it belongs to a session, which a pooler does not keep. Callers have theirs, and a second
 * migrator would fail on the migration's first statement.
 */
class LocklessDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new (class extends PostgresAdapter {
      override async acquireMigrationLock(): Promise<void> {}
      override async releaseMigrationLock(): Promise<void> {}
    })()
  }
}

/** Migrates the schema to the latest version, or up to the migration `to`. */
export async function migrate(pool: Pool, to?: string): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely({ dialect: new LocklessDialect({ pool }) }),
    provider: { getMigrations: async () => MIGRATIONS },
  })
  const { error } = to === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(to)
  if (error) throw error
}

/** The applied migrations, oldest first; none where there is no schema yet. */
export async function appliedMigrations(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ known: boolean }>(
    `select to_regclass('kysely_migration') is not null as known`,
  )
  if (!rows[0]?.known) return []
  const applied = await db.query<{ name: string }>('select name from kysely_migration order by name')
  return applied.rows.map(({ name }) => name)
}

/** Whether there is nothing to migrate, without the migrator's many questions. */
export async function isMigrated(db: Db): Promise<boolean> {
  const applied = await appliedMigrations(db)
  return Object.keys(MIGRATIONS).every((name) => applied.includes(name))
}

export const unknownAmong = (names: readonly string[]): string[] =>
  names.filter((name) => !(name in MIGRATIONS))

/** Applied migrations that only a newer version of the service knows. */
export async function unknownMigrations(db: Db): Promise<string[]> {
  return unknownAmong(await appliedMigrations(db))
}

/**
 * Several processes may start at once: the first one changes the schema, the others wait. The lock belongs to a
 * transaction, so that it works through a pooler, and is gone with its connection.
 */
export function whileOthersWait(pool: Pool, change: () => Promise<void>): Promise<void> {
  return transactionOnce(pool, async (lock) => {
    await lock.query(`select pg_advisory_xact_lock(hashtext('tollgate schema'))`)
    await change()
  })
}
