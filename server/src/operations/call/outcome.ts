import { TollgateError } from '../../domain/errors.ts'

/** The stored result of a mutation, which may be an error. */
export type Outcome<T> = { value: T } | { error: Refusal }

type Refusal = Pick<TollgateError, 'code' | 'message' | 'type' | 'field'>

export function resultOf<T>(outcome: Outcome<T>): T {
  if (!('error' in outcome)) return outcome.value
  const { code, message, type, field } = outcome.error
  throw new TollgateError(code, message, type, field)
}

export const idempotencyKeyReused = () =>
  new TollgateError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used for a different request. Use a new key.',
  )
