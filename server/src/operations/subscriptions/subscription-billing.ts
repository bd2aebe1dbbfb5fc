import type { Monotonic } from '../../domain/clocks.ts'
import { type NextEvent, nextEvent } from '../../domain/next-event.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import { type Payment, paymentsFor } from '../../domain/reversal.ts'
import { endedAt } from '../../domain/subscription.ts'
import { findPrices, findPricesByRef, type PriceRow } from '../../store/billing/prices.ts'
import {
  findProviderSubscriptions,
  type ProviderSubscriptionRow,
} from '../../store/billing/provider-subscriptions.ts'
import type { Pool } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { areReplaced, type EndedPlan } from '../../store/subscriptions/replaced.ts'
import { subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import type { Service } from '../call/service.ts'
import { Batcher } from '../usage/batcher.ts'
import type { PackageSubscription } from './subscriptions.ts'

/** The billing of a subscription at its provider. */
export interface SubscriptionBilling {
  provider: string
  ref: string
  status: string
  paidUntil: number | null
}

/** Lists contain many subscriptions, so concurrent reads share a statement. */
export function billingReader(pool: Pool, monotonic: Monotonic): Service['billings'] {
  const batcher = new Batcher<ProviderRef, ProviderSubscriptionRow | null>(
    async (refs) => (await findProviderSubscriptions(pool, refs)).map((row) => ({ value: row ?? null })),
    { monotonic, lanes: 1, most: 500 },
  )
  return { read: (ref) => batcher.add(ref) }
}

export function priceReader(pool: Pool, monotonic: Monotonic): Service['prices'] {
  const batcher = new Batcher<ProviderRef, PriceRow | null>(
    async (refs) => (await findPricesByRef(pool, refs)).map((row) => ({ value: row ?? null })),
    { monotonic, lanes: 1, most: 500 },
  )
  return { read: (ref) => batcher.add(ref) }
}

/** Which plans were replaced by another one when they ended. */
export function replacedReader(pool: Pool, monotonic: Monotonic): Service['replaced'] {
  const batcher = new Batcher<EndedPlan, boolean>(
    async (ended) => (await areReplaced(pool, ended)).map((value) => ({ value })),
    { monotonic, lanes: 1, most: 500 },
  )
  return { read: (ended) => batcher.add(ended) }
}

/** Whether its user has changed to another plan, so that it was not cancelled. */
export async function isReplaced(
  { replaced }: Service,
  { id, appId, userId, status, cancelledAt, package: { isAddon } }: PackageSubscription,
): Promise<boolean> {
  if (status !== 'CANCELLED' || isAddon || appId === null || cancelledAt === null) return false
  return replaced.read({ appId, id, userId, endedAt: cancelledAt })
}

/** The price that its provider charges for it; null: none, or its plan was replaced on the same bill. */
export async function subscriptionPrice(
  { billings, prices }: Service,
  { paid, package: { id } }: PackageSubscription,
): Promise<PriceRow | null> {
  const known = paid && (await billings.read(paid))
  if (!known) return null
  const charged = await Promise.all(known.items.map(({ priceId }) => prices.read({ ...paid, ref: priceId })))
  return charged.find((price) => price?.packageId === id) ?? null
}

export async function subscriptionBilling(
  { billings }: Service,
  { paid }: PackageSubscription,
): Promise<SubscriptionBilling | null> {
  if (!paid) return null
  const { provider, ref } = paid
  const known = await billings.read(paid)
  return known && { provider, ref, status: known.status, paidUntil: known.paidUntil }
}

/** A payment with its provider, which determines the minor units. */
export interface PaymentAt extends Payment {
  provider: string
}

/** Its refunded or disputed payments, newest first. */
export async function subscriptionReversals(
  { billings, pool, clock }: Service,
  { id, paid, asOf }: PackageSubscription,
): Promise<PaymentAt[]> {
  const known = paid && (await billings.read(paid))
  return known ? paymentsAt(pool, paid, known.userUid, id, known.reversals, asOf ?? clock()) : []
}

/** The payments at a provider for one subscription of the user. */
export async function paymentsAt(
  db: HomeDb,
  { appId, provider, ref }: ProviderRef,
  userUid: number,
  subscriptionId: string,
  payments: readonly Payment[],
  now: number,
): Promise<PaymentAt[]> {
  if (payments.length === 0) return []
  const bill = (await subscriptionsOfUser(db, appId, userUid, now))
    .filter((s) => s.provider === provider && s.providerRef === ref)
    .map((s) => ({ ...s, endedAt: endedAt(s, now) }))
  const priceIds = payments.flatMap(({ charged = [] }) => charged.map(({ priceId }) => priceId))
  const prices = await findPrices(db, appId, provider, [...new Set(priceIds)])
  const packages = new Map(prices.map(({ id, packageId }) => [id, packageId]))
  return paymentsFor(subscriptionId, bill, payments, (priceId) => packages.get(priceId)).map((payment) => ({
    ...payment,
    provider,
  }))
}

/** The next event, by the app's clock at the time of reading. */
export async function nextEventOf(
  service: Service,
  subscription: PackageSubscription,
): Promise<NextEvent | null> {
  const { paidUntil = null } = (await subscriptionBilling(service, subscription)) ?? {}
  return nextEvent(subscription, paidUntil, subscription.asOf)
}
