import { deniedReason } from '../../domain/access.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { RecordedUsage } from '../../domain/usage.ts'
import { noteKeyUse } from '../../store/apps/api-keys.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import { type Pool, transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { holdErasures } from '../../store/privacy/erased-refs.ts'
import { addActivity, type Calls, noteRecentUsage, type RecentUsage } from '../../store/usage/activity.ts'
import { type Denial, noteDenials } from '../../store/usage/denials.ts'
import { addFeatureActivity } from '../../store/usage/feature-activity.ts'
import { FeatureCounts } from './feature-counts.ts'

export const ACTIVITY_FLUSH_MS = 10_000
export const KEY_USE_FLUSH_MS = 60_000

/** Per flush; the rest is counted, but not shown as recent. */
const MOST_RECENT = 500

/** Per flush and process; further denials are counted, but not listed. */
const MOST_DENIALS = 500
/** Of users and features that do not exist, nothing is listed. */
const NOBODYS = [deniedReason('USER_NOT_FOUND'), deniedReason('FEATURE_NOT_FOUND')]

/**
 * Figures of the hot paths for the home page and the pages of features. The hot paths add to numbers in memory, which are written
 * every few seconds. What a killed process had not written is missing from the charts, and from nothing else.
 */
export class Activity {
  readonly features = new FeatureCounts()
  #calls = new Map<string, Calls>()
  #recent = new Map<string, RecentUsage>()
  #denials = new Map<string, Denial>()
  #written: Promise<void> = Promise.resolve()

  /** All items of a batch, which are nearly always of one app. */
  count(kind: keyof Calls, items: readonly { caller: { appId: string } }[]): void {
    let appId = ''
    let run = 0
    for (const { caller } of items) {
      if (caller.appId !== appId) {
        this.#add(appId, kind, run)
        appId = caller.appId
        run = 0
      }
      run += 1
    }
    this.#add(appId, kind, run)
  }

  /** Takes a call back that is about to be made, and counted, again. */
  uncount(kind: keyof Calls, appId: string): void {
    this.#of(appId)[kind] -= 1
  }

  /** An id that no app can have would make PostgreSQL refuse the counts of all others. */
  #add(appId: string, kind: keyof Calls, calls: number): void {
    if (calls > 0 && isIdentifier(appId)) this.#of(appId)[kind] += calls
  }

  /** Notes who used what, up to a limit per flush. Events of unknown or unmetered features have no consumption. */
  recorded(
    appId: string,
    { userId, featureId }: { userId: string; featureId: string },
    answer?: RecordedUsage,
  ): void {
    if (answer && !answer.recorded && answer.reason !== null)
      this.denied({ appId, userId, featureId, kind: 'RECORD', reason: answer.reason })
    if (!answer?.consumption || this.#recent.size >= MOST_RECENT) return
    const { used, budget } = answer.consumption
    // Nothing has been used, now or before.
    if (budget === 0 && !answer.recorded) return
    this.#recent.set(JSON.stringify([appId, userId, featureId]), { appId, userId, featureId, used, budget })
  }

  /** Notes who was denied what, up to a limit per flush. The last reason of a user counts. */
  denied(denial: Omit<Denial, 'times'>): void {
    if (NOBODYS.includes(denial.reason) || !isIdentifier(denial.userId)) return
    const key = JSON.stringify([denial.appId, denial.featureId, denial.userId])
    const times = this.#denials.get(key)?.times ?? 0
    if (times === 0 && this.#denials.size >= MOST_DENIALS) return
    this.#denials.set(key, { ...denial, times: times + 1 })
  }

  /** Counts not written yet. */
  pending(appId: string): Calls {
    return this.#calls.get(appId) ?? { checks: 0, records: 0 }
  }

  /** One at a time: when it returns, everything counted until now is written. */
  flush(pool: Pool): Promise<void> {
    const writing = this.#written.then(() => this.#write(pool))
    // The caller gets the failure; the next flush starts afresh.
    this.#written = writing.catch(() => {})
    return writing
  }

  async #write(pool: Pool): Promise<void> {
    const [calls, recent, features, denials] = [
      this.#calls,
      this.#recent,
      this.features.take(),
      this.#denials,
    ]
    this.#calls = new Map()
    this.#recent = new Map()
    this.#denials = new Map()
    if (calls.size > 0) await addActivity(pool, calls)
    if (features.length > 0) await addFeatureActivity(pool, features)
    if (recent.size > 0) await noteOf(pool, [...recent.values()], noteRecentUsage)
    if (denials.size > 0) await noteOf(pool, [...denials.values()], noteDenials)
  }

  async flushKeyUse(db: HomeDb, apps: AppCache): Promise<void> {
    const used = apps.takeUse()
    if (used.length > 0) await noteKeyUse(db, used)
  }

  #of(appId: string): Calls {
    let calls = this.#calls.get(appId)
    if (!calls) {
      calls = { checks: 0, records: 0 }
      this.#calls.set(appId, calls)
    }
    return calls
  }
}

/** Users of several places cannot be locked together: none is deleted meanwhile. */
function noteOf<Noted extends { appId: string }>(
  pool: Pool,
  noted: readonly Noted[],
  write: (tx: HomeDb, noted: readonly Noted[]) => Promise<void>,
): Promise<void> {
  return transaction(pool, async (tx) => {
    await holdErasures(tx, ...new Set(noted.map(({ appId }) => appId)))
    await write(tx, noted)
  })
}
