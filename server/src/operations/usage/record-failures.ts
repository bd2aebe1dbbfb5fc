import { unavailable } from '../../domain/errors.ts'
import { TryAgain } from '../../store/connection/database.ts'
import { endedForAnother, lacksPartition, violates } from '../../store/connection/refusals.ts'
import { KEY_TAKEN } from '../../store/usage/idempotency.ts'
import { RESERVATION_EXISTS } from '../../store/usage/write-spending.ts'
import { COUNTER_EXISTS } from '../../store/usage/write-usage.ts'
import type { WaitingCaller } from '../call/hot-paths.ts'
import type { Answers } from './known-keys.ts'

const tooLate = () => unavailable('The call timed out; nothing was recorded. Retry.')

export const keptChanging = () =>
  unavailable('Too many concurrent changes of this usage; nothing was recorded. Retry.')

/** Another writer used a key or the id of a reservation, created a counter, lowered a budget or moved a user in between: nothing was written. */
export const isOvertaken = (error: unknown): boolean =>
  violates(error, KEY_TAKEN) ||
  violates(error, COUNTER_EXISTS) ||
  violates(error, RESERVATION_EXISTS) ||
  endedForAnother(error) ||
  error instanceof TryAgain

/** Drops calls whose deadline has passed: their callers have received a timeout. */
export function leaveTheGone(pending: readonly { caller: WaitingCaller }[], answers: Answers<unknown>): void {
  for (const [index, { caller }] of pending.entries()) {
    if (caller.deadline?.passed) answers[index] ??= { error: tooLate() }
  }
}

/** Fails all unanswered calls. Answered ones were written. */
export function failOthers(answers: Answers<unknown>, error: unknown): void {
  const told = isOvertaken(error) && !lacksPartition(error) ? keptChanging() : error
  for (let i = 0; i < answers.length; i++) answers[i] ??= { error: told }
}
