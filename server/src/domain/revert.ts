import { capLeft, tightestCap } from './cap.ts'
import { withinDebt } from './give-back.ts'
import { currentPeriod, type Purse } from './purse.ts'
import { creditLeft, isLive, roomOf } from './sources.ts'
import { spent } from './spending.ts'
import { type Draw, merged, type Part, partsOn, type TakenPart, unitsOf } from './split.ts'

/** What a recorded call took, so that it can be returned exactly. */
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
  if (!hasLeft(purse, returned, now, entities))
    return { refused: 'Cannot revert: some of the units that were returned are no longer left.' }
  const after = spent(purse, returned, entities)
  const { pool } = after
  if (isBelowZero(after) || (pool && isBelowZero(pool.purse)))
    return { refused: 'Cannot revert: some of these units have been returned already.' }
  const isReturned = (isOfPool: boolean) =>
    returned.some((part) => part.amount < 0 && (part.pool !== undefined) === isOfPool)
  const own = isReturned(false) ? withinDebt(after) : after
  const inDebt = pool && isReturned(true) ? { ...own, pool: { ...pool, purse: withinDebt(pool.purse) } } : own
  const known = during === null || during === currentPeriod(purse) ? inDebt : asBefore(purse, inDebt)
  return { purse: known, parts: returned.map(({ period, ...part }) => part) }
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

const isBelowZero = ({ used, credits }: Purse): boolean =>
  used < 0 || credits.some((credit) => credit.used < 0)

/** What was used in an earlier period is not missing from this one. */
const asBefore = (before: Purse, after: Purse): Purse => ({
  ...after,
  drawn: before.drawn,
  credits: after.credits.map((credit, i) => {
    const { period = null, periodUsed = 0 } = before.credits[i] ?? {}
    return { ...credit, period, periodUsed: Math.min(periodUsed, credit.used) }
  }),
})
