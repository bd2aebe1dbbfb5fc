import type { ChangeTime } from './change-time.ts'
import { badUserInput, quote } from './errors.ts'
import type { Package } from './package.ts'
import type { HistoryEntry } from './package-version.ts'
import type { Reach } from './publication.ts'

export const MIGRATION_STATUSES = ['DRY_RUN', 'SCHEDULED', 'DONE', 'UNDONE'] as const
export type MigrationStatus = (typeof MIGRATION_STATUSES)[number]

/** BEST is treated as NOW: versions have no prices to compare. */
export const reachOf = (when: ChangeTime): Reach => (when === 'PERIOD_END' ? 'AT_PERIOD_END' : 'ALL')

export function checkMigration({ id, status, version }: Package, from: number, to: number): void {
  if (status !== 'PUBLISHED') throw badUserInput('Package is not published', 'packageId')
  for (const [field, asked] of Object.entries({ fromVersion: from, toVersion: to })) {
    if (Number.isInteger(asked) && asked >= 1 && asked <= version) continue
    const known = version === 1 ? 'has only version 1' : `has versions 1 to ${version}`
    throw badUserInput(`Version ${asked} does not exist: the package ${quote(id)} ${known}`, field)
  }
  if (from === to) throw badUserInput('fromVersion and toVersion must differ', 'toVersion')
}

type Entry = HistoryEntry & { id: string | null; undoneAt: number | null }

/**
 * A migration can be undone only while nothing builds on it. Later migrations must be undone first, and a publication
 * for all has moved everyone on.
 */
export function checkUndo(history: readonly Entry[], migration: Entry): void {
  const later = history.filter((e) => e.position > migration.position && e.undoneAt === null)
  const forAll = later.find((e) => e.kind === 'PUBLISHED' && e.reach === 'ALL')
  if (forAll) {
    throw badUserInput(
      `The migration cannot be undone because version ${forAll.to} was published for ALL afterwards`,
      'id',
    )
  }
  const next = later.findLast((e) => e.kind === 'MIGRATED')
  if (next?.id) throw badUserInput(`Undo the later migration ${quote(next.id)} first`, 'id')
}

export function statusOf(undoneAt: number | null, reached: number, moved: number): MigrationStatus {
  if (undoneAt !== null) return 'UNDONE'
  return moved < reached ? 'SCHEDULED' : 'DONE'
}
