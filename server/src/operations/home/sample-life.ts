import { deniedReason } from '../../domain/access.ts'
import { pastPeriods, periodAt } from '../../domain/period.ts'
import type {
  SampleCalls,
  SampleCounter,
  SampleDenial,
  SampleEntry,
  SampleSubscription,
} from '../../store/sample/sample.ts'
import { SAMPLE_BILLS, type SampleBill } from '../../store/sample/sample-bills.ts'
import type { SampleFeatureCalls } from '../../store/usage/feature-activity.ts'
import {
  SAMPLE_FEATURES,
  SAMPLE_PACKAGES,
  SAMPLE_PRICES,
  type SamplePackage,
  sampleNumbers,
} from './sample-catalogue.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const [free, team, business, extra] = SAMPLE_PACKAGES as [
  SamplePackage,
  SamplePackage,
  SamplePackage,
  SamplePackage,
]

interface SampleLife {
  subscriptions: SampleSubscription[]
  counters: SampleCounter[]
  entries: SampleEntry[]
}

/** Subscriptions of the last months and their usage. */
export function sampleLife(uids: readonly number[], now: number): SampleLife {
  const random = sampleNumbers()
  const subscriptions: SampleSubscription[] = []
  const counters: SampleCounter[] = []
  const entries: SampleEntry[] = []
  for (const [i, uid] of uids.entries()) {
    const plan = random() < 0.5 ? free : random() < 0.75 ? team : business
    const startedAt = now - Math.floor((5 + random() * 145) * DAY)
    const endedAt = random() < 0.08 ? now - Math.floor(random() * 4 * DAY) : null
    const held = plan !== business && random() < 0.2 ? [plan, extra] : [plan]
    for (const { id: packageId, isAddon } of held) {
      const id = `demo-sub-${i + 1}-${isAddon ? 'extra' : 'plan'}`
      const billRef = priceOf(packageId) ? `${SAMPLE_BILLS}${i + 1}` : null
      subscriptions.push({ uid, id, packageId, isAddon, startedAt, endedAt, billRef })
    }
    const eagerness = random()
    for (const { featureId, limit, resetPeriod } of plan.features) {
      if (SAMPLE_FEATURES.find(({ id }) => id === featureId)?.type === 'BINARY') continue
      const extraLimit =
        held.length > 1 ? (extra.features.find((f) => f.featureId === featureId)?.limit ?? 0) : 0
      const budget = limit === null ? null : limit + extraLimit
      const until = endedAt ?? now
      const periods = [
        ...pastPeriods(resetPeriod, startedAt, until, 24),
        periodAt(resetPeriod, startedAt, until),
      ]
      for (const { start, end } of periods) {
        const from = Math.max(start, startedAt)
        const to = Math.min(end ?? until, until)
        const parts = 1 + Math.floor(random() * 5)
        const length = (to - from) / (parts + 1)
        const wanted = Math.floor((budget ?? 200) * Math.min(1, eagerness * (0.5 + random() * 0.7)))
        let used = 0
        for (let part = 1; part <= parts; part++) {
          const delta = Math.floor((wanted * part) / parts) - used
          if (delta === 0) continue
          used += delta
          // The last entry is mostly recent: active users have used something lately.
          const sooner = part < parts ? 0 : length * (1 - random() ** 3)
          const recordedAt = Math.floor(from + length * part + sooner)
          entries.push({ uid, featureId, resetPeriod, periodStart: start, delta, used, budget, recordedAt })
        }
        if (used > 0) counters.push({ uid, featureId, resetPeriod, periodStart: start, used })
      }
    }
  }
  return { subscriptions, counters, entries }
}

const priceOf = (packageId: string) => SAMPLE_PRICES.find((offered) => offered.packageId === packageId)?.price

/** A third of the recent charges is declined, within the grace period. */
const DECLINED = { days: 5, oneIn: 3 }

