import { type Allowance, overageOf } from './allowance.ts'
import {
  type CapCount,
  capApplies,
  capAt,
  capLeft,
  capsInForce,
  countInCaps,
  type HeldCap,
  tightestCap,
  windowEnd,
} from './cap.ts'
import { type Credit, creditState, DEFAULT_PRIORITY } from './credit.ts'
import { MAX_COUNT, MAX_DRAWN_PARTS } from './limits.ts'
import { FOREVER, type Period, type ResetPeriod } from './period.ts'
import {
  addPart,
  byDraw,
  type Draw,
  type DrawnPart,
  type HeldPart,
  heldOf,
  leftOf,
  merged,
  type Part,
  partsOn,
  sum,
  type TakenPart,
  unitsOf,
} from './split.ts'
import type { UserEntitlement } from './user-entitlement.ts'

/**
 * Usage of a feature that more than the plan may pay for.
 *
 * A source pays for usage: PLAN, the counter of the current period, and credits. Only PLAN goes into overage. Units that
 * live reservations hold of a source are not available to others. A cap refuses usage and pays for none of it (cap.ts).
 * A pool is a feature whose sources pay too, after the feature's own and before its overage, at a cost for each unit. What
 * is drawn on a pool is usage of the pool, and counts in its caps.
 *
 * Invariants (spending.test.ts):
 * - a decision is made as a whole or not at all, and its parts add up to its amount;
 * - used and reserved units of a credit never exceed its amount; ADD and reservations never take used and reserved units
 *   of the plan past its budget and the overage that it allows;
 * - what a check grants, a record takes from the same sources, in the same order;
 * - the order does not depend on the order of arrival: lower priority first, then earlier expiry, then PROMOTIONAL,
 *   PLAN, PAID, then earlier start, then earlier creation;
 * - a pool pays for whole units, each perhaps from several of its sources;
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
  /** units that live reservations of the feature hold of pools */
  drawnReserved: number
  caps: readonly HeldCap[]
  /** null: none, or the user can use nothing of it */
  pool: Pool | null
  /** what pools paid for in this period */
  drawn: Drawn
}

export interface Pool extends Draw {
  /** false: a reservation holds units of it, but no more can be drawn */
  open: boolean
  /** its sources; the pool of a pool is null */
  purse: Purse
}

interface Drawn {
  /** of the feature */
  units: number
  /** the sources of pools that were last drawn on; older ones are dropped */
  parts: readonly DrawnPart[]
}

const NOTHING_DRAWN: Drawn = { units: 0, parts: [] }

/** A credit as it is stored: what reservations hold of it is stored with them. */
export type UnheldCredit = HeldCredit & { reserved: 0 }

/** A credit with what live reservations hold of it. */
export interface HeldCredit extends Omit<Credit, 'featureId' | 'reason'> {
  /** order of creation */
  seq: number
  /** `periodUsed` is the part of `used` that was taken in this period of the plan */
  period: string | null
  periodUsed: number
  reserved: number
}

export interface Source {
  kind: 'PLAN' | 'CREDIT'
  /** null: the plan */
  id: string | null
  /** in units of its feature; null: unlimited */
  left: number | null
  expiresAt: number | null
  /** absent: a source of the feature itself */
  pool?: Draw
}

/** What is stored about a user's spending on a feature. */
export interface Spending {
  owed: { amount: number; period: string } | null
  drawn: (Drawn & { period: string }) | null
  /** those that can be used, and the newest of those that have ended */
  credits: readonly UnheldCredit[]
  /** of live reservations of the feature, and of its sources by those of other features */
  held: readonly HeldPart[]
  caps: readonly CapCount[]
  /** those whose counts of the plan's caps were read; absent: none */
  entities?: readonly string[]
}

export const NO_SPENDING: Spending = { owed: null, drawn: null, credits: [], held: [], caps: [] }

/** What live reservations hold of a feature: its own, and those that draw on it. */
export const heldParts = (
  featureId: string,
  own: readonly HeldPart[],
  others: readonly HeldPart[],
): HeldPart[] => [...own, ...partsOn(featureId, others)]

/** Credits without a plan: usage that they do not pay for is counted here. */
export const WITHOUT_PLAN: Pick<Purse, 'allowance' | 'period'> = {
  allowance: { budget: 0, overageEnabled: false, resetPeriod: 'NEVER' },
  period: FOREVER,
}

const periodKey = (resetPeriod: ResetPeriod, start: number): string => `${resetPeriod} ${start}`

export const currentPeriod = ({ allowance, period }: Pick<Purse, 'allowance' | 'period'>): string =>
  periodKey(allowance.resetPeriod, period.start)

/** The part of an entitlement that a purse starts from; null: nothing can be used. `hasPool`: something of a pool can be. */
export function spendable(
  entitlement: UserEntitlement,
  { credits, held }: Spending,
  now: number,
  hasPool = false,
): Pick<Purse, 'allowance' | 'period'> | null {
  if (entitlement.kind === 'metered') return entitlement
  if (entitlement.kind === 'binary') return null
  if (entitlement.code !== 'NO_SUBSCRIPTION' && entitlement.code !== 'NOT_IN_PACKAGE') return null
  if (!hasPool && held.length === 0 && !credits.some((credit) => isOpen(credit, now))) return null
  return WITHOUT_PLAN
}

