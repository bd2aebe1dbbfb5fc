import type { Allowance } from '../../domain/allowance.ts'
import type { Standing } from '../../domain/standing.ts'
import type { AppCache } from '../../store/app-cache.ts'
import { TryAgain, type Tx } from '../../store/database.ts'
import type { CounterMove } from '../../store/usage-moves.ts'
import type { PendingUsage } from '../call/hot-paths.ts'
import { questionOf, readStandings } from './standings.ts'

/** A move of a counter, the events it records, and what they were decided by. */
interface DecidedMove {
  move: CounterMove
  decisions: readonly { item: PendingUsage }[]
  allowance: Allowance
}

/**
 * Reads budgets again once the counters are written, and so locked; throws if one has changed. Null: there is no need to.
 *
 * A change that lowers the budget of a feature that never resets relies on what is in use (`holdCounters`). On this server
 * it replaces the row of the counter, so that usage decided before does not find it. On another server counters are found by
 * their key.
 */
export function confirmingBudgets(
  apps: AppCache,
  client: Tx,
  moved: readonly DecidedMove[],
): (() => Promise<void>) | null {
  const unsure = moved.filter(
    ({ move: { key }, allowance: { budget, overageEnabled } }) =>
      key.cell?.group.remote && key.resetPeriod === 'NEVER' && budget !== null && !overageEnabled,
  )
  if (unsure.length === 0) return null
  return async () => {
    const questions = unsure.flatMap(({ decisions }) =>
      decisions.slice(0, 1).map(({ item }) => questionOf(item)),
    )
    const found = await readStandings(apps, client, questions, { inTransaction: true })
    const budgets = found.map((one) => 'value' in one && budgetOf(one.value.standing))
    if (unsure.some(({ allowance }, i) => allowance.budget !== budgets[i])) throw new TryAgain()
  }
}

const budgetOf = (standing: Standing) => standing.kind === 'metered' && standing.allowance.budget
