import { exponentOf } from '../../domain/currency.ts'
import type { Payment } from '../../domain/reversal.ts'
import { endedAt } from '../../domain/subscription.ts'
import type { Charge } from '../../domain/subscription-history.ts'
import { type BillPayment, paymentsOfBill, paymentsOfUser } from '../../store/billing/payments.ts'
import { boughtCredits } from '../../store/credits/credits.ts'
import { type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { type Call, momentOf } from '../call/call.ts'
import { type KeyedPage, pageOf, pageSize } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { requireSubscription, requireUser } from '../call/require.ts'
import type { Service } from '../call/service.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { cursorAt, cursorKey } from './revenue.ts'

/** A charge at a provider, with its refund, dispute and purpose. */
export interface UserPayment extends Charge {
  decimals: number
  dispute: Payment['dispute']
  /** the provider's id of the purchase */
  subscriptionRef: string
  /** the subscription it was for; null: none that is known */
  subscriptionId: string | null
  packageNames: string[]
  /** the credit that it bought; null: something else */
  credit: { id: string; units: number; featureId: string; featureName: string } | null
}

/** Newest charges of one subscription that are shown. */
const MOST_CHARGES = 200

/** A subscription may be stored shortly after the payment that started it. */
const LATE_MS = 60_000

/** The charges of a user, newest first. */
export async function userPayments(
  call: Call,
  userId: string,
  { first, after }: Page,
): Promise<KeyedPage<UserPayment>> {
  const { service, appId } = call
  const { now } = await momentOf(call)
  const { uid } = await requireUser(service.pool, appId, userId)
  const held = await subscriptionsOfUser(service.pool, appId, uid, now)
  const size = pageSize(first)
  const page = pageOf(
    await paymentsOfUser(service.pool, appId, uid, cursorKey(after), size + 1),
    size,
    cursorAt,
  )
  return { ...page, rows: await shown(call, page.rows, held, now) }
}

/** The charges of a subscription, newest first. */
export async function subscriptionPayments(call: Call, id: string): Promise<UserPayment[]> {
  const { service, appId } = call
  const { now } = await momentOf(call)
  const row = await requireSubscription(service.pool, appId, id, now)
  const held = await subscriptionsOfUser(service.pool, appId, row.userUid, now)
  return shown(call, await chargesOf(service, row, held, now), held, now)
}

/** The charges that were made while a subscription was on its bill. */
export async function chargesOf(
  service: Service,
  row: SubscriptionRow,
  held: readonly SubscriptionRow[],
  now: number,
): Promise<ReversedPayment[]> {
  const { appId, provider, providerRef: ref } = row
  if (provider === null || ref === null) return []
  const payments = await paymentsOfBill(service.pool, { appId, provider, ref }, MOST_CHARGES)
  const own = payments.filter((payment) => onBill(payment, held, now).some(({ id }) => id === row.id))
  return reversed(service, appId, own)
}

/** The subscriptions on the bill when it was charged. A plan that was replaced then is not among them. */
function onBill(
  { provider, subscriptionRef, at }: BillPayment,
  held: readonly SubscriptionRow[],
  now: number,
): SubscriptionRow[] {
  const bill = held.filter((s) => s.provider === provider && s.providerRef === subscriptionRef)
  const during = bill.filter((s) => {
    const end = endedAt(s, now)
    const isReplaced = end !== null && bill.some((other) => other.id !== s.id && other.startedAt === end)
    return s.startedAt - LATE_MS <= at && (end === null || at < end - (isReplaced ? LATE_MS : -LATE_MS))
  })
  // A plan that is replaced within a minute leaves nobody to pay for; the last one on the bill did.
  return during.length > 0 ? during : bill.slice(-1)
}

type ReversedPayment = BillPayment & Pick<UserPayment, 'refunded' | 'refundedAt' | 'dispute'>

/** With known refunds and disputes. */
function reversed(
  { billings }: Service,
  appId: string,
  payments: readonly BillPayment[],
): Promise<ReversedPayment[]> {
  return Promise.all(
    payments.map(async (payment) => {
      const { provider, subscriptionRef, ref } = payment
      const known = await billings.read({ appId, provider, ref: subscriptionRef })
      const found = known?.reversals.find((one) => one.ref === ref || one.invoice === ref)
      return {
        ...payment,
        refunded: found?.refunded ?? 0,
        refundedAt: found?.refundedAt ?? null,
        dispute: found?.dispute ?? null,
      }
    }),
  )
}

async function shown(
  call: Call,
  payments: readonly BillPayment[],
  held: readonly SubscriptionRow[],
  now: number,
): Promise<UserPayment[]> {
  const { packages, features } = await catalogueOf(call)
  const refs = payments.map(({ provider, subscriptionRef: ref }) => ({ provider, ref }))
  const bought = refs.length === 0 ? [] : await boughtCredits(call.service.pool, call.appId, refs)
  return (await reversed(call.service, call.appId, payments)).map((payment) => {
    const credit = bought.find(
      ({ provider, ref }) => provider === payment.provider && ref === payment.subscriptionRef,
    )
    const paidFor = onBill(payment, held, now)
    const [first] = [...paidFor].sort((a, b) => Number(a.isAddon) - Number(b.isAddon))
    return {
      ...payment,
      decimals: exponentOf(payment.provider, payment.currency),
      subscriptionId: first?.id ?? null,
      packageNames: paidFor.map(({ packageId }) => packages.get(packageId)?.name ?? packageId),
      credit: credit
        ? {
            id: credit.id,
            units: credit.bought ?? credit.amount,
            featureId: credit.featureId,
            featureName: features.get(credit.featureId)?.name ?? credit.featureId,
          }
        : null,
    }
  })
}
