import { capFigures, capLeft, tightestCap } from './cap.ts'
import { quote } from './errors.ts'
import { withinDebt } from './give-back.ts'
import { currentPeriod, type Purse } from './purse.ts'
import { creditLeft, isLive, roomOf } from './sources.ts'
import { spent } from './spending.ts'
import { type Draw, merged, type Part, partsOn, sum, type TakenPart, unitsOf } from './split.ts'

/** Units that a recorded call took, by source, so that they can be returned exactly. */
export interface Split {
  featureId: string
  /** the period of the feature in which it was recorded; null: perhaps several */
  during: string | null
  /** plans: with their period */
  parts: readonly TakenPart[]
  entities: readonly string[]
}

/** As it is stored with the answer, which is kept for every call with a key. */
export type StoredSplit = [
  featureId: string,
  during: string | null,
  parts: [credit: string | null, amount: number, period?: string | null, pool?: Draw][],
  entities?: readonly string[],
]

export const toStored = ({ featureId, during, parts, entities }: Split): StoredSplit => {
  const listed = parts.map(({ credit, amount, period = null, pool }): StoredSplit[2][number] =>
    pool
      ? [credit, amount, period, pool]
      : period === null || period === during
        ? [credit, amount]
        : [credit, amount, period],
  )
  return entities.length > 0 ? [featureId, during, listed, entities] : [featureId, during, listed]
}

export const fromStored = ([featureId, during, listed, entities = []]: StoredSplit): Split => ({
  featureId,
  during,
  parts: listed.map(([credit, amount, period = null, pool]) => ({
    credit,
    amount,
    period: credit === null ? (period ?? during) : null,
    ...(pool && { pool }),
  })),
  entities,
})

/** Whether the source can get units back: a credit, or a plan in the same period. Others have lapsed. */
export const isReturnable = (purse: Purse, { credit, period, pool }: TakenPart): boolean => {
  if (credit !== null) return true
  const of = pool ? purse.pool?.purse : purse
  return of !== undefined && of !== null && period === currentPeriod(of)
}

/**
 * Returns exactly what a call took, apart from what has lapsed. What a call returned is taken again: from the same sources, if
 * they and the caps still have it.
 */
export function revert(
  purse: Purse,
  { during, parts, entities }: Split,
  now: number,
): { purse: Purse; parts: Part[] } | { refused: string } {
  const returned = parts
    .filter((part) => isReturnable(purse, part))
    .map((part) => ({ ...part, amount: -part.amount }))
  const short = shortOf(purse, returned, now, entities)
  if (short !== null) return { refused: short }
  const after = spent(purse, returned, entities)
  const { pool } = after
  const gone = belowZero(after)
  if (gone > 0)
    return { refused: `Cannot revert ${-unitsOf(returned)}: ${gone} of them have been returned already.` }
  const ofPool = pool ? belowZero(pool.purse) : 0
  if (pool && ofPool > 0) {
    const name = quote(pool.featureId)
    return { refused: `Cannot revert: ${ofPool} units of the pool ${name} have been returned already.` }
  }
  const isReturned = (isOfPool: boolean) =>
    returned.some((part) => part.amount < 0 && (part.pool !== undefined) === isOfPool)
  const own = isReturned(false) ? withinDebt(after) : after
  const inDebt = pool && isReturned(true) ? { ...own, pool: { ...pool, purse: withinDebt(pool.purse) } } : own
  const known = during === null || during === currentPeriod(purse) ? inDebt : asBefore(purse, inDebt)
  return { purse: known, parts: returned.map(({ period, ...part }) => part) }
}

/** Why units that were returned cannot be taken again; null: they can. */
function shortOf(
  purse: Purse,
  parts: readonly TakenPart[],
  now: number,
  entities: readonly string[],
): string | null {
  const units = unitsOf(parts.filter(({ amount }) => amount > 0))
  const cap = units > 0 ? tightestCap(purse.caps, entities) : null
  if (cap && units > capLeft(cap))
    return `Cannot revert: the ${units} that were returned no longer fit in the cap, ${capFigures(cap)}.`
  return hasLeft(purse, parts, now, entities)
    ? null
    : `Cannot revert: some of the ${units} that were returned have been used or reserved since, or their source has ended.`
}

/** Whether each source has as many units as are taken from it, and no cap would be exceeded. */
function hasLeft(
  purse: Purse,
  parts: readonly TakenPart[],
  now: number,
  entities: readonly string[],
): boolean {
  const taken = parts.filter(({ amount }) => amount > 0)
  if (taken.length === 0) return true
  const cap = tightestCap(purse.caps, entities)
  if (cap && unitsOf(taken) > capLeft(cap)) return false
  const { pool } = purse
  const drawn = pool?.open ? merged(partsOn(pool.featureId, taken)) : []
  const own = taken.filter((part) => !part.pool)
  if (taken.some((part) => part.pool && part.pool.featureId !== pool?.featureId)) return false
  if (!pool?.open && own.length < taken.length) return false
  if (pool && !hasLeft(pool.purse, drawn, now, entities)) return false
  return own.every(({ credit: id, amount }) => {
    if (id === null) return amount <= roomOf({ ...purse, credits: [], caps: [], pool: null }, now)
    const credit = purse.credits.find((one) => one.id === id)
    return credit !== undefined && isLive(credit, now) && amount <= creditLeft(credit)
  })
}

/** Units that sources would have to return beyond what is used of them. */
const belowZero = ({ used, credits }: Purse): number =>
  sum([used, ...credits.map((credit) => credit.used)].map((amount) => Math.max(0, -amount)))

/** Units used in an earlier period are not missing from this one. */
const asBefore = (before: Purse, after: Purse): Purse => ({
  ...after,
  drawn: before.drawn,
  credits: after.credits.map((credit, i) => {
    const { period = null, periodUsed = 0 } = before.credits[i] ?? {}
    return { ...credit, period, periodUsed: Math.min(periodUsed, credit.used) }
  }),
})
