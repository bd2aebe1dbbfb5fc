import type { JsonObject } from '../../domain/metadata.ts'
import { amountText } from '../../domain/price.ts'
import { providerName } from '../../domain/provider-name.ts'
import { named, number, type Sentence, type SentencePart, say, time } from '../../domain/sentence.ts'
import { endedAt } from '../../domain/subscription.ts'
import {
  type Audited,
  type Charge,
  subscriptionHistory as eventsOf,
  type HistoryEvent,
  type HistoryKind,
  type Snapshot,
} from '../../domain/subscription-history.ts'
import { EVERYTHING, searchAudit } from '../../store/audit/audit-search.ts'
import { type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { chargesOf } from '../billing/user-payments.ts'
import { type Call, momentOf } from '../call/call.ts'
import { requireSubscription } from '../call/require.ts'
import { type DescribedEntry, describeEntries } from '../home/describe-entries.ts'

/** One line of the history of a subscription. */
export interface HistoryLine {
  at: number
  kind: HistoryKind
  parts: Sentence
  /** actor; null: none or unknown */
  by: SentencePart | null
}

/** Newest audit entries that are read, about the subscription and its user. */
const MOST_ENTRIES = 200

/** Past and scheduled events of a subscription, newest first. */
export async function subscriptionHistory(call: Call, id: string): Promise<HistoryLine[]> {
  const { service, appId } = call
  const { pool } = service
  const { app, now } = await momentOf(call)
  const row = await requireSubscription(pool, appId, id, now)
  const held = await subscriptionsOfUser(pool, appId, row.userUid, now)
  const charges = await chargesOf(service, row, held, now)
  const filter = { ...EVERYTHING, appId, subjectIds: [id, row.userId] }
  const { rows } = await searchAudit(pool, filter, null, MOST_ENTRIES)
  const entries = await describeEntries(
    pool,
    rows.filter(({ subjectKind }) => subjectKind === 'subscription' || subjectKind === 'subscriptions'),
  )
  const lived = (s: SubscriptionRow) => ({ ...s, endedAt: endedAt(s, now) })
  const events = eventsOf({
    subscription: lived(row),
    others: held.filter((s) => s.id !== id).map(lived),
    charges,
    audited: entries.map((entry) => auditedOf(entry, id)),
    now,
  })
  const packageName = (packageId: string) => {
    const name = app.catalogue.packages.get(packageId)?.name ?? packageId
    return named(name, { kind: 'PACKAGE', appId, id: packageId })
  }
  const own = { package: packageName(row.packageId), quantity: row.quantity }
  return events.map((event) => ({
    at: event.at,
    kind: event.kind,
    parts: wordsOf(event, own, packageName, entries),
    by: event.actor === null ? null : actorOf(entries[event.actor]),
  }))
}

/** In the middle of a sentence. */
function actorOf(entry: DescribedEntry | undefined): SentencePart | null {
  if (!entry) return null
  return entry.actorKind === 'PROVIDER' ? named(providerName(entry.memberEmail), null) : entry.by
}

/** The states of one subscription in an entry. */
function auditedOf({ at, subjectKind, before, after }: DescribedEntry, id: string): Audited {
  const own = subjectKind === 'subscription'
  const of = (shown: JsonObject | null): Snapshot | null => {
    const all = own ? [shown] : Array.isArray(shown?.subscriptions) ? shown.subscriptions : []
    const found = all.find((one) => (one as JsonObject | null)?.id === id)
    return (found as Snapshot | undefined) ?? null
  }
  return { at, own, before: of(before), after: of(after) }
}

function wordsOf(
  event: HistoryEvent,
  own: { package: SentencePart; quantity: number },
  packageName: (id: string) => SentencePart,
  entries: readonly DescribedEntry[],
): Sentence {
  const withQuantity = (name: SentencePart, quantity: number): Sentence =>
    quantity === 1 ? [name] : say`${name} × ${number(quantity)}`
  const self = withQuantity(own.package, own.quantity)
  const other = (one: { packageId: string; quantity: number }) =>
    withQuantity(packageName(one.packageId), one.quantity)
  switch (event.kind) {
    case 'STARTED':
      if (event.what === 'change') return say`Changed from ${other(event.from)} to ${self}`
      return event.what === 'trial' ? say`Started a trial of ${self}` : say`Started ${self}`
    case 'CHANGED':
      return say`Changed to ${other(event.to)}`
    case 'SCHEDULED': {
      if (event.what === 'change') return say`Switches to ${other(event.to)}`
      if (event.what === 'trial end') return say`Trial ends`
      return event.due ? say`Ends` : say`Scheduled to end on ${time(event.on)}`
    }
    case 'REVERTED':
      return say`Scheduled end reverted`
    case 'TRIAL':
      return say`Trial extended to ${time(event.until)}`
    case 'CANCELLED':
      return say`Cancelled`
    case 'PAID':
      return say`Paid ${amountText(event.charge)}`
    case 'FAILED':
      return say`Payment of ${amountText(event.charge)} failed`
    case 'REFUNDED':
      return say`Refunded ${refundText(event.charge)}`
    case 'DISPUTED':
      return say`${DISPUTES[event.state] ?? 'Disputed'}: ${amountText(event.charge)}`
    case 'OTHER':
      return capitalized(entries[event.entry]?.parts ?? [])
  }
}

const refundText = (charge: Charge): string => {
  const amount = amountText(charge)
  const refunded = amountText({ ...charge, amount: charge.refunded })
  return charge.refunded >= charge.amount ? amount : `${refunded} of ${amount}`
}

const DISPUTES: Record<string, string> = {
  INQUIRY: 'Bank inquiry',
  OPEN: 'Disputed',
  WON: 'Dispute won',
  LOST: 'Dispute lost',
  CLOSED: 'Inquiry closed',
}

function capitalized([first, ...rest]: Sentence): Sentence {
  return first
    ? [{ ...first, text: first.text.charAt(0).toUpperCase() + first.text.slice(1) }, ...rest]
    : rest
}
