import type { Allowance } from './allowance.ts'
import { type CountedCap, capApplies, capAt, capLeft, countInCaps, type HeldCap, tightestCap } from './cap.ts'
import { type Credit, creditState, DEFAULT_PRIORITY } from './credit.ts'
import { MAX_COUNT } from './limits.ts'
import { FOREVER, type Period, type ResetPeriod } from './period.ts'
import type { UserEntitlement } from './user-entitlement.ts'

/**
 * Usage of a feature that more than the plan may pay for.
 *
 * A source pays for usage: PLAN, the counter of the current period, and credits. Only PLAN goes into overage. Units that
 * live reservations hold of a source are not available to others. A cap refuses usage and pays for none of it (cap.ts).
 *
 * Invariants (spending.test.ts):
 * - a decision is made as a whole or not at all, and its parts add up to its amount;
 * - used and reserved units of a credit never exceed its amount; without overage, ADD and reservations never take used
 *   and reserved units of the plan past its budget;
 * - what a check grants, a record takes from the same sources, in the same order;
 * - the order does not depend on the order of arrival: lower priority first, then earlier expiry, then PROMOTIONAL,
 *   PLAN, PAID, then earlier start, then earlier creation;
 * - reverting a call restores the sources.
 */
export interface Purse {
  allowance: Allowance
  period: Period
  /** the plan's counter */
  used: number
  /** the part of it that nothing has paid for; the next credit does */
  owed: number
  credits: readonly HeldCredit[]
  /** what live reservations hold of the current period */
  planReserved: number
  caps: readonly HeldCap[]
}

/** A credit with what live reservations hold of it. */
export interface HeldCredit extends Omit<Credit, 'featureId' | 'reason'> {
  /** order of creation */
  seq: number
  /** `periodUsed` is the part of `used` that was taken in this period of the plan */
  period: string | null
  periodUsed: number
  reserved: number
}

/** Units of a source; null: the plan. */
export interface Part {
  credit: string | null
  amount: number
}

/** Units that a reservation holds. Those of the plan belong to the period in which they were reserved. */
export interface HeldPart extends Part {
  period: string | null
  settled: number
  /** absent: none. Their caps count the units once they are settled. */
  entities?: readonly string[]
}

export interface Source {
  kind: 'PLAN' | 'CREDIT'
  /** null: the plan */
  id: string | null
  /** null: unlimited */
  left: number | null
  expiresAt: number | null
}

/** What is stored about a user's spending on a feature. */
export interface Spending {
  owed: { amount: number; period: string } | null
  /** those that can be used, and the newest of those that have ended */
  credits: readonly Omit<HeldCredit, 'reserved'>[]
  /** of live reservations */
  held: readonly HeldPart[]
  caps: readonly CountedCap[]
}

export const NO_SPENDING: Spending = { owed: null, credits: [], held: [], caps: [] }

/** Credits without a plan: usage that they do not pay for is counted here. */
export const WITHOUT_PLAN: Pick<Purse, 'allowance' | 'period'> = {
  allowance: { budget: 0, overageEnabled: false, resetPeriod: 'NEVER' },
  period: FOREVER,
}

const periodKey = (resetPeriod: ResetPeriod, start: number): string => `${resetPeriod} ${start}`

export const currentPeriod = ({ allowance, period }: Pick<Purse, 'allowance' | 'period'>): string =>
  periodKey(allowance.resetPeriod, period.start)

/** The part of an entitlement that a purse starts from; null: nothing can be used. */
export function spendable(
  entitlement: UserEntitlement,
  { credits, held }: Spending,
  now: number,
): Pick<Purse, 'allowance' | 'period'> | null {
  if (entitlement.kind === 'metered') return entitlement
  if (entitlement.kind === 'binary') return null
  if (entitlement.code !== 'NO_SUBSCRIPTION' && entitlement.code !== 'NOT_IN_PACKAGE') return null
  if (held.length === 0 && !credits.some((credit) => isOpen(credit, now))) return null
  return WITHOUT_PLAN
}

/** `used` is the counter of the period. */
export function purseOf(
  { allowance, period }: Pick<Purse, 'allowance' | 'period'>,
  used: number,
  { owed, credits, held, caps }: Spending,
  now: number,
): Purse {
  const current = currentPeriod({ allowance, period })
  const reserved = new Map<string | null, number>()
  for (const part of held) {
    if (part.credit === null && part.period !== current) continue
    reserved.set(part.credit, (reserved.get(part.credit) ?? 0) + part.amount - part.settled)
  }
  return {
    allowance,
    period,
    used,
    owed: owed?.period === current ? owed.amount : 0,
    credits: credits.map((credit) => ({ ...credit, reserved: reserved.get(credit.id) ?? 0 })),
    planReserved: reserved.get(null) ?? 0,
    caps: caps.map((cap) =>
      capAt(cap, heldOf(held.filter(({ entities = [] }) => capApplies(cap, entities))), now),
    ),
  }
}

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
  return candidates(purse, (credit) => isLive(credit, now))
    .filter(({ left }) => left > 0)
    .map(({ credit, left, expiresAt }) => ({
      kind: credit ? 'CREDIT' : 'PLAN',
      id: credit?.id ?? null,
      left: finite(left),
      expiresAt: finite(expiresAt),
    }))
}

/** Units left in all sources; null: unlimited. */
export function leftInSources(purse: Purse, now: number): number | null {
  const credits = sum(purse.credits.filter((credit) => isLive(credit, now)).map(creditLeft))
  return finite(planLeft(purse) + credits)
}

