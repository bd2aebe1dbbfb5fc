import { countInCaps } from './cap.ts'
import { MAX_COUNT, MAX_DRAWN_PARTS } from './limits.ts'
import { currentPeriod, type HeldCredit, type Purse } from './purse.ts'
import { candidates, isLive, leftInCaps, overageLeft, roomInPool } from './sources.ts'
import {
  addPart,
  type Draw,
  type DrawnPart,
  merged,
  type Part,
  partsOn,
  sum,
  type TakenPart,
  unitsOf,
} from './split.ts'

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

export const takenIn = (current: string, { period, periodUsed, voidedAt }: HeldCredit): number =>
  period === current && voidedAt === null ? periodUsed : 0
