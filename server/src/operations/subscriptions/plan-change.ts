import { type BilledItem, type PriceChange, ProviderError } from '../../billing/provider.ts'
import { type Catalogue, countedPeriodsOf } from '../../domain/catalogue.ts'
import type { ChangeTime } from '../../domain/change-time.ts'
import { badUserInput, quote, SUBSCRIBE_REFUSALS } from '../../domain/errors.ts'
import { countedPeriods, type Package } from '../../domain/package.ts'
import { anchorAfter, bestTime, checkQuantity, comparable } from '../../domain/plan-change.ts'
import type { Price } from '../../domain/price.ts'
import { providerName } from '../../domain/provider-name.ts'
import { cancellationTime, endedAt, type Subscription, termsAfter } from '../../domain/subscription.ts'
import { listPrices } from '../../store/billing/prices.ts'
import { findProviderSubscription } from '../../store/billing/provider-subscriptions.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { askingProvider, providerOf } from '../billing/provider-of.ts'
import { requirePackage } from '../call/require.ts'
import type { Service } from '../call/service.ts'
import { earlierBases } from './earlier-bases.ts'

export interface ChangeInput {
  userId: string
  packageId: string
  when: ChangeTime
  quantity: number | null
  /** price at the provider that charges for the plan; null: the one with the current interval */
  priceId: string | null
}

/** A decided change. */
export interface PlannedChange {
  base: SubscriptionRow
  from: Package
  to: Package
  quantity: number
  when: Exclude<ChangeTime, 'BEST'>
  at: number
  anchor: number
  /** null: not paid through Tollgate */
  paid: PaidChange | null
}

/** The change at the provider of a paid plan. */
export interface PaidChange {
  provider: string
  ref: string
  /** null: the new plan is free, and the bill ends */
  change: PriceChange | null
  prices: { from: Price; to: Price | null }
  paidUntil: number | null
}

/** The input of a decision: read separately for a preview, and under the user's lock for the change. */
export interface Situation {
  catalogue: Catalogue
  held: readonly SubscriptionRow[]
  now: number
}

/** Decides a change, or throws. `paid` comes from `paidChange`. */
export function planChange(
  { catalogue, held, now }: Situation,
  input: ChangeInput,
  paid: PaidChange | null,
): PlannedChange {
  const { base, to, quantity } = requested({ catalogue, held, now }, input)
  const from = requirePackage(catalogue, base.packageId)
  const isSame = to.id === base.packageId && quantity === base.quantity
  if (isSame && (!paid?.change || paid.change.from === paid.change.to)) throw alreadyHeld(base)
  const when = input.when === 'BEST' ? best(base, from, to, quantity, paid) : input.when
  const resetPeriods = countedPeriodsOf(catalogue, base, now)
  const paidUntil = paid?.paidUntil ?? now
  const end =
    base.cancelAt ?? (paidUntil > now ? paidUntil : cancellationTime(base.anchor, resetPeriods, now))
  const at = when === 'NOW' ? now : end
  const ending = { anchor: base.anchor, resetPeriods }
  const anchor =
    to.id === base.packageId
      ? base.anchor
      : anchorAfter(ending, countedPeriods(to), earlierBases(held, catalogue, now), at)
  return { base, from, to, quantity, when, at, anchor, paid }
}

/** The requested package, if the user may have it. */
function requested(
  { catalogue, held, now }: Situation,
  { packageId, quantity: wanted, priceId }: ChangeInput,
) {
  if (wanted !== null) checkQuantity(wanted)
  const to = requirePackage(catalogue, packageId)
  const base = held.find((s) => !s.isAddon && endedAt(s, now) === null)
  if (!base) throw badUserInput('The user has no base plan to change. Subscribe the user to one.', 'userId')
  if (to.isAddon) {
    throw badUserInput(
      `${quote(packageId)} is an add-on, and only base plans can be changed. Subscribe to the add-on or cancel it.`,
      'packageId',
    )
  }
  if (to.status !== 'PUBLISHED') throw badUserInput('Package is not published', 'packageId')
  if (to.archived && base.packageId !== packageId) {
    throw badUserInput(SUBSCRIBE_REFUSALS.archived, 'packageId')
  }
  const quantity = wanted ?? base.quantity
  if (base.packageId === packageId && base.quantity === quantity && priceId === null) throw alreadyHeld(base)
  return { base, to, quantity }
}

function alreadyHeld({ packageId, next }: SubscriptionRow) {
  const back = next ? '. Cancel the scheduled change to keep it.' : ''
  return badUserInput(`The user already has the package ${quote(packageId)}${back}`, 'packageId')
}

function best(
  base: SubscriptionRow,
  from: Package,
  to: Package,
  quantity: number,
  paid: PaidChange | null,
): PlannedChange['when'] {
  if (paid && paid.prices.to === null) return 'PERIOD_END'
  const prices = paid?.prices.to
    ? { from: paid.prices.from, to: paid.prices.to }
    : comparable(from.prices, to.prices)
  if (!prices) return 'NOW'
  return bestTime({ price: prices.from, quantity: base.quantity }, { price: prices.to, quantity })
}

