import type { PackageFeature } from './package.ts'
import { longestEnding, periodAt, type ResetPeriod } from './period.ts'
import type { Reach } from './publication.ts'

/**
 * Every publication of a package creates a version. The version that a subscription has is derived when it is read: the
 * one it was bought with, moved on by the history of the package since. Nothing is rewritten, so no subscription is
 * moved late, twice, or not at all.
 *
 * Invariants (package-version.test.ts): after a publication for ALL, all subscriptions have it; NEW_ONLY changes no
 * existing subscription; with AT_PERIOD_END each one moves at the end of the period that was running, unless a later
 * publication or migration moves it earlier; undoing a migration restores all subscriptions it moved.
 */

/** A publication of a version, or a migration from one version to another. */
export interface HistoryEntry {
  position: number
  kind: 'PUBLISHED' | 'MIGRATED'
  from: number
  to: number
  reach: Reach
  at: number
}

/** The entries that may have left someone at an earlier version; none if everyone has the newest. */
export interface PackageHistory {
  /** in order, without undone ones */
  entries: readonly HistoryEntry[]
  /** grants of the earlier versions, by version and feature id */
  versions: ReadonlyMap<number, ReadonlyMap<string, PackageFeature>>
}

/** The properties that determine a subscription's version. */
export interface Versioned {
  /** the version it was bought with, or last moved to by hand */
  version: number
  /** position of the last history entry at that time */
  versionAsOf: number
  anchor: number
}

export function versionAt(
  { entries }: PackageHistory,
  { version, versionAsOf, anchor }: Versioned,
  resetPeriodsOf: (version: number) => readonly ResetPeriod[],
  now: number,
): number {
  let current = version
  let due: { to: number; at: number } | null = null
  for (const { position, kind, from, to, reach, at } of entries) {
    if (position <= versionAsOf || reach === 'NEW_ONLY') continue
    if (due && due.at <= at) current = due.to
    if (kind === 'MIGRATED' && current !== from) continue
    if (reach === 'ALL') {
      current = to
      due = null
    } else {
      due = { to, at: periodEnd(anchor, resetPeriodsOf(current), at) }
    }
  }
  return due && due.at <= now ? due.to : current
}

/** End of the period that contains `at`: of the package's longest period, or of the month if it counts nothing. */
export function periodEnd(anchor: number, resetPeriods: readonly ResetPeriod[], at: number): number {
  const { end } = periodAt(longestEnding(resetPeriods) ?? 'MONTH', anchor, at)
  return end ?? at
}
