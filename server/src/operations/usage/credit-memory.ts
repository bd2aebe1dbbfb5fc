import { LRUCache } from 'lru-cache'
import { MAX_REFILLED_CREDITS, MAX_REMEMBERED_CREDITS } from '../../domain/limits.ts'
import type { HeldCredit, UnheldCredit } from '../../domain/purse.ts'
import type { KnownCredits, Question } from '../../store/usage/holding-questions.ts'

type Of = Pick<Question, 'appId' | 'userId' | 'featureId'>

/**
 * The credits that this process read or changed last, by user and feature. A statement is told their version and returns
 * them only if they have changed since: a user may have a thousand.
 */
export class CreditMemory {
  readonly #known = new LRUCache<string, KnownCredits>({
    maxSize: MAX_REMEMBERED_CREDITS,
    sizeCalculation: ({ credits }) => 1 + credits.length,
  })

  recall(of: Of): KnownCredits | null {
    return this.#known.get(nameOf(of)) ?? null
  }

  keep(of: Of, known: KnownCredits): void {
    if (this.#known.peek(nameOf(of))?.credits !== known.credits) this.#known.set(nameOf(of), known)
  }

  /** After a write. They are what a statement would return now. */
  changed(of: Of, uid: number, version: number, credits: readonly HeldCredit[]): void {
    this.#known.set(nameOf(of), { uid, version, credits: withoutOldest(credits).map(unheld) })
  }
}

const unheld = (credit: HeldCredit): UnheldCredit => (isUnheld(credit) ? credit : { ...credit, reserved: 0 })

const isUnheld = (credit: HeldCredit): credit is UnheldCredit => credit.reserved === 0

/** Of those that have ended, the newest are read. */
function withoutOldest(credits: readonly HeldCredit[]): readonly HeldCredit[] {
  const ended = credits.filter(({ used, amount, voidedAt }) => used >= amount || voidedAt !== null)
  if (ended.length <= MAX_REFILLED_CREDITS) return credits
  const oldest = new Set(ended.sort((a, b) => b.seq - a.seq).slice(MAX_REFILLED_CREDITS))
  return credits.filter((credit) => !oldest.has(credit))
}

/** The length prefix keeps names distinct, whatever the ids contain. */
const nameOf = ({ appId, userId, featureId }: Of): string => `${appId} ${userId.length} ${userId}${featureId}`
