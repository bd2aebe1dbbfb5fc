import { unavailable } from '../../domain/errors.ts'
import { TryAgain } from '../../store/connection/database.ts'
import { endedForAnother, violates } from '../../store/connection/refusals.ts'
import { KEY_TAKEN } from '../../store/usage/idempotency.ts'
import { COUNTER_EXISTS } from '../../store/usage/write-usage.ts'

export const tooLate = () => unavailable('The call timed out; nothing was recorded. Retry.')

export const keptChanging = () =>
  unavailable('Too many concurrent changes of this usage; nothing was recorded. Retry.')

/** Another writer used a key, created a counter, lowered a budget or moved a user in between: nothing was written. */
export const isOvertaken = (error: unknown): boolean =>
  violates(error, KEY_TAKEN) ||
  violates(error, COUNTER_EXISTS) ||
  endedForAnother(error) ||
  error instanceof TryAgain
