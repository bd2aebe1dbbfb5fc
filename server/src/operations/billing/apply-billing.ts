import { randomUUID } from 'node:crypto'
import { SANDBOX_CUSTOMERS } from '../../billing/customer-refs.ts'
import type { BilledItem, Customer, ProviderSubscription } from '../../billing/provider.ts'
import {
  type Billed,
  type BilledPackage,
  type BillingChanges,
  billingChanges,
} from '../../domain/billing-changes.ts'
import type { Catalogue } from '../../domain/catalogue.ts'
import { quote } from '../../domain/errors.ts'
import { MAX_QUANTITY } from '../../domain/limits.ts'
import { billingStateOf } from '../../domain/mrr.ts'
import type { Interval } from '../../domain/price.ts'
import { providerName } from '../../domain/provider-name.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { endedAt, termsOf } from '../../domain/subscription.ts'
import { graceDays } from '../../store/apps.ts'
import { type Tx, transaction } from '../../store/database.ts'
import { holdErasures, isErased } from '../../store/erased-refs.ts'
import { addJob, addJobs } from '../../store/jobs.ts'
import { findPrices, type PriceRow } from '../../store/prices.ts'
import {
  notePaidAgain,
  type ProviderSubscriptionRow,
  writeProviderSubscription,
} from '../../store/provider-subscriptions.ts'
import { cancelNow, followProvider, insertSubscriptions, insertSuccessor } from '../../store/subscriptions.ts'
import { alignSuccessors, deleteSuccessors, settleByClock } from '../../store/successors.ts'
import {
  findUser,
  findUserByBillingId,
  insertPayer,
  keepBillingId,
  lockUserByUid,
} from '../../store/users.ts'
import { foundPackage } from '../call/found.ts'
import type { Service } from '../call/service.ts'
import { auditedReport } from './audited-report.ts'
import { heldBy } from './held-by.ts'
import { isWithheld } from './withheld.ts'

/** Why a payment cannot be granted: someone has to fix something, then replay the notice. */
export class BillingProblem extends Error {
  /** the provider's id of the payment */
  readonly ref: string

  constructor(ref: string, message: string) {
    super(message)
    this.ref = ref
  }
}

/** A provider's report of something that was paid. */
export interface PaidSubscription extends ProviderSubscription {
  /** in real time */
  paidAt: number
  /** a one-off payment: nothing renews */
  forGood: boolean
  /** the provider's id to refund it by */
  paymentRef: string
}

const DAY_MS = 86_400_000

/**
 * Applies a provider's report of a subscription, all or nothing. `known` is the stored version from before the provider
 * was asked: false if it has been written since.
 */
export async function applyBilling(
  service: Service,
  at: ProviderRef,
  said: PaidSubscription,
  known: ProviderSubscriptionRow | null,
  payer: number | null,
): Promise<boolean> {
  if (!known && said.standing === 'never') return true
  const { written, problem } = await apply(service, at, said, known, payer)
  if (problem !== null) throw new BillingProblem(at.ref, problem)
  return written
}

function apply(
  service: Service,
  at: ProviderRef,
  said: PaidSubscription,
  known: ProviderSubscriptionRow | null,
  payer: number | null,
): Promise<{ written: boolean; problem: string | null }> {
  const { appId, provider, ref } = at
  return transaction(service.pool, async (tx) => {
    const uid = payer ?? (await becomeUser(tx, at, said.customer))
    if (uid === 'deleted') return { written: true, problem: null }
    // Deleted in between: what is known of this payment is gone too, and is read again.
    if (!(await lockUserByUid(tx, appId, uid))) return { written: false, problem: null }
    // Read after locking the user: nothing this decision depends on changes any more.
    const { app, now } = await service.apps.at(tx, { appId, actor: { kind: 'service' } })
    const held = await heldBy(tx, appId, uid, now)
    const mine = held.filter((s) => s.provider === provider && s.providerRef === ref)
    const withheld = await isWithheld(tx, appId, said, known)
    // One one-off payment, one grant: it is given again only if a refund or a dispute took it away.
    const settled = said.forGood && mine.length > 0 && !withheld && known?.accessEndedAt == null
    const endsNow = mine.length === 0 || mine.some((s) => endedAt(s, now) === null)
    const bill = await billOf(tx, at, said, app.catalogue, now)
    const pastDueSince =
      said.standing === 'past due' ? (said.pastDueSince ?? known?.pastDueSince ?? now) : null
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
    const keepsAnchor =
      known !== null &&
      known.anchor !== null &&
      (known.anchor === said.anchor || (bill.interval !== null && known.interval !== bill.interval))
    const changes = billingChanges(
      {
        ...said,
        standing: withheld ? 'paused' : said.standing,
        provider,
        ref,
        packages,
        scheduled,
        keepsAnchor,
      },
      held,
      grace,
      now,
    )
    if (changes.lacksBasePlan) {
      throw new BillingProblem(
        ref,
        `The user has no live base plan to which these add-ons could be added: subscribe the user to one and replay this notice, or refund the payment ${said.paymentRef} at ${providerName(provider)}`,
      )
    }
    for (const same of changes.heldAlready) {
      const behind = { provider: same.provider ?? '', ref: same.providerRef ?? '' }
      await notePaidAgain(tx, appId, behind.provider, behind.ref, said.paidAt)
    }
    await settleByClock(tx, appId, uid, now)
    await auditedReport(tx, at, uid, async () => {
      await write(tx, at, uid, changes, { catalogue: app.catalogue, now })
      await alignSuccessors(tx, appId, uid, now)
    })
    return { written, problem: heldAlready(at, said, changes) }
  })
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
  return `The user holds ${packages} for good already, so the payment ${paymentRef} gave nothing: refund it at ${providerName(provider)}, or cancel the subscription ${first.id} and replay this notice`
}

