import type { Allowance } from './allowance.ts'
import { type CapCount, capApplies, capAt, capsInForce, type HeldCap } from './cap.ts'
import type { Credit } from './credit.ts'
import { MAX_REFILLED_CREDITS } from './limits.ts'
import { FOREVER, type Period, type ResetPeriod } from './period.ts'
import { type Draw, type DrawnPart, type HeldPart, heldOf, leftOf, partsOn } from './split.ts'
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
  pool: PoolSource | null
  /** what pools paid for in this period */
  drawn: Drawn
}

export interface PoolSource extends Draw {
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
export interface HeldCredit extends Omit<Credit, 'featureId'> {
  /** order of creation */
  seq: number
  /** `periodUsed` is the part of `used` that was taken in this period of the plan */
  period: string | null
  periodUsed: number
  reserved: number
}

/** Of credits that are spent or voided, only the newest can be refilled. */
export function withoutOldest<C extends HeldCredit>(credits: readonly C[]): readonly C[] {
  const ended = credits.filter(({ used, amount, voidedAt }) => used >= amount || voidedAt !== null)
  if (ended.length <= MAX_REFILLED_CREDITS) return credits
  const oldest = new Set(ended.sort((a, b) => b.seq - a.seq).slice(MAX_REFILLED_CREDITS))
  return credits.filter((credit) => !oldest.has(credit))
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

/** Stored state of a user's spending on a feature. */
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

/** Units of a feature held by live reservations: its own, and those of features that draw on it. */
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
  pool: PoolSource | null = null,
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

/** Neither voided nor expired nor yet to come; perhaps spent. */
const isOpen = ({ voidedAt, effectiveAt, expiresAt }: Omit<HeldCredit, 'reserved'>, now: number): boolean =>
  voidedAt === null && effectiveAt <= now && (expiresAt === null || now < expiresAt)