/** Units that can be used without overage; null: unlimited. */
export const remaining = (purse: Purse, now: number, entities: readonly string[] = []): number | null =>
  finite(Math.min(leftInSources(purse, now) ?? Number.POSITIVE_INFINITY, leftInCaps(purse, entities)))

/** Units that can be used now; Infinity: any number. */
export const roomOf = (purse: Purse, now: number, entities: readonly string[] = []): number =>
  purse.allowance.overageEnabled
    ? leftInCaps(purse, entities)
    : (remaining(purse, now, entities) ?? Number.POSITIVE_INFINITY)

/** Infinity: no cap applies. */
function leftInCaps({ caps }: Purse, entities: readonly string[]): number {
  const cap = tightestCap(caps, entities)
  return cap ? capLeft(cap) : Number.POSITIVE_INFINITY
}

export interface Taken {
  purse: Purse
  parts: Part[]
}

/**
 * Takes units from the sources in order. REFUSE: null if they, or the caps that apply, have too few. RECORD: the plan's counter takes the rest,
 * which is owed. Null as well if that counter would overflow.
 */
export function take(
  purse: Purse,
  amount: number,
  now: number,
  beyond: 'REFUSE' | 'RECORD',
  entities: readonly string[] = [],
): Taken | null {
  if (beyond === 'REFUSE' && amount > leftInCaps(purse, entities)) return null
  const parts: Part[] = []
  let missing = amount
  for (const { credit, left } of candidates(purse, (one) => isLive(one, now))) {
    const part = Math.min(left, missing)
    if (part > 0) parts.push({ credit: credit?.id ?? null, amount: part })
    missing -= part
  }
  const { overageEnabled } = purse.allowance
  if (missing > 0 && !overageEnabled && beyond === 'REFUSE') return null
  if (missing > 0) addPart(parts, { credit: null, amount: missing })
  const owed = overageEnabled ? 0 : missing
  const caps = countInCaps(purse.caps, entities, amount)
  const after = spent({ ...purse, owed: purse.owed + owed, caps }, parts)
  return after.used > MAX_COUNT ? null : { purse: after, parts }
}

/**
 * Returns units that were used in this period, in reverse order: first what was used beyond the budget, then the sources.
 * Null: fewer were used.
 */
export function giveBack(purse: Purse, amount: number, entities: readonly string[] = []): Taken | null {
  if (amount > usedInPeriod(purse)) return null
  const { budget } = purse.allowance
  const within = budget === null ? purse.used : Math.min(purse.used, budget)
  const parts: Part[] = []
  let missing = amount
  const giving = (credit: string | null, most: number) => {
    const part = Math.min(most, missing)
    if (part > 0) addPart(parts, { credit, amount: -part })
    missing -= part
  }
  giving(null, purse.used - within)
  for (const { credit } of candidates(purse, ({ voidedAt }) => voidedAt === null).reverse())
    giving(credit?.id ?? null, credit ? takenInPeriod(purse, credit) : within)
  const after = spent({ ...purse, caps: countInCaps(purse.caps, entities, -amount) }, parts)
  const beyond = budget === null ? 0 : Math.max(0, after.used - budget)
  return { purse: { ...after, owed: Math.min(purse.owed, beyond) }, parts }
}

/** Uses units that were reserved: their sources pay, whether or not they are live. */
export const spent = (purse: Purse, parts: readonly Part[]): Purse => {
  const taken = new Map(parts.map(({ credit, amount }) => [credit, amount]))
  const current = currentPeriod(purse)
  return {
    ...purse,
    used: purse.used + (taken.get(null) ?? 0),
    credits: purse.credits.map((credit) => {
      const amount = taken.get(credit.id)
      if (amount === undefined) return credit
      return {
        ...credit,
        used: credit.used + amount,
        period: current,
        periodUsed: takenInPeriod(purse, credit) + amount,
      }
    }),
  }
}

/** Used in this period, whoever paid. */
export const usedInPeriod = (purse: Purse): number =>
  purse.used + sum(purse.credits.map((credit) => takenInPeriod(purse, credit)))

/** What reserved parts hold together. */
export const heldOf = (parts: readonly HeldPart[]): number =>
  sum(parts.map(({ amount, settled }) => amount - settled))

const takenInPeriod = (purse: Purse, { period, periodUsed, voidedAt }: HeldCredit): number =>
  period === currentPeriod(purse) && voidedAt === null ? periodUsed : 0

const planLeft = ({ allowance: { budget }, used, planReserved }: Purse): number =>
  budget === null ? Number.POSITIVE_INFINITY : Math.max(0, budget - used - planReserved)

export const creditLeft = ({ amount, used, reserved }: HeldCredit): number =>
  Math.max(0, amount - used - reserved)

export const isLive = (credit: Omit<HeldCredit, 'reserved'>, now: number): boolean =>
  creditState(credit, now) === 'LIVE'

/** Neither voided nor expired nor yet to come; perhaps spent. */
const isOpen = ({ voidedAt, effectiveAt, expiresAt }: Omit<HeldCredit, 'reserved'>, now: number): boolean =>
  voidedAt === null && effectiveAt <= now && (expiresAt === null || now < expiresAt)

const RANK = { PROMOTIONAL: 0, PLAN: 1, PAID: 2 } as const

function candidates(purse: Purse, isCandidate: (credit: HeldCredit) => boolean): Candidate[] {
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

/** One part per source. */
export function merged(parts: readonly Part[]): Part[] {
  const all: Part[] = []
  for (const part of parts) addPart(all, part)
  return all
}

function addPart(parts: Part[], { credit, amount }: Part): void {
  const same = parts.find((part) => part.credit === credit)
  if (same) same.amount += amount
  else parts.push({ credit, amount })
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
const finite = (number: number): number | null => (Number.isFinite(number) ? number : null)
