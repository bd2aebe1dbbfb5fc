import type { Access } from '../../domain/access.ts'
import { exponentOf } from '../../domain/currency.ts'
import { badUserInput, quote } from '../../domain/errors.ts'
import { periodAt, type ResetPeriod } from '../../domain/period.ts'
import { hasRecurringPrice, loweredLimits, quotedPrices, quoteOf } from '../../domain/plan-change.ts'
import { amountText, costOf } from '../../domain/price.ts'
import { providerName } from '../../domain/provider-name.ts'
import { accessChange } from '../../domain/publish-impact.ts'
import { endedAt, endOfPlan } from '../../domain/subscription.ts'
import { type Holder, type UserEntitlement, userEntitlement } from '../../domain/user-entitlement.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { UserCounter } from '../../store/subscriptions/subscribers.ts'
import type { SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { askingProvider, providerOf } from '../billing/provider-of.ts'
import type { Service } from '../call/service.ts'
import { usedBy } from '../catalogue/reach.ts'
import { type PlannedChange, type Situation, successorOf } from './plan-change.ts'

/** The effect of a change on the next use of a feature. */
export interface FeatureAccessChange {
  featureId: string
  name: string
  before: Access
  after: Access
}

/** A user's grant of a feature. */
interface Limit {
  /** null: unlimited, or a binary feature */
  budget: number | null
  /** null: a binary feature */
  resetPeriod: ResetPeriod | null
  overageEnabled: boolean
}

/** A feature that the user has before a change or after it, whether or not it is affected. */
export interface LimitChange {
  featureId: string
  name: string
  unitLabel: string | null
  unitLabelPlural: string | null
  /** null: not granted */
  before: Limit | null
  after: Limit | null
  /** usage in the current period; null: not counted */
  usedNow: number | null
  /** usage that counts towards the limit after the change; null: not counted */
  used: number | null
}

export interface FeatureChanges {
  /** all features that the user has before the change or after it */
  limits: LimitChange[]
  gains: FeatureAccessChange[]
  loses: FeatureAccessChange[]
  /** features with more or less overage */
  moreOverage: FeatureAccessChange[]
  lessOverage: FeatureAccessChange[]
}

export interface PreviewedCost {
  /** minor units; null: neither plan has a recurring price, or they have no currency in common */
  credit: number | null
  charge: number | null
  currency: string | null
  /** of credit and charge */
  decimals: number | null
  /** provider that charges it, or `tollgate` if computed from list prices */
  quotedBy: string
  formula: string
}

/** The features whose next use becomes possible, impossible, or changes its overage. */
export async function featureChanges(
  db: HomeDb,
  appId: string,
  user: { uid: number; overrides: Holder['overrides'] },
  { catalogue, held, now }: Situation,
  change: PlannedChange,
): Promise<FeatureChanges> {
  const { before, after } = holders(user, { catalogue, held, now }, change)
  const entitlements = [...catalogue.features.values()].map(({ id, name, unitLabel, unitLabelPlural }) => ({
    featureId: id,
    name,
    unitLabel,
    unitLabelPlural,
    before: userEntitlement(catalogue, id, before, now),
    after: userEntitlement(catalogue, id, after, change.at),
  }))
  const used = await usedBy(
    db,
    appId,
    entitlements.map((change) => ({ uid: user.uid, change })),
  )
  const changes: FeatureChanges = { limits: [], gains: [], loses: [], moreOverage: [], lessOverage: [] }
  for (const [i, { name, unitLabel, unitLabelPlural, ...entitlement }] of entitlements.entries()) {
    const { featureId, before, after } = entitlement
    const usage = used[i] ?? { before: 0, after: 0 }
    const [was, becomes] = [limitOf(before), limitOf(after)]
    if (was || becomes) {
      const counted = after.kind === 'metered' ? usage.after : before.kind === 'metered' ? usage.before : null
      const labels = { name, unitLabel, unitLabelPlural }
      const usedNow = before.kind === 'metered' ? usage.before : null
      changes.limits.push({ featureId, ...labels, before: was, after: becomes, usedNow, used: counted })
    }
    const made = accessChange(entitlement, usage)
    if (!made) continue
    const shown = { featureId, name, before: made.before, after: made.after }
    if (made.change === 'GAINS') changes.gains.push(shown)
    if (made.change === 'LOSES') changes.loses.push(shown)
    if (made.overage === 'MORE') changes.moreOverage.push(shown)
    if (made.overage === 'LESS') changes.lessOverage.push(shown)
  }
  return changes
}

function limitOf(entitlement: UserEntitlement): Limit | null {
  if (entitlement.kind === 'none') return null
  if (entitlement.kind === 'binary') return { budget: null, resetPeriod: null, overageEnabled: false }
  const { budget, resetPeriod, overageEnabled } = entitlement.allowance
  return { budget, resetPeriod, overageEnabled }
}

/** Packages and overrides of the user before and after the change. */
function holders(
  { overrides }: { overrides: Holder['overrides'] },
  { held, now }: Situation,
  change: PlannedChange,
): { before: Holder; after: Holder } {
  const live = held.filter((s) => endedAt(s, now) === null)
  // Add-ons that were to end with the plan continue with the new one; see addons.ts.
  const planEnd = endOfPlan(change.base)
  const goesOn = (s: SubscriptionRow) =>
    s.isAddon &&
    s.provider === null &&
    s.cancelAt === planEnd &&
    (s.trialEndsAt === null || s.trialEndsAt > change.at)
  const staying = live.filter((s) => s.id !== change.base.id && (goesOn(s) || endedAt(s, change.at) === null))
  return {
    before: { live, overrides },
    after: { live: [...staying, successorOf(change, '')], overrides },
  }
}

/** Reads counters, in order. */
type ReadUsage = (counters: readonly UserCounter[]) => Promise<number[]>

/** Rejects a lower quantity that allows less than is in use. */
export async function checkInUse(
  user: { uid: number; overrides: Holder['overrides'] },
  situation: Situation,
  change: PlannedChange,
  read: ReadUsage,
): Promise<void> {
  const { after } = holders(user, situation, change)
  const limits = loweredLimits(situation.catalogue, change.base, after, change.at)
  const counters = limits.map(({ featureId, periodStart }) => ({
    uid: user.uid,
    featureId,
    resetPeriod: 'NEVER' as const,
    periodStart,
  }))
  const used = await read(counters)
  for (const [i, { featureId, budget }] of limits.entries()) {
    const excess = (used[i] ?? 0) - budget
    if (excess > 0) {
      throw badUserInput(
        `A quantity of ${change.quantity} allows ${budget} of ${quote(featureId)}, but ${used[i]} are in use. Free ${excess} first.`,
        'quantity',
      )
    }
  }
}

/** The cost of the change: from the provider's own preview if paid there, otherwise from the list prices. */
export async function quoteFor(
  service: Service,
  appId: string,
  change: PlannedChange,
  now: number,
): Promise<PreviewedCost> {
  const { paid, base, from, to, quantity, when } = change
  if (paid?.change) {
    const { provider, ref, change: priceChange } = paid
    const quoted = await askingProvider(provider, async () =>
      (await providerOf(service, appId, provider)).previewChange(
        ref,
        priceChange,
        when === 'NOW' ? 'now' : 'period end',
      ),
    )
    const decimals = exponentOf(provider, quoted.currency)
    return { ...quoted, decimals, quotedBy: provider, formula: `preview by ${providerName(provider)}` }
  }
  if (paid) {
    const { currency } = paid.prices.from
    const formula = 'no charge and no credit'
    const decimals = exponentOf(paid.provider, currency)
    return { credit: 0, charge: 0, currency, decimals, quotedBy: paid.provider, formula }
  }
  const prices = quotedPrices(from.prices, to.prices)
  const none = { credit: null, charge: null, currency: null, decimals: null, quotedBy: 'tollgate' }
  const free = [from, to].filter((p) => !hasRecurringPrice(p))
  const why =
    free.length === 2
      ? 'neither package has a recurring price'
      : 'the packages have no recurring prices in the same currency'
  if (!prices || prices.from.interval === null) return { ...none, formula: why }
  const reset = prices.from.interval.toUpperCase() as Exclude<ResetPeriod, 'NEVER' | 'HOUR'>
  const { start, end } = periodAt(reset, base.anchor, now)
  const period = { start, end: end ?? start }
  const [old, next] = [
    { price: prices.from, quantity: base.quantity },
    { price: prices.to, quantity },
  ]
  const charge = costOf(prices.to, quantity)
  const quoted =
    when === 'NOW'
      ? quoteOf(old, next, period, now)
      : charge !== null && { credit: 0, charge, currency: prices.to.currency }
  if (!quoted) return { ...none, formula: 'a price times its quantity exceeds the maximum amount' }
  const share = ` × ${lengthText(period.end - now)} of ${lengthText(period.end - start)}`
  const whole = prices.to.interval !== prices.from.interval || when === 'PERIOD_END'
  const times = (n: number) => (n === 1 ? '' : ` × ${n}`)
  const [was, becomes] = [
    `${amountText(prices.from)}${times(base.quantity)}`,
    `${amountText(prices.to)}${times(quantity)}`,
  ]
  return {
    ...quoted,
    decimals: exponentOf(prices.to.provider, quoted.currency),
    quotedBy: 'tollgate',
    formula: [
      when === 'NOW' && !free.includes(from) && `credit = ${was}${share} unused`,
      !free.includes(to) &&
        `charge = ${becomes}${when === 'PERIOD_END' ? ', for the first period' : whole ? '' : share}`,
      ...free.map(({ name }) => `${name} has no recurring price`),
    ]
      .filter(Boolean)
      .join('; '),
  }
}

/** A duration to the minute, such as "29 days 23 h 59 min". */
function lengthText(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60]
  const parts = [
    days > 0 && `${days} ${days === 1 ? 'day' : 'days'}`,
    hours > 0 && `${hours} h`,
    rest > 0 && `${rest} min`,
  ]
  return parts.filter(Boolean).join(' ') || '0 min'
}
