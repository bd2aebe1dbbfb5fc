/**
 * Past and scheduled events of a subscription, from three sources: the subscription itself, the audit log,
 * which knows who did it, and the payments at its provider.
 *
 * Invariants (subscription-history.test.ts):
 * - newest first, so scheduled events come first;
 * - a fact that the audit log explains is one event, with its actor;
 * - an audit entry that did not change this subscription is left out, unless it is about this subscription alone.
 */

export const HISTORY_KINDS = [
  'STARTED',
  'CHANGED',
  'SCHEDULED',
  'REVERTED',
  'TRIAL',
  'CANCELLED',
  'PAID',
  'FAILED',
  'REFUNDED',
  'DISPUTED',
  'OTHER',
] as const
export type HistoryKind = (typeof HISTORY_KINDS)[number]

/** Which words describe an event. */
export type HistoryEvent = { at: number; actor: number | null } & (
  | { kind: 'STARTED'; what: 'plan' | 'trial' }
  | { kind: 'STARTED'; what: 'change'; from: Other }
  | { kind: 'CHANGED'; to: Other }
  | { kind: 'SCHEDULED'; what: 'change'; to: Other; due: boolean; on: number }
  | { kind: 'SCHEDULED'; what: 'end' | 'trial end'; due: boolean; on: number }
  | { kind: 'REVERTED' }
  | { kind: 'TRIAL'; until: number }
  | { kind: 'CANCELLED' }
  | { kind: 'PAID' | 'FAILED'; charge: Charge }
  | { kind: 'REFUNDED'; charge: Charge }
  | { kind: 'DISPUTED'; charge: Charge; state: string }
  | { kind: 'OTHER'; entry: number }
)

interface Other {
  packageId: string
  quantity: number
}

export interface Charge {
  ref: string
  provider: string
  state: 'PAID' | 'FAILED'
  amount: number
  currency: string
  at: number
  refunded: number
  refundedAt: number | null
  dispute: { state: string; openedAt: number } | null
}

interface Lived extends Other {
  id: string
  isAddon: boolean
  startedAt: number
  endedAt: number | null
  cancelAt: number | null
  trialEndsAt: number | null
  next: (Other & { at: number }) | null
}

/** A state that the audit log shows of one subscription, with ISO times; null: it did not exist. */
export interface Snapshot {
  cancelAt: string | null
  cancelledAt: string | null
  trialEndsAt: string | null
  quantity: number
}

/** An audit entry about the user or the subscription. */
export interface Audited {
  at: number
  /** Its subject is the subscription itself. */
  own: boolean
  before: Snapshot | null
  after: Snapshot | null
}

interface Sources {
  subscription: Lived
  /** the user's other subscriptions */
  others: readonly Lived[]
  charges: readonly Charge[]
  /** newest first */
  audited: readonly Audited[]
  now: number
}

export function subscriptionHistory({
  subscription,
  others,
  charges,
  audited,
  now,
}: Sources): HistoryEvent[] {
  const entries = audited.map((entry, index) => ({ ...entry, index }))
  const actorOf = (isIt: (entry: Audited) => boolean): number | null =>
    entries.find((entry) => isIt(entry))?.index ?? null
  const started = actorOf(({ before, after }) => before === null && after !== null)
  const ended = actorOf(({ before, after }) => before?.cancelledAt === null && after?.cancelledAt != null)
  const events = [
    ...lifeOf(subscription, others, { started, ended }, now),
    ...charges.flatMap(moneyOf),
    ...entries
      .filter(({ index }) => index !== started && index !== ended)
      .flatMap((entry) => eventsOf(entry, entry.index)),
  ]
  return events.sort((a, b) => b.at - a.at)
}

function lifeOf(
  { isAddon, startedAt, endedAt, cancelAt, trialEndsAt, next }: Lived,
  others: readonly Lived[],
  actors: { started: number | null; ended: number | null },
  now: number,
): HistoryEvent[] {
  const plans = isAddon ? [] : others.filter((one) => !one.isAddon)
  const from = plans.find((one) => one.endedAt === startedAt)
  const to = endedAt === null ? undefined : plans.find((one) => one.startedAt === endedAt)
  const events: HistoryEvent[] = [
    from
      ? { kind: 'STARTED', what: 'change', from, at: startedAt, actor: actors.started }
      : {
          kind: 'STARTED',
          what: trialEndsAt !== null && trialEndsAt > startedAt ? 'trial' : 'plan',
          at: startedAt,
          actor: actors.started,
        },
  ]
  if (endedAt !== null) {
    events.push(
      to
        ? { kind: 'CHANGED', to, at: endedAt, actor: actors.ended }
        : { kind: 'CANCELLED', at: endedAt, actor: actors.ended },
    )
    return events
  }
  const due = { actor: null, due: true }
  if (next) events.push({ kind: 'SCHEDULED', what: 'change', to: next, at: next.at, on: next.at, ...due })
  else if (cancelAt !== null && cancelAt !== trialEndsAt)
    events.push({ kind: 'SCHEDULED', what: 'end', at: cancelAt, on: cancelAt, ...due })
  if (trialEndsAt !== null && trialEndsAt > now && !next)
    events.push({ kind: 'SCHEDULED', what: 'trial end', at: trialEndsAt, on: trialEndsAt, ...due })
  return events
}

function moneyOf(charge: Charge): HistoryEvent[] {
  const { state, at, refundedAt, dispute } = charge
  const events: HistoryEvent[] = [{ kind: state, charge, at, actor: null }]
  if (refundedAt !== null) events.push({ kind: 'REFUNDED', charge, at: refundedAt, actor: null })
  if (dispute)
    events.push({ kind: 'DISPUTED', charge, state: dispute.state, at: dispute.openedAt, actor: null })
  return events
}

/** The change of the subscription in an audit entry. */
function eventsOf({ at, own, before, after }: Audited, entry: number): HistoryEvent[] {
  const events: HistoryEvent[] = []
  if (before && after && after.trialEndsAt !== null && before.trialEndsAt !== after.trialEndsAt)
    events.push({ kind: 'TRIAL', until: Date.parse(after.trialEndsAt), at, actor: entry })
  else if (before && after && before.cancelAt !== after.cancelAt && after.cancelledAt === null)
    events.push(
      after.cancelAt === null
        ? { kind: 'REVERTED', at, actor: entry }
        : {
            kind: 'SCHEDULED',
            what: 'end',
            due: false,
            on: Date.parse(after.cancelAt),
            at,
            actor: entry,
          },
    )
  if (events.length === 0 && own) events.push({ kind: 'OTHER', entry, at, actor: entry })
  return events
}
