import { currentPeriod, type Purse, spent, withinDebt } from './spending.ts'
import type { Draw, Part, TakenPart } from './split.ts'

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

/** Returns exactly what a call took, apart from what has lapsed. Null: a source has given fewer units than that. */
export function revert(
  purse: Purse,
  { during, parts, entities }: Split,
): { purse: Purse; parts: Part[] } | null {
  const returned = parts
    .filter((part) => isReturnable(purse, part))
    .map((part) => ({ ...part, amount: -part.amount }))
  const after = spent(purse, returned, entities)
  const { pool } = after
  if (isBelowZero(after) || (pool && isBelowZero(pool.purse))) return null
  const inDebt = { ...withinDebt(after), pool: pool && { ...pool, purse: withinDebt(pool.purse) } }
  const now = during === null || during === currentPeriod(purse) ? inDebt : asBefore(purse, inDebt)
  return { purse: now, parts: returned.map(({ period, ...part }) => part) }
}

const isBelowZero = ({ used, credits }: Purse): boolean =>
  used < 0 || credits.some((credit) => credit.used < 0)

/** What was used in an earlier period is not missing from this one. */
const asBefore = (before: Purse, after: Purse): Purse => ({
  ...after,
  drawn: before.drawn,
  credits: after.credits.map((credit, i) => {
    const { period = null, periodUsed = 0 } = before.credits[i] ?? {}
    return { ...credit, period, periodUsed }
  }),
})