/**
 * A payer who is not a user becomes one, but not one who was a user and was deleted. Nobody is recognised by email
 * address: anyone may enter any.
 */
async function becomeUser(
  tx: Tx,
  { appId, provider, ref: paid }: ProviderRef,
  customer: Customer | null,
): Promise<number | 'deleted'> {
  if (!customer) throw new BillingProblem(paid, `The provider does not say who paid ${paid}`)
  const { ref, email, name } = customer
  const known = await findUserByBillingId(tx, appId, ref)
  if (known) return known.uid
  await holdErasures(tx, appId)
  const named = [paid, ref].map((one) => ({ provider, ref: one }))
  if (await isErased(tx, appId, named)) return 'deleted'
  await insertPayer(tx, appId, { id: ref, billingId: ref, email, name, metadata: {} })
  const made = (await findUserByBillingId(tx, appId, ref)) ?? (await findUser(tx, appId, ref))
  if (!made) throw new Error(`the payer ${ref} vanished`)
  return made.uid
}

/** The packages that are charged for, now and after a scheduled change, and how often. */
async function billOf(
  tx: Tx,
  at: ProviderRef,
  said: ProviderSubscription,
  catalogue: Catalogue,
  now: number,
): Promise<Pick<Billed, 'packages' | 'scheduled'> & { interval: Interval | null; charged: BilledItem[] }> {
  const { items, scheduled } = said
  const all = [...items, ...(scheduled?.items ?? [])]
  const prices = await findPrices(
    tx,
    at.appId,
    at.provider,
    all.map(({ priceId }) => priceId),
  )
  const unknownIn = (some: readonly BilledItem[]) =>
    some.find(({ priceId }) => !prices.some((price) => price.id === priceId))
  // A scheduled change whose time has come counts as made, whether or not the provider has got to it.
  const charged = scheduled !== null && scheduled.at <= now ? scheduled.items : items
  const unknown = unknownIn(charged)
  if (unknown !== undefined && (said.standing === 'live' || said.standing === 'past due')) {
    throw new BillingProblem(
      at.ref,
      `${quote(unknown.priceId)} is the price of no package: import it in the dashboard, and replay this notice`,
    )
  }
  const packagesOf = (some: readonly BilledItem[]) => packagesPaid(some, prices, catalogue)
  const [first] = charged
  return {
    packages: packagesOf(items),
    scheduled:
      scheduled && unknownIn(scheduled.items) === undefined
        ? { at: scheduled.at, packages: packagesOf(scheduled.items) }
        : null,
    interval: prices.find(({ id }) => id === first?.priceId)?.interval ?? null,
    charged,
  }
}

/** A package has as many as its prices are charged for; none of it is charged for no package at all. */
function packagesPaid(
  items: readonly BilledItem[],
  prices: readonly PriceRow[],
  catalogue: Catalogue,
): BilledPackage[] {
  const quantities = new Map<string, number>()
  for (const { id, packageId } of prices) {
    const quantity = items.find(({ priceId }) => priceId === id)?.quantity ?? 0
    if (quantity > 0) quantities.set(packageId, (quantities.get(packageId) ?? 0) + quantity)
  }
  return [...quantities].map(([id, quantity]) => ({
    id,
    isAddon: foundPackage(catalogue, id).isAddon,
    quantity: Math.min(quantity, MAX_QUANTITY),
  }))
}

/** Endings first: otherwise the unique indexes would refuse what starts. */
async function write(
  tx: Tx,
  at: ProviderRef,
  uid: number,
  changes: BillingChanges,
  { catalogue, now }: { catalogue: Catalogue; now: number },
): Promise<void> {
  const { appId } = at
  for (const { id, at: time } of changes.end) await cancelNow(tx, appId, [id], time)
  for (const change of changes.update) await followProvider(tx, appId, change)
  const made = changes.insert.map((s) => ({ ...boughtNow(s, catalogue), id: `sub_${randomUUID()}` }))
  if (made.length > 0) await insertSubscriptions(tx, appId, uid, made, at)
  await deleteSuccessors(tx, appId, changes.unplan, now)
  if (changes.plan) {
    const { follows, successor } = changes.plan
    const id = follows ?? made.find((s) => !s.isAddon)?.id
    if (id === undefined) throw new Error('a successor of nothing')
    const planned = { ...boughtNow(successor, catalogue), id: `sub_${randomUUID()}` }
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

const boughtNow = (s: BillingChanges['insert'][number], catalogue: Catalogue) => ({
  ...termsOf(foundPackage(catalogue, s.packageId)),
  ...s,
  metadata: {},
})
