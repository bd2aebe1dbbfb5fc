import type { PackageFeature } from './package.ts'
import { longestEnding, periodAt, type ResetPeriod } from './period.ts'

/**
 * Every publication of a package makes a new version. Which one a subscription has is derived when it is read: the one
 * it was bought at, moved on by what happened to the package since. Nothing is rewritten, so that nobody is moved late,
 * twice, or not at all.
 *
 * Invariants (package-version.test.ts): after a publication for ALL everybody has it; NEW_ONLY changes nobody's version;
 * at AT_PERIOD_END each moves exactly when the period ends that it was decided in, unless a later decision moves them
 * before; undoing a migration restores all it moved.
 */

/** Whom a publication reaches: everybody now, only who subscribes from now on, or each at the end of their period. */
export const REACHES = ['ALL', 'NEW_ONLY', 'AT_PERIOD_END'] as const
export type Reach = (typeof REACHES)[number]

/** A publication of a version, or a move of those who had one version to another. */
export interface HistoryEntry {
  position: number
  kind: 'PUBLISHED' | 'MIGRATED'
  from: number
  to: number
  reach: Reach
  at: number
}

/** What may have left somebody at an earlier version; packages whose every subscriber has the newest have none. */
export interface PackageHistory {
  /** in order, without what was undone */
  entries: readonly HistoryEntry[]
  /** what the earlier versions granted, by version and feature id */
  versions: ReadonlyMap<number, ReadonlyMap<string, PackageFeature>>
}

/** What the version of a subscription depends on. */
export interface Versioned {
  /** the version it was bought at, or last moved to by hand */
  version: number
  /** the position of the last entry that had happened by then */
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

/** When the period of a package that contains `at` ends: its longest, or the month if it counts nothing. */
export function periodEnd(anchor: number, resetPeriods: readonly ResetPeriod[], at: number): number {
  const { end } = periodAt(longestEnding(resetPeriods) ?? 'MONTH', anchor, at)
  return end ?? at
}
