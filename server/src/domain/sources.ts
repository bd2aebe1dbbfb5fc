import { overageOf } from './allowance.ts'
import { capLeft, tightestCap, windowEnd } from './cap.ts'
import { creditState, DEFAULT_PRIORITY } from './credit.ts'
import type { HeldCredit, Purse, Source } from './purse.ts'
import type { Draw } from './split.ts'

interface Candidate {
  credit: HeldCredit | null
  priority: number
  expiresAt: number
  rank: number
  effectiveAt: number
  seq: number
  left: number
}

/** The sources that pay now, in the order in which they are used. */
export function sourcesOf(purse: Purse, now: number): Source[] {
  const own = candidates(purse, (credit) => isLive(credit, now))
    .filter(({ left }) => left > 0)
    .map(
      ({ credit, left, expiresAt }): Source => ({
        kind: credit ? 'CREDIT' : 'PLAN',
        id: credit?.id ?? null,
        left: finite(left),
        expiresAt: finite(expiresAt),
      }),
    )
  if (!purse.pool?.open) return own
  const { featureId, cost } = purse.pool
  return [
    ...own,
    ...sourcesOf(purse.pool.purse, now).map((source) => ({ ...source, pool: { featureId, cost } })),
  ]
}

/** Units left in all sources; null: unlimited. The caps of a pool limit what is left in it. */
export function leftInSources(purse: Purse, now: number, entities: readonly string[] = []): number | null {
  return finite(leftInOwn(purse, now) + infinite(leftInPool(purse, now, entities)))
}

/** Units that the pool can pay for without overage; null: any number. */
export const leftInPool = ({ pool }: Purse, now: number, entities: readonly string[] = []): number | null =>
  pool?.open ? finite(inUnits(remaining(pool.purse, now, entities), pool)) : 0

const leftInOwn = (purse: Purse, now: number): number => planLeft(purse) + creditTotals(purse, now).left

interface CreditTotals {
  /** of those that can be used now */
  live: number
  left: number
  /** of all */
  reserved: number
  /** when the others apply */
  from: number
  until: number
}

const KNOWN_TOTALS = new WeakMap<readonly HeldCredit[], CreditTotals>()

/** A check asks several times, and later checks ask about the same credits: a user may have a thousand. */
export function creditTotals({ credits }: Purse, now: number): CreditTotals {
  const known = KNOWN_TOTALS.get(credits)
  if (known && known.from <= now && now < known.until) return known
  const totals = {
    live: 0,
    left: 0,
    reserved: 0,
    from: Number.NEGATIVE_INFINITY,
    until: Number.POSITIVE_INFINITY,
  }
  for (const credit of credits) {
    totals.reserved += credit.reserved
    if (isLive(credit, now)) {
      totals.live++
      totals.left += creditLeft(credit)
    }
    for (const time of [credit.effectiveAt, credit.expiresAt ?? Number.POSITIVE_INFINITY]) {
      if (time <= now) totals.from = Math.max(totals.from, time)
      else totals.until = Math.min(totals.until, time)
    }
  }
  KNOWN_TOTALS.set(credits, totals)
  return totals
}

/** When time next begins or ends a credit or the window of a cap; Infinity: never. */
export function sourcesUntil(purse: Purse, now: number): number {
  const windows = purse.caps.map(({ period }) => windowEnd(period, now) ?? Number.POSITIVE_INFINITY)
  const pool = purse.pool ? sourcesUntil(purse.pool.purse, now) : Number.POSITIVE_INFINITY
  return Math.min(creditTotals(purse, now).until, pool, ...windows)
}

/** Units that can be used without overage; null: unlimited. */
export const remaining = (purse: Purse, now: number, entities: readonly string[] = []): number | null =>
  finite(Math.min(infinite(leftInSources(purse, now, entities)), leftInCaps(purse, entities)))

/** Units that can be used now; Infinity: any number. */
export const roomOf = (purse: Purse, now: number, entities: readonly string[] = []): number =>
  Math.min(
    leftInOwn(purse, now) + roomInPool(purse, now, entities) + overageLeft(purse),
    leftInCaps(purse, entities),
  )

/** Units that a pool can pay for now. Its overage is used only if the feature itself has none. */
export function roomInPool({ pool, allowance }: Purse, now: number, entities: readonly string[]): number {
  if (!pool?.open) return 0
  const { purse } = pool
  return inUnits(
    allowance.overageEnabled ? remaining(purse, now, entities) : roomOf(purse, now, entities),
    pool,
  )
}

const inUnits = (ofPool: number | null, { cost }: Draw): number => Math.floor(infinite(ofPool) / cost)

/** Infinity: no cap applies. */
export function leftInCaps({ caps }: Purse, entities: readonly string[]): number {
  const cap = tightestCap(caps, entities)
  return cap ? capLeft(cap) : Number.POSITIVE_INFINITY
}

const planLeft = ({ allowance: { budget }, used, planReserved }: Purse): number =>
  budget === null ? Number.POSITIVE_INFINITY : Math.max(0, budget - used - planReserved)

/** Units beyond the budget that the plan still allows; Infinity: any number. */
export function overageLeft({ allowance, used, planReserved }: Purse): number {
  const { budget } = allowance
  if (budget === null) return 0
  return Math.max(0, overageOf(allowance) - Math.max(0, used + planReserved - budget))
}

export const creditLeft = ({ amount, used, reserved }: HeldCredit): number =>
  Math.max(0, amount - used - reserved)

export const isLive = (credit: Omit<HeldCredit, 'reserved'>, now: number): boolean =>
  creditState(credit, now) === 'LIVE'

const RANK = { PROMOTIONAL: 0, PLAN: 1, PAID: 2 } as const

export function candidates(purse: Purse, isCandidate: (credit: HeldCredit) => boolean): Candidate[] {
  const { period } = purse
  const found: Candidate[] = [
    {
      credit: null,
      priority: DEFAULT_PRIORITY,
      expiresAt: period.end ?? Number.POSITIVE_INFINITY,
      rank: RANK.PLAN,
      effectiveAt: period.start,
      seq: 0,
      left: planLeft(purse),
    },
  ]
  for (const credit of purse.credits) {
    if (!isCandidate(credit)) continue
    const { priority, effectiveAt, seq } = credit
    const expiresAt = credit.expiresAt ?? Number.POSITIVE_INFINITY
    const left = creditLeft(credit)
    found.push({ credit, priority, expiresAt, rank: RANK[credit.kind], effectiveAt, seq, left })
  }
  return found.sort(
    (a, b) =>
      a.priority - b.priority ||
      compare(a.expiresAt, b.expiresAt) ||
      a.rank - b.rank ||
      a.effectiveAt - b.effectiveAt ||
      a.seq - b.seq,
  )
}

/** Infinity - Infinity is not a number. */
const compare = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0)

const finite = (number: number): number | null => (Number.isFinite(number) ? number : null)
const infinite = (number: number | null): number => number ?? Number.POSITIVE_INFINITY
