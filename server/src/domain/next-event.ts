export const NEXT_EVENTS = ['TRIAL_END', 'CHANGE', 'END', 'RENEWAL'] as const

export interface NextEvent {
  kind: (typeof NEXT_EVENTS)[number]
  at: number
  /** next package; null: there is none, or it is the same */
  packageName: string | null
}

interface Planned {
  status: 'ACTIVE' | 'CANCELLED'
  cancelAt: number | null
  trialEndsAt: number | null
  scheduled: { packageName: string; at: number } | null
}

/** Next scheduled event of a subscription; null: it continues until someone cancels it. */
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