/** `used` is the counter of the period. */
export function purseOf(
  { allowance, period }: Pick<Purse, 'allowance' | 'period'>,
  used: number,
  { owed, drawn, credits, held, caps, entities = [] }: Spending,
  now: number,
  pool: Pool | null = null,
): Purse {
  const current = currentPeriod({ allowance, period })
  const reserved = new Map<string | null, number>()
  let holdsCredits = false
  for (const part of held) {
    if (part.pool || (part.credit === null && part.period !== current)) continue
    holdsCredits ||= part.credit !== null
    reserved.set(part.credit, (reserved.get(part.credit) ?? 0) + leftOf(part))
  }
  return {
    allowance,
    period,
    used,
    owed: owed?.period === current ? owed.amount : 0,
    // Users may have many, and few of them have reservations.
    credits: holdsCredits
      ? credits.map((credit) => ({ ...credit, reserved: reserved.get(credit.id) ?? 0 }))
      : credits,
    planReserved: reserved.get(null) ?? 0,
    drawnReserved: heldOf(held.filter((part) => part.pool)),
    caps: capsInForce(caps, allowance.caps ?? [], entities).map((cap) =>
      capAt(cap, heldOf(held.filter(({ entities = [] }) => capApplies(cap, entities))), now),
    ),
    pool,
    drawn: drawn?.period === current ? { units: drawn.units, parts: drawn.parts } : NOTHING_DRAWN,
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
  const { pool } = purse
  const drawable = pool?.open ? inUnits(remaining(pool.purse, now, entities), pool) : 0
  return finite(leftInOwn(purse, now) + drawable)
}

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
function roomInPool({ pool, allowance }: Purse, now: number, entities: readonly string[]): number {
  if (!pool?.open) return 0
  const { purse } = pool
  return inUnits(
    allowance.overageEnabled ? remaining(purse, now, entities) : roomOf(purse, now, entities),
    pool,
  )
}

const inUnits = (ofPool: number | null, { cost }: Draw): number => Math.floor(infinite(ofPool) / cost)

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
 * which is owed. Null as well if a counter would overflow.
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
  const drawn = draw(purse, Math.min(missing, roomInPool(purse, now, entities)), now, entities)
  if (!drawn) return null
  parts.push(...drawn)
  missing -= unitsOf(drawn)
  const owed = Math.max(0, missing - overageLeft(purse))
  if (owed > 0 && beyond === 'REFUSE') return null
  if (missing > 0) addPart(parts, { credit: null, amount: missing })
  const after = spent({ ...purse, owed: purse.owed + owed }, parts, entities)
  return after.used > MAX_COUNT ? null : { purse: after, parts }
}

/** Parts of a pool that pay for so many units; null: its counter would overflow. */
function draw({ pool }: Purse, units: number, now: number, entities: readonly string[]): Part[] | null {
  if (!pool || units === 0) return []
  const { featureId, cost } = pool
  const taken = take(pool.purse, units * cost, now, 'REFUSE', entities)
  return taken?.parts.map((part) => ({ ...part, pool: { featureId, cost } })) ?? null
}

/**
 * Returns units that were used in this period, in reverse order: first what was used beyond the budget, then what a pool
 * paid, then the sources. Null: fewer were used, or what a pool paid cannot be returned to it any more.
 */
export function giveBack(purse: Purse, amount: number, entities: readonly string[] = []): Taken | null {
  if (amount > usedInPeriod(purse)) return null
  const parts: Part[] = []
  const beyond = Math.min(amount, beyondBudget(purse))
  if (beyond > 0) addPart(parts, { credit: null, amount: -beyond })
  const drawn = undrawn(purse, amount - beyond)
  parts.push(...drawn)
  const missing = amount - beyond + unitsOf(drawn)
  const within = purse.used - beyondBudget(purse)
  const current = currentPeriod(purse)
  const returned = refilled(purse, missing, (credit) => (credit ? takenIn(current, credit) : within))
  for (const part of returned) addPart(parts, part)
  if (unitsOf(parts) !== -amount) return null
  const after = spent(purse, parts, entities)
  const own = drawn.length < parts.length ? withinDebt(after) : after
  const { pool } = own
  if (!pool || drawn.length === 0) return { purse: own, parts }
  return { purse: { ...own, pool: { ...pool, purse: withinDebt(pool.purse) } }, parts }
}

/** What is owed never exceeds what is used beyond the budget and a limited overage. */
export const withinDebt = (purse: Purse): Purse => ({
  ...purse,
  owed: Math.min(purse.owed, Math.max(0, beyondBudget(purse) - (purse.allowance.overageCap ?? 0))),
})

const beyondBudget = ({ allowance: { budget }, used }: Purse): number =>
  budget === null ? 0 : Math.max(0, used - budget)

