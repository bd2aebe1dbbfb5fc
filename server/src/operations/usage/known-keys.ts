import type { HomeDb } from '../../store/connection/places.ts'
import { readKeys } from '../../store/usage/idempotency.ts'
import type { KeptUnder } from '../call/hot-paths.ts'
import { idempotencyKeyReused, type Outcome, resultOf } from '../call/outcome.ts'
import type { BatchResult } from './batcher.ts'

/** The answers to the calls of a batch, by index. */
export type Answers<Answer> = (BatchResult<Answer | 'claimed'> | undefined)[]

/** Answers calls whose idempotency key was used before, except those that `isLeftOut`. */
export async function answerKnownKeys<Answer>(
  db: HomeDb,
  pending: readonly { key: KeptUnder | null }[],
  answers: Answers<Answer>,
  isLeftOut: (index: number) => boolean = () => false,
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
      answers[index] = repeated(claim.results[key.field] as unknown as Outcome<Answer>)
    } else {
      answers[index] = { value: 'claimed' }
    }
  }
}

function repeated<Answer>(outcome: Outcome<Answer>): BatchResult<Answer> {
  try {
    return { value: resultOf(outcome) }
  } catch (error) {
    return { error }
  }
}