/** The monthly bills of the paying customers. */
export function sampleBills(subscriptions: readonly SampleSubscription[], now: number): SampleBill[] {
  const bills = new Map<string, SampleBill>()
  let recent = 0
  for (const { uid, packageId, startedAt, endedAt, billRef } of subscriptions) {
    const price = priceOf(packageId)
    if (!price || billRef === null) continue
    const bill = bills.get(billRef)
    if (bill) {
      bill.prices.push(price)
      continue
    }
    const until = endedAt ?? now
    const past = pastPeriods('MONTH', startedAt, until, 24)
    const current = periodAt('MONTH', startedAt, until)
    const mayFail = endedAt === null && current.start > now - DECLINED.days * DAY
    const isPastDue = mayFail && recent++ % DECLINED.oneIn === 0 && past.length > 0
    bills.set(billRef, {
      ref: billRef,
      customerRef: billRef.replace('sub', 'cus'),
      uid,
      prices: [price],
      startedAt,
      endedAt,
      paidUntil: current.end ?? until,
      pastDueSince: isPastDue ? current.start : null,
      charges: [...past, current].map(({ start }) => start),
    })
  }
  return [...bills.values()]
}

/** Enough that some are close to a limit, but few compared with a real app. */
const RECENT = 100

/** The most recent usage, one entry per user and feature. Seats and the like say little about today. */
export function latestOf(entries: readonly SampleEntry[]): SampleEntry[] {
  const latest = new Map<string, SampleEntry>()
  for (const entry of entries) {
    if (entry.resetPeriod === 'NEVER') continue
    const key = `${entry.uid} ${entry.featureId}`
    if (entry.recordedAt > (latest.get(key)?.recordedAt ?? 0)) latest.set(key, entry)
  }
  return [...latest.values()].sort((a, b) => b.recordedAt - a.recordedAt).slice(0, RECENT)
}

const MINUTES = { day: 24 * 60, ofChart: 30 * 24 * 60 }

/** Calls of the last thirty days; for the last day by the minute, as on the home page. */
export function sampleCalls(): SampleCalls[] {
  const random = sampleNumbers()
  const calls: SampleCalls[] = []
  for (let minutesAgo = 1; minutesAgo < MINUTES.ofChart; minutesAgo += minutesAgo < MINUTES.day ? 1 : 10) {
    const each = minutesAgo < MINUTES.day ? 1 : 10
    const daysAgo = minutesAgo / MINUTES.day
    const hours = 0.6 + 0.4 * Math.cos(2 * Math.PI * daysAgo)
    const weekend = Math.floor(daysAgo) % 7 >= 5 ? 0.5 : 1
    const growth = 1 - daysAgo / 60
    const checks = Math.round(each * 40 * hours * weekend * growth * (0.6 + 0.8 * random()))
    calls.push({ minutesAgo, checks, records: Math.round(checks * (0.2 + 0.1 * random())) })
  }
  return calls
}

const HOURS = { byTheHour: 48, ofChart: 30 * 24 }

/**
 * Calls by feature of the last thirty days; in larger steps for the first days, which are shown as whole days. The units
 * of a day are those of the ledger, spread over its calls.
 */
export function sampleFeatureCalls(entries: readonly SampleEntry[], now: number): SampleFeatureCalls[] {
  const random = sampleNumbers()
  return SAMPLE_FEATURES.flatMap(({ id: featureId, type }) => {
    const popularity = 60 + 500 * random()
    const refusal = 0.02 + 0.1 * random()
    const calls: SampleFeatureCalls[] = []
    for (let hoursAgo = 1; hoursAgo < HOURS.ofChart; hoursAgo += hoursAgo < HOURS.byTheHour ? 1 : 6) {
      const each = hoursAgo < HOURS.byTheHour ? 1 : 6
      const daysAgo = hoursAgo / 24
      const weekend = Math.floor(daysAgo) % 7 >= 5 ? 0.5 : 1
      const growth = 1 - daysAgo / 60
      const checks = Math.round(each * popularity * weekend * growth * (0.6 + 0.8 * random()))
      const records = type === 'CONSUMABLE' ? Math.round(checks * (0.4 + 0.2 * random())) : 0
      calls.push({
        featureId,
        hoursAgo,
        checks,
        denied: Math.round(checks * refusal * random()),
        records,
        units: 0,
        refused: Math.round(records * refusal * 0.3 * random()),
      })
    }
    return type === 'CONSUMABLE' ? withUnits(calls, unitsByDay(entries, featureId), now) : calls
  })
}

