import { currentPeriod, type HeldCredit, type Purse } from './purse.ts'
import { candidates } from './sources.ts'
import { spent, type Taken, takenIn, usedInPeriod } from './spending.ts'
import { addPart, byDraw, type Part, sum, unitsOf } from './split.ts'

/**
 * Gives back units that were used in this period, in reverse order: first those used beyond the budget, then those that a pool
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

/** Lowers the debt to the units used beyond the budget and a limited overage. */
export const withinDebt = (purse: Purse): Purse => ({
  ...purse,
  owed: Math.min(purse.owed, Math.max(0, beyondBudget(purse) - (purse.allowance.overageCap ?? 0))),
})

const beyondBudget = ({ allowance: { budget }, used }: Purse): number =>
  budget === null ? 0 : Math.max(0, used - budget)

/** Gives back up to `amount` units to the sources in reverse order, at most `most` to each. */
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

/** Gives back up to `units` to the pool: the latest draws first, and of each the part beyond the pool's budget first. */
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
