import type { Billed, BilledPackage, HeldSubscription } from './bill.ts'
import { endedAt } from './subscription.ts'

/**
 * Whether a provider's subscription is a second trial, from a link created before the user tried one of its packages in
 * another way. A trial granted at the provider by the shop is not, nor is one already granted here.
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