const dayOf = (at: number) => Math.floor(at / DAY)

function unitsByDay(entries: readonly SampleEntry[], featureId: string): Map<number, number> {
  const units = new Map<number, number>()
  for (const { delta, recordedAt } of entries.filter((entry) => entry.featureId === featureId)) {
    units.set(dayOf(recordedAt), (units.get(dayOf(recordedAt)) ?? 0) + delta)
  }
  return units
}

/** Spreads the units of each day over its calls. A record has at least one unit. */
function withUnits(
  calls: readonly SampleFeatureCalls[],
  units: ReadonlyMap<number, number>,
  now: number,
): SampleFeatureCalls[] {
  const thisHour = now - (now % HOUR)
  const day = ({ hoursAgo }: SampleFeatureCalls) => dayOf(thisHour - hoursAgo * HOUR)
  const checks = new Map<number, number>()
  for (const call of calls) checks.set(day(call), (checks.get(day(call)) ?? 0) + call.checks)
  const before = new Map<number, number>()
  return calls.map((call) => {
    const share = (upTo: number) =>
      Math.round(((units.get(day(call)) ?? 0) * upTo) / Math.max(checks.get(day(call)) ?? 0, 1))
    const earlier = before.get(day(call)) ?? 0
    before.set(day(call), earlier + call.checks)
    const spread = share(earlier + call.checks) - share(earlier)
    return { ...call, units: spread, records: Math.min(call.records, spread) }
  })
}

/** Users at a limit, and some whose plan lacks a feature. */
export function sampleDenials({ subscriptions, entries }: SampleLife, now: number): SampleDenial[] {
  const random = sampleNumbers()
  const packageOf = new Map(
    subscriptions.flatMap((s) => (s.isAddon || s.endedAt !== null ? [] : [[s.uid, s.packageId] as const])),
  )
  const planOf = (uid: number) => SAMPLE_PACKAGES.find(({ id }) => id === packageOf.get(uid))
  const latest = new Map(entries.map((entry) => [`${entry.uid} ${entry.featureId}`, entry]))
  const times = () => 1 + Math.floor(random() * 12)
  const atLimit = [...latest.values()].flatMap(({ uid, featureId, used, budget, recordedAt }) => {
    const granted = planOf(uid)?.features.find((feature) => feature.featureId === featureId)
    if (!granted || granted.overageEnabled || budget === null || used < budget) return []
    const at = recordedAt + Math.floor(random() * Math.min(now - recordedAt, HOUR))
    const reason = `Limit reached: ${used} of ${budget} used; 1 more requested.`
    const kind = random() < 0.7 ? ('CHECK' as const) : ('RECORD' as const)
    return [{ uid, featureId, kind, reason, times: times(), at }]
  })
  const binary = SAMPLE_FEATURES.filter(({ type }) => type === 'BINARY')
  const notIncluded = [...packageOf.keys()].flatMap((uid) => {
    const lacking = binary.filter(
      ({ id }) => !planOf(uid)?.features.some(({ featureId }) => featureId === id),
    )
    return lacking.flatMap(({ id }) => {
      if (random() > 0.15) return []
      const at = now - Math.floor(random() * 5 * DAY)
      const reason = deniedReason('NOT_IN_PACKAGE')
      return [{ uid, featureId: id, kind: 'CHECK' as const, reason, times: times(), at }]
    })
  })
  return [...atLimit, ...notIncluded]
}
