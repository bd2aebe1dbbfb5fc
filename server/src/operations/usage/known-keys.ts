import type { RecordedUsage } from '../../domain/usage.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { readKeys } from '../../store/usage/idempotency.ts'
import type { PendingUsage, Recorded } from '../call/hot-paths.ts'
import { idempotencyKeyReused, type Outcome, resultOf } from '../call/outcome.ts'
import type { BatchResult } from './batcher.ts'

/** The answers to the events of a batch, by index. */
export type Answers = (BatchResult<Recorded> | undefined)[]

/** Answers events whose idempotency key was used before, except those that `isLeftOut`. */
export async function answerKnownKeys(
  db: HomeDb,
  pending: readonly PendingUsage[],
  answers: Answers,
  isLeftOut: (index: number) => boolean,
): Promise<void> {
  const keyed = pending.flatMap(({ key }, index) =>
    key && !answers[index] && !isLeftOut(index) ? [{ key, index }] : [],
  )
  if (keyed.length === 0) return
  const claims = await readKeys(
    db,
    keyed.map(({ key }) => key),
  )
  for (const [i, { key, index }] of keyed.entries()) {
    const claim = claims[i]
    if (!claim) continue
    if (!claim.request.equals(key.request)) {
      answers[index] = { error: idempotencyKeyReused() }
    } else if (Object.hasOwn(claim.results, key.field)) {
      answers[index] = repeated(claim.results[key.field] as unknown as Outcome<RecordedUsage>)
    } else {
      answers[index] = { value: 'claimed' }
    }
  }
}

function repeated(outcome: Outcome<RecordedUsage>): BatchResult<Recorded> {
  try {
    return { value: resultOf(outcome) }
  } catch (error) {
    return { error }
  }
}