/** The change at the provider that charges for the plan; null: none does. */
export async function paidChange(
  service: Service,
  appId: string,
  situation: Situation,
  input: ChangeInput,
): Promise<PaidChange | null> {
  const { base, to, quantity } = requested(situation, input)
  const { provider, providerRef: ref } = base
  if (provider === null || ref === null) return null
  const known = await findProviderSubscription(service.pool, appId, provider, ref)
  if (known?.status === 'paid') {
    throw badUserInput(
      `${quote(base.packageId)} was a one-off purchase and cannot be changed. Sell ${quote(to.id)} with a payment link.`,
      'packageId',
    )
  }
  if (!known?.live) return null
  const billed = await askingProvider(provider, async () => {
    const found = await (await providerOf(service, appId, provider)).fetchSubscription(ref)
    if (!found) throw new ProviderError('refused', `${ref} does not exist`)
    return found
  })
  const from = await billedPrice(service.pool, appId, provider, base.packageId, billed.items)
  // Another quantity of a plan keeps its price, even if that is no longer sold.
  const next =
    input.priceId !== null
      ? namedPrice(to, from, input.priceId)
      : to.id === base.packageId
        ? from
        : chosenPrice(to, from)
  // A package that never had a price is free. One whose prices are archived is not given away.
  if (next === null && (await listPrices(service.pool, appId, to.id, true)).length > 0) {
    throw badUserInput(`All prices of ${quote(to.id)} are archived. Restore or create one.`, 'packageId')
  }
  if (next === null && billed.items.length > 1) {
    throw badUserInput(
      `${quote(to.id)} has no price, but the provider's subscription includes add-ons. Cancel the add-ons first.`,
      'packageId',
    )
  }
  return {
    provider,
    ref,
    change: next && { from: from.id, to: next.id, quantity },
    prices: { from, to: next },
    // A renewal may not be known here yet.
    paidUntil: billed.paidUntil,
  }
}

async function billedPrice(
  db: HomeDb,
  appId: string,
  provider: string,
  packageId: string,
  items: readonly BilledItem[],
): Promise<Price> {
  const prices = await listPrices(db, appId, packageId, true)
  const found = prices.find((p) => p.provider === provider && items.some(({ priceId }) => priceId === p.id))
  if (!found) {
    throw badUserInput(
      `The price of ${quote(packageId)} at ${providerName(provider)} is unknown. Import the price.`,
      'packageId',
    )
  }
  return found
}

/** The price that the caller names, which must fit the current bill. */
function namedPrice(to: Package, from: Price, priceId: string): Price {
  if (to.prices.every((p) => p.id !== priceId) && from.id === priceId) return from
  const found = usablePrices(to, from).find(({ id }) => id === priceId)
  if (found) return found
  throw badUserInput(
    `${quote(priceId)} is not a live recurring price of ${quote(to.id)} at ${providerName(from.provider)} in ${from.currency.toUpperCase()}`,
    'priceId',
  )
}

/** Recurring prices that the provider can charge on the same bill. */
const usablePrices = (to: Package, { provider, currency }: Price): Price[] =>
  to.prices.filter((p) => p.provider === provider && p.currency === currency && p.interval !== null)

/** The price of the new plan on the same bill; null: it is free. */
function chosenPrice(to: Package, from: Price): Price | null {
  if (to.prices.length === 0) return null
  const usable = usablePrices(to, from)
  const [same, ...more] = usable.filter((p) => p.interval === from.interval)
  const [only, ...others] = usable
  if (same && more.length === 0) return same
  if (!same && only && others.length === 0) return only
  const currency = from.currency.toUpperCase()
  throw badUserInput(
    usable.length === 0
      ? `${quote(to.id)} has no price at ${providerName(from.provider)} in ${currency}. Create one.`
      : `${quote(to.id)} has several prices at ${providerName(from.provider)} in ${currency}. Archive all but one per interval.`,
    'packageId',
  )
}

/** A trial granted by hand stays a trial with another quantity, and so does its successor. */
export const staysTrial = ({ base, to, when }: PlannedChange): boolean =>
  when === 'NOW' && to.id === base.packageId && base.trialEndsAt !== null && base.provider === null

/** The subscription that the change creates. */
export function successorOf(change: PlannedChange, id: string): Subscription {
  const { base, to, quantity, at, anchor } = change
  const trial = staysTrial(change) && { cancelAt: base.cancelAt, trialEndsAt: base.trialEndsAt }
  return {
    id,
    packageId: to.id,
    isAddon: false,
    startedAt: at,
    anchor,
    cancelAt: null,
    cancelledAt: null,
    metadata: {},
    ...termsAfter(base, to),
    quantity,
    ...trial,
  }
}
