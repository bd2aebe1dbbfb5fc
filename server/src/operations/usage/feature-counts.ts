import type { Reservation } from '../../domain/reservation.ts'
import type { ReservationChange } from '../../domain/reservation-calls.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { CountedFeature, FeatureCalls } from '../../store/usage/feature-activity.ts'
import type { CounterMove } from '../../store/usage/usage-moves.ts'
import type { FeatureTally, PendingUsage, ReservationCall } from '../call/hot-paths.ts'

/** Numbers of calls by app and feature, in memory. Only features that exist are counted, so there are not many. */
export class FeatureCounts {
  #apps = new Map<string, Map<string, FeatureCalls>>()

  checked(appId: string, featureId: string, access: boolean): void {
    const calls = this.#of(appId, featureId)
    calls.checks += 1
    if (!access) calls.denied += 1
  }

  recorded(appId: string, featureId: string, records: number, units: number): void {
    const calls = this.#of(appId, featureId)
    calls.records += records
    calls.units += units
  }

  refused(appId: string, featureId: string, calls: number): void {
    this.#of(appId, featureId).refused += calls
  }

  /** Adds counts that were kept separately, such as those of a transaction that is now committed. */
  add(others: readonly CountedFeature[]): void {
    for (const { appId, featureId, ...counted } of others) {
      const calls = this.#of(appId, featureId)
      for (const [count, value] of Object.entries(counted) as [keyof FeatureCalls, number][])
        calls[count] += value
    }
  }

  /** Everything counted so far, which starts again from nothing. */
  take(): CountedFeature[] {
    const apps = this.#apps
    this.#apps = new Map()
    return [...apps].flatMap(([appId, features]) =>
      [...features].map(([featureId, calls]) => ({ appId, featureId, ...calls })),
    )
  }

  #of(appId: string, featureId: string): FeatureCalls {
    let features = this.#apps.get(appId)
    if (!features) {
      features = new Map()
      this.#apps.set(appId, features)
    }
    let calls = features.get(featureId)
    if (!calls) {
      calls = { checks: 0, denied: 0, records: 0, units: 0, refused: 0 }
      features.set(featureId, calls)
    }
    return calls
  }
}

export function count(tally: FeatureTally, { key, from, to, entries }: CounterMove, decided: number): void {
  const { appId, featureId } = key
  tally.recorded(appId, featureId, entries.length, to - (from ?? 0))
  if (decided > entries.length) tally.refused(appId, featureId, decided - entries.length)
}

export function countRefused(
  apps: AppCache,
  tally: FeatureTally,
  { caller: { appId }, event }: PendingUsage,
): void {
  const { featureId } = event
  if (apps.known(appId)?.catalogue.features.has(featureId)) tally.refused(appId, featureId, 1)
}

/** A settlement is a record of the units that it settles. `change`: a string, where nothing was held. */
export function countReservation(
  tally: FeatureTally,
  of: { appId: string; featureId: string; kind: ReservationCall['kind'] },
  before: Reservation | null,
  change: ReservationChange | string,
): void {
  const { appId, featureId, kind } = of
  if (kind === 'RELEASE') return
  if (typeof change === 'string' || !change.changed) tally.refused(appId, featureId, 1)
  else if (kind === 'SETTLE')
    tally.recorded(appId, featureId, 1, change.after.settled - (before?.settled ?? 0))
}
