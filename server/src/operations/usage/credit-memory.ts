import { LRUCache } from 'lru-cache'
import { MAX_REMEMBERED_CREDITS } from '../../domain/limits.ts'
import { type HeldCredit, type UnheldCredit, withoutOldest } from '../../domain/purse.ts'
import type { KnownCredits, Question } from '../../store/usage/holding-questions.ts'

type Of = Pick<Question, 'appId' | 'userId' | 'featureId'>

/**
 * The credits that this process read or changed last, by user and feature. A statement is told their version and returns
 * them only if they have changed since: a user may have a thousand.
 */
export class CreditMemory {
  readonly #known = new LRUCache<string, KnownCredits>({
    maxSize: MAX_REMEMBERED_CREDITS,
    sizeCalculation: ({ credits }) => 1 + sizeOfCredits(credits),
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

/** A long reason counts as more credits. */
export function sizeOfCredits(credits: readonly Pick<HeldCredit, 'reason'>[]): number {
  let characters = 0
  for (const { reason } of credits) characters += reason?.length ?? 0
  return credits.length + Math.ceil(characters / CREDIT_CHARACTERS)
}

/** About as many as the memory of a credit without a reason would hold. */
const CREDIT_CHARACTERS = 200

const unheld = (credit: HeldCredit): UnheldCredit => (isUnheld(credit) ? credit : { ...credit, reserved: 0 })

const isUnheld = (credit: HeldCredit): credit is UnheldCredit => credit.reserved === 0

/** The length prefix keeps names distinct, whatever the ids contain. */
const nameOf = ({ appId, userId, featureId }: Of): string => `${appId} ${userId.length} ${userId}${featureId}`
