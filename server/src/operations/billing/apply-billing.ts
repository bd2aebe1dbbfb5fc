import { randomUUID } from 'node:crypto'
import { SANDBOX_CUSTOMERS } from '../../billing/customer-refs.ts'
import type { Customer, ProviderSubscription } from '../../billing/provider.ts'
import { type BillingChanges, billingChanges } from '../../domain/billing-changes.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import { quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { billingStateOf } from '../../domain/mrr.ts'
import { providerName } from '../../domain/provider-name.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { endedAt, type Subscription, termsAfter } from '../../domain/subscription.ts'
import { graceDays } from '../../store/apps/apps.ts'
import { findCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import {
  notePaidAgain,
  type ProviderSubscriptionRow,
  writeProviderSubscription,
} from '../../store/billing/provider-subscriptions.ts'
import { TryAgain, type Tx, transaction } from '../../store/connection/database.ts'
import type { UserTx } from '../../store/connection/places.ts'
import { addJob, addJobs } from '../../store/jobs/jobs.ts'
import { holdErasures, isErased } from '../../store/privacy/erased-refs.ts'
import {
  cancelNow,
  followProvider,
  insertSubscriptions,
  insertSuccessor,
} from '../../store/subscriptions/subscriptions.ts'
import { alignSuccessors, deleteSuccessors, settleByClock } from '../../store/subscriptions/successors.ts'
import {
  findUser,
  findUserByBillingId,
  insertPayer,
  keepBillingId,
  lockUserByUid,
} from '../../store/users/users.ts'
import { requirePackage } from '../call/require.ts'
import type { Service } from '../call/service.ts'
import { auditedReport } from './audited-report.ts'
import { billOf } from './bill-of.ts'
import { BillingProblem } from './billing-problem.ts'
import { trialLinksToClose } from './close-trial-links.ts'
import { heldBy } from './held-by.ts'
import { isWithheld } from './withheld.ts'

/** A provider's report of a paid subscription. */
export interface PaidSubscription extends ProviderSubscription {
  /** in real time */
  paidAt: number
  /** a one-off payment that does not renew */
  forGood: boolean
  /** the provider's id for a refund */
  paymentRef: string
}

const DAY_MS = 86_400_000

/**
 * Applies a provider's report of a subscription, all or nothing. `known` is the stored version from before the provider
 * was asked. Returns false if it has been written since.
 */
export async function applyBilling(
  service: Service,
  at: ProviderRef,
  said: PaidSubscription,
  known: ProviderSubscriptionRow | null,
  payer: number | null,
): Promise<boolean> {
  if (!known && said.billingStatus === 'never') return true
  const { appId } = at
  const { written, problem } = await transaction(service.pool, async (tx) => {
    const user = payer === null ? await becomeUser(tx, at, said.customer) : { uid: payer, id: null }
    if (user === 'deleted') return { written: true, problem: null }
    const { uid, id } = user
    const applyTo = async (users: UserTx) =>
      (await lockUserByUid(users, appId, uid)) ? applyLocked(service, users, at, said, known, uid) : null
    const applied = id === null ? tx.places.ofUid(appId, uid, applyTo) : tx.places.of(appId, id, applyTo)
    // The user was deleted meanwhile, along with the data about this payment: start again.
    return (await applied) ?? { written: false, problem: null }
  })
  if (problem !== null) throw new BillingProblem(at.ref, problem)
  return written
}

async function applyLocked(
  service: Service,
  tx: UserTx,
  at: ProviderRef,
  said: PaidSubscription,
  known: ProviderSubscriptionRow | null,
  uid: number,
): Promise<{ written: boolean; problem: string | null }> {
  const { appId, provider, ref } = at
  // Read after locking the user, so that the input of this decision no longer changes.
  const { app, now } = await service.apps.at(tx, { appId, actor: { kind: 'service' } })
  const held = await heldBy(tx, appId, uid, now)
  const mine = held.filter((s) => s.provider === provider && s.providerRef === ref)
  const withheld = await isWithheld(tx, appId, said, known)
  // A one-off payment is granted once. It is granted again only after a refund or dispute ended it.
  const settled = said.forGood && mine.length > 0 && !withheld && known?.accessEndedAt == null
  const endsNow = mine.length === 0 || mine.some((s) => endedAt(s, now) === null)
  const bill = await billOf(tx, at, said, app.catalogue, now)
  const pastDueSince =
    said.billingStatus === 'past due' ? (said.pastDueSince ?? known?.pastDueSince ?? now) : null
  const written = await writeProviderSubscription(tx, appId, provider, ref, {
    userUid: uid,
    customerRef: said.customer?.ref ?? known?.customerRef ?? null,
    status: said.status,
    madeAt: said.madeAt,
    paidAt: said.paidAt,
    paidUntil: said.paidUntil,
    pastDueSince,
    live: !said.final,
    anchor: said.anchor,
    interval: bill.interval ?? known?.interval ?? null,
    reversals: said.reversal?.payments ?? known?.reversals ?? [],
    accessEndedAt: withheld ? (known?.accessEndedAt ?? (endsNow ? now : null)) : null,
    items: bill.charged,
    trialEndsAt: said.trialEndsAt,
    billingState: billingStateOf(said),
    version: known?.version ?? 0,
  })
  if (!written || settled) return { written, problem: null }
  if (said.customer) await keepBillingId(tx, appId, uid, said.customer.ref, SANDBOX_CUSTOMERS)

  const grace = pastDueSince === null ? null : pastDueSince + (await graceDays(tx, appId)) * DAY_MS
  const { packages, scheduled } = bill
  const byTrialLink = await isByTrialLink(tx, appId, said)
  const keepsAnchor =
    known !== null &&
    known.anchor !== null &&
    (known.anchor === said.anchor || (bill.interval !== null && known.interval !== bill.interval))
  const changes = billingChanges(
    {
      ...said,
      billingStatus: withheld ? 'paused' : said.billingStatus,
      provider,
      ref,
      packages,
      scheduled,
      keepsAnchor,
      byTrialLink,
    },
    held,
    grace,
    now,
  )
  if (changes.lacksBasePlan) {
    throw new BillingProblem(
      ref,
      `The user has no live base plan for these add-ons. Subscribe the user to a base plan and replay this event, or refund the payment ${said.paymentRef} at ${providerName(provider)}.`,
    )
  }
  for (const same of changes.heldAlready) {
    const behind = { provider: same.provider ?? '', ref: same.providerRef ?? '' }
    await notePaidAgain(tx, appId, behind.provider, behind.ref, said.paidAt)
  }
  await settleByClock(tx, appId, uid, now)
  await auditedReport(tx, at, uid, async () => {
    await write(tx, at, uid, changes, { catalogue: app.catalogue, held, now })
    await alignSuccessors(tx, appId, uid, now)
  })
  const isHeld = packages.every((p) => held.some((s) => s.packageId === p.id && endedAt(s, now) === null))
  const problem = changes.triedBefore && !isHeld ? triedBefore(at, packages) : null
  return { written, problem: problem ?? heldAlready(at, said, changes) }
}

/** Whether it was created by a link that offered a trial; queried only during a trial. */
async function isByTrialLink(
  tx: Tx,
  appId: string,
  { sessionId, trialEndsAt }: PaidSubscription,
): Promise<boolean> {
  if (trialEndsAt === null || sessionId === null || !isIdentifier(sessionId)) return false
  const session = await findCheckoutSession(tx, appId, sessionId)
  return session !== null && session.terms.trialDays !== null
}

/** A link was used although the trial was used up, and it granted nothing. */
function triedBefore({ provider, ref }: ProviderRef, packages: readonly { id: string }[]): string {
  const names = packages.map(({ id }) => quote(id)).join(', ')
  return `The user has already had a trial of ${names}. The trial ${ref} was ended at ${providerName(provider)} without a charge. Send the user a new payment link.`
}

/** A one-off purchase was paid twice. */
function heldAlready(
  { provider }: ProviderRef,
  { paymentRef }: PaidSubscription,
  { heldAlready: same }: BillingChanges,
): string | null {
  const [first] = same
  if (!first) return null
  const packages = same.map(({ packageId }) => quote(packageId)).join(', ')
  return `The user has already purchased ${packages}, so the payment ${paymentRef} had no effect. Refund it at ${providerName(provider)}, or cancel the subscription ${first.id} and replay this event.`
}

/**
 * Creates a user for the payer, unless that user existed and was deleted. Email addresses do not identify users: anyone
 * can enter any address.
 */
async function becomeUser(
  tx: Tx,
  { appId, provider, ref: paid }: ProviderRef,
  customer: Customer | null,
): Promise<{ uid: number; id: string } | 'deleted'> {
  if (!customer) throw new BillingProblem(paid, `The provider did not report the customer of ${paid}`)
  const { ref, email, name } = customer
  const known = await findUserByBillingId(tx, appId, ref)
  if (known) return known
  await holdErasures(tx, appId)
  const named = [paid, ref].map((one) => ({ provider, ref: one }))
  if (await isErased(tx, appId, named)) return 'deleted'
  const payer = { id: ref, billingId: ref, email, name, metadata: {} }
  const made = await tx.places.of(appId, ref, (db) => insertPayer(db, appId, payer))
  if (made !== null) return { uid: made, id: ref }
  const other = (await findUserByBillingId(tx, appId, ref)) ?? (await findUser(tx, appId, ref))
  // Another transaction created the user meanwhile: the next attempt sees it, also on another server.
  if (!other) throw new TryAgain()
  return other
}

/** Ends come first: otherwise the unique indexes would reject the new rows. */
async function write(
  tx: UserTx,
  at: ProviderRef,
  uid: number,
  changes: BillingChanges,
  { catalogue, held, now }: { catalogue: Catalogue; held: readonly Subscription[]; now: number },
): Promise<void> {
  const { appId } = at
  for (const { id, at: time } of changes.end) await cancelNow(tx, appId, [id], time)
  for (const change of changes.update) await followProvider(tx, appId, change)
  const made = changes.insert.map((s) => ({ ...boughtNow(s, catalogue), id: `sub_${randomUUID()}` }))
  if (made.length > 0) await insertSubscriptions(tx, appId, uid, made, at)
  if (made.some((s) => s.trialEndsAt !== null)) await trialLinksToClose(tx, appId, uid)
  await deleteSuccessors(tx, appId, changes.unplan, now)
  if (changes.plan) {
    const { follows, successor } = changes.plan
    const id = follows ?? made.find((s) => !s.isAddon)?.id
    if (id === undefined) throw new Error('a scheduled subscription has no predecessor')
    const before = held.find((s) => s.id === follows)
    const planned = { ...boughtNow(successor, catalogue, before), id: `sub_${randomUUID()}` }
    await insertSuccessor(tx, appId, uid, id, planned, at)
  }
  for (const { provider, ref } of changes.cancelAtProvider) {
    await addJob(tx, 'cancel-at-provider', { appId, provider, ref }, `cancel:${appId}:${provider}:${ref}`)
  }
  await addJobs(
    tx,
    'sync-subscription',
    changes.askAgain.map((behind) => ({ appId, ...behind })),
  )
}

const boughtNow = (s: BillingChanges['insert'][number], catalogue: Catalogue, before?: Subscription) => ({
  ...termsAfter(before, requirePackage(catalogue, s.packageId)),
  ...s,
  metadata: {},
})
