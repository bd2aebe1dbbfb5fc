import type { Billed, BilledPackage, HeldSubscription } from './bill.ts'
import { endedAt } from './subscription.ts'

/**
 * Whether a provider's subscription is a second trial: by a link that was made before the user tried one of its packages
 * in another way. A trial that the shop gives at the provider itself is none, nor is one that has been granted here.
 */
export function triesAgain(
  { byTrialLink, trialEndsAt }: Billed,
  packages: readonly BilledPackage[],
  held: readonly HeldSubscription[],
  isMine: (s: HeldSubscription) => boolean,
  now: number,
): boolean {
  if (!byTrialLink || trialEndsAt === null) return false
  const isGiven = held.some((s) => isMine(s) && (s.trialEndsAt !== null || endedAt(s, now) === null))
  const isTried = (s: HeldSubscription) =>
    !isMine(s) && s.trialEndsAt !== null && packages.some((p) => p.id === s.packageId)
  return !isGiven && held.some(isTried)
}
