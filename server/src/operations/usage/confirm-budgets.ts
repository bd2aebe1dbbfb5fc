import type { Allowance } from '../../domain/allowance.ts'
import type { UserEntitlement } from '../../domain/user-entitlement.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import { TryAgain, type Tx } from '../../store/connection/database.ts'
import type { CounterMove } from '../../store/usage/usage-moves.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { PendingUsage } from '../call/hot-paths.ts'
import { questionOf, readEntitlements } from './read-entitlements.ts'

/** A move of a counter, the events it records, and what they were decided by. */
interface DecidedMove {
  move: CounterMove
  decisions: readonly { item: PendingUsage }[]
  allowance: Allowance
}

/**
 * For users on another server: reads budgets again once the counters are written, and so locked; throws if one has
 * changed. Null: no budget can be lowered by a change that relies on the counter.
 *
 * Such a change (`holdCounters`) replaces the row of the counter. On this server, usage decided before does not find it.
 * On another server counters are found by their key.
 */
export function confirmingBudgets(
  store: UsageStore,
  apps: AppCache,
  client: Tx,
  moved: readonly DecidedMove[],
): (() => Promise<void>) | null {
  const unsure = moved.filter(
    ({ move: { key }, allowance: { budget, overageEnabled } }) =>
      key.resetPeriod === 'NEVER' && budget !== null && !overageEnabled,
  )
  if (unsure.length === 0) return null
  return async () => {
    const questions = unsure.flatMap(({ decisions }) =>
      decisions.slice(0, 1).map(({ item }) => questionOf(item)),
    )
    const found = await readEntitlements(store, apps, client, questions, { inTransaction: true })
    const budgets = found.map((one) => 'value' in one && budgetOf(one.value.entitlement))
    if (unsure.some(({ allowance }, i) => allowance.budget !== budgets[i])) throw new TryAgain()
  }
}

const budgetOf = (entitlement: UserEntitlement) =>
  entitlement.kind === 'metered' && entitlement.allowance.budget