/** Returns up to so many units to the sources, each at most `most`, in reverse order. */
function refilled(purse: Purse, amount: number, most: (credit: HeldCredit | null) => number): Part[] {
  const parts: Part[] = []
  let missing = amount
  for (const { credit } of candidates(purse, ({ voidedAt }) => voidedAt === null).reverse()) {
    const part = Math.min(most(credit), missing)
    if (part > 0) parts.push({ credit: credit?.id ?? null, amount: -part })
    missing -= part
  }
  return parts
}

/** Returns up to so many units to the pool: those drawn last first, and of them first what the pool used beyond its budget. */
function undrawn({ pool, drawn }: Purse, units: number): Part[] {
  if (!pool || units === 0) return []
  const { featureId } = pool
  const current = currentPeriod(pool.purse)
  const all: Part[] = []
  let [purse, missing] = [pool.purse, units]
  for (const { cost, parts } of byDraw(drawn.parts).reverse()) {
    const own = parts.filter((part) => part.pool.featureId === featureId)
    const left = new Map<string | null, number>()
    for (const { credit, period, amount } of own)
      if (credit !== null || period === current) left.set(credit, (left.get(credit) ?? 0) + amount)
    const most = (credit: HeldCredit | null) =>
      Math.min(left.get(credit?.id ?? null) ?? 0, credit ? credit.used : purse.used)
    const whole = Math.floor(
      -sum(refilled(purse, Number.POSITIVE_INFINITY, most).map((p) => p.amount)) / cost,
    )
    const returning = Math.min(missing, whole)
    const beyond = Math.min(returning * cost, most(null), beyondBudget(purse))
    const returned: Part[] = beyond > 0 ? [{ credit: null, amount: -beyond }] : []
    for (const part of refilled(purse, returning * cost - beyond, (credit) =>
      credit ? most(credit) : most(null) - beyond,
    ))
      addPart(returned, part)
    purse = spent(purse, returned)
    all.push(...returned.map((part) => ({ ...part, pool: { featureId, cost } })))
    missing -= returning
  }
  return all
}

/** Uses units that were reserved, or returns units: of their sources, whether or not they are live. */
export function spent(purse: Purse, parts: readonly TakenPart[], entities: readonly string[] = []): Purse {
  const current = currentPeriod(purse)
  const taken = new Map<string | null, number>()
  for (const { credit, amount, period, pool } of parts) {
    if (pool || (credit === null && (period ?? current) !== current)) continue
    taken.set(credit, (taken.get(credit) ?? 0) + amount)
  }
  const after = {
    ...purse,
    used: purse.used + (taken.get(null) ?? 0),
    credits: purse.credits.map((credit) => {
      const amount = taken.get(credit.id)
      if (amount === undefined) return credit
      return {
        ...credit,
        used: credit.used + amount,
        period: current,
        periodUsed: Math.max(0, takenIn(current, credit) + amount),
      }
    }),
    caps: countInCaps(purse.caps, entities, unitsOf(parts)),
  }
  const drawn = parts.flatMap(({ pool, ...part }) => (pool ? [{ ...part, pool }] : []))
  return drawn.length > 0 ? withDrawn(after, drawn, entities) : after
}

function withDrawn(
  purse: Purse,
  parts: readonly (TakenPart & { pool: Draw })[],
  entities: readonly string[],
): Purse {
  const { pool, drawn } = purse
  if (!pool || parts.some((part) => part.pool.featureId !== pool.featureId))
    throw new Error('a pool that pays was not read')
  const current = currentPeriod(pool.purse)
  const placed = parts.map((part) => ({
    ...part,
    period: part.credit === null ? (part.period ?? current) : null,
  }))
  const all = merged<DrawnPart>([...drawn.parts, ...placed]).filter(({ amount }) => amount > 0)
  return {
    ...purse,
    pool: { ...pool, purse: spent(pool.purse, partsOn(pool.featureId, parts), entities) },
    drawn: { units: Math.max(0, drawn.units + unitsOf(parts)), parts: all.slice(-MAX_DRAWN_PARTS) },
  }
}

/** Used in this period, whoever paid. */
export function usedInPeriod(purse: Purse): number {
  const current = currentPeriod(purse)
  return purse.used + sum(purse.credits.map((credit) => takenIn(current, credit))) + purse.drawn.units
}

const takenIn = (current: string, { period, periodUsed, voidedAt }: HeldCredit): number =>
  period === current && voidedAt === null ? periodUsed : 0

const planLeft = ({ allowance: { budget }, used, planReserved }: Purse): number =>
  budget === null ? Number.POSITIVE_INFINITY : Math.max(0, budget - used - planReserved)

/** Units beyond the budget that the plan still allows; Infinity: any number. */
function overageLeft({ allowance, used, planReserved }: Purse): number {
  const { budget } = allowance
  if (budget === null) return 0
  return Math.max(0, overageOf(allowance) - Math.max(0, used + planReserved - budget))
}

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

const finite = (number: number): number | null => (Number.isFinite(number) ? number : null)
const infinite = (number: number | null): number => number ?? Number.POSITIVE_INFINITY
