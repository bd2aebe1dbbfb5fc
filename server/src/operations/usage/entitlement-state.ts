import type { Catalogue } from '../../domain/catalogue.ts'
import {
  NO_SPENDING,
  type PoolSource,
  purseOf,
  type Spending,
  spendable,
  WITHOUT_PLAN,
} from '../../domain/purse.ts'
import { type UserEntitlement, userEntitlement } from '../../domain/user-entitlement.ts'
import type { Question } from '../../store/usage/holding-questions.ts'
import type { Holding } from '../../store/usage/read-holdings.ts'
import type { EntitlementQuestion, EntitlementState, PoolState } from '../call/hot-paths.ts'

// State of a user and feature, and of the pool that the feature draws on, as read by a statement.

/** A pool that was asked about. */
export interface AskedPool extends Pick<PoolState, 'featureId' | 'cost' | 'open'> {
  /** whether a reservation draws on it */
  held: boolean
  /** the index of its first row among those requested */
  from: number
}

/** How a question was asked. */
interface Asked {
  /** the index of its first row among those requested */
  from: number
  draw: AskedPool | null
  entities: readonly string[]
  /** false: on another database server, where the plan's caps do not apply */
  isHere: boolean
}

export function stand(
  catalogue: Catalogue,
  { featureId }: EntitlementQuestion,
  asked: readonly Question[],
  holdings: readonly (Holding | undefined)[],
  { from, draw, entities, isHere }: Asked,
  holding: Holding,
): EntitlementState {
  const { uid, now } = holding
  const spending = holding.spending && { ...holding.spending, entities }
  const holder = uid === null ? null : holding
  const entitlement = userEntitlement(catalogue, featureId, holder, now)
  const pool = draw && holder ? poolState(catalogue, draw, asked, holdings, holder, entities) : null
  const state: EntitlementState = {
    featureId,
    entitlement,
    holder,
    catalogue,
    now,
    uid,
    used: 0,
    counter: null,
    counted: false,
    spending,
    purse: null,
    pool,
  }
  const spends = spending !== null || pool !== null || (isHere && isCapped(entitlement))
  // Not allocated for the features that only the plan pays for: most checks.
  const own = spends ? (spending ?? { ...NO_SPENDING, entities }) : null
  const counted = own ? spendable(entitlement, own, now, pool?.open) : metered(entitlement)
  if (!counted) return state
  const counter = counterIn(counted, asked, holdings, from)
  state.counter = counter?.ref ?? holding.ref
  if (counter) {
    state.used = counter.used
    state.counted = true
  }
  if (own) state.purse = purseOf(counted, state.used, own, now, pool && poolFrom(pool, pool.spending, now))
  return state
}

/** The pool as a part of a purse. */
export const poolFrom = (
  { featureId, cost, open, basis, used }: PoolState,
  spending: Spending,
  now: number,
): PoolSource => ({ featureId, cost, open, purse: purseOf(basis, used, spending, now) })

/** Null: the user can use nothing of the pool, and no reservation of theirs draws on it. */
function poolState(
  catalogue: Catalogue,
  { from, held, featureId, cost, open }: AskedPool,
  asked: readonly Question[],
  holdings: readonly (Holding | undefined)[],
  holder: Holding,
  entities: readonly string[],
): PoolState | null {
  const { now } = holder
  const entitlement = userEntitlement(catalogue, featureId, holder, now)
  const read = holdings[from]?.spending ?? null
  const spending = { ...(read ?? NO_SPENDING), entities }
  const found = spendable(entitlement, spending, now)
  if (!found && !held) return null
  const basis = found ?? WITHOUT_PLAN
  const counter = counterIn(basis, asked, holdings, from)
  return {
    featureId,
    cost,
    open: open && found !== null,
    entitlement,
    basis,
    used: counter?.used ?? 0,
    counter: counter?.ref ?? holder.ref,
    counted: counter !== undefined,
    spending,
    enrolled: read !== null,
    heldUntil: read?.heldUntil ?? Number.POSITIVE_INFINITY,
  }
}

/** The counter of this period, among the rows that start at `from`. */
function counterIn(
  { allowance, period }: Pick<PoolState['basis'], 'allowance' | 'period'>,
  asked: readonly Question[],
  holdings: readonly (Holding | undefined)[],
  from: number,
): Holding['counters'][number] | undefined {
  let at = from
  while (at < asked.length && asked[at]?.resetPeriod !== allowance.resetPeriod) at++
  return holdings[at]?.counters.find(({ start }) => start === period.start)
}

export const isCapped = (entitlement: UserEntitlement): boolean =>
  entitlement.kind === 'metered' && entitlement.allowance.caps !== undefined

const metered = (entitlement: UserEntitlement) => (entitlement.kind === 'metered' ? entitlement : null)
