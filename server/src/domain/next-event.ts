export const NEXT_EVENTS = ['TRIAL_END', 'CHANGE', 'END', 'RENEWAL'] as const

export interface NextEvent {
  kind: (typeof NEXT_EVENTS)[number]
  at: number
  /** what follows; null: nothing, or the same again */
  packageName: string | null
}

interface Planned {
  status: 'ACTIVE' | 'CANCELLED'
  cancelAt: number | null
  trialEndsAt: number | null
  scheduled: { packageName: string; at: number } | null
}

/** What happens to a subscription next, as far as it is known; null: nothing, it goes on until somebody ends it. */
export function nextEvent(
  { status, cancelAt, trialEndsAt, scheduled }: Planned,
  paidUntil: number | null,
  now: number,
): NextEvent | null {
  if (status === 'CANCELLED') return null
  const packageName = scheduled?.packageName ?? null
  if (trialEndsAt !== null && trialEndsAt > now) return { kind: 'TRIAL_END', at: trialEndsAt, packageName }
  if (scheduled) return { kind: 'CHANGE', at: scheduled.at, packageName }
  if (cancelAt !== null) return { kind: 'END', at: cancelAt, packageName: null }
  if (paidUntil !== null && paidUntil > now) return { kind: 'RENEWAL', at: paidUntil, packageName: null }
  return null
}
