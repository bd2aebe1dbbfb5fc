import { exponentOf } from '../../domain/currency.ts'
import { readAnyApp } from '../../store/connection/read-any-app.ts'
import {
  type ExpiringTotal,
  expiringCredits,
  type SoldTotal,
  soldCredits,
} from '../../store/credits/credit-figures.ts'
import { burntCredits } from '../../store/usage/usage-hours.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'

const SPAN_MS = 30 * 86_400_000
/** A page may wait for reading so many. */
const CREDITS_READ = 100_000
/** The features with most credits used or sold; others are only counted. */
const FEATURES_SHOWN = 5

interface SoldMoney {
  provider: string
  currency: string
  decimals: number
  amount: number
}

export interface FeatureCredits {
  featureId: string
  featureName: string
  sold: number
  money: SoldMoney[]
  /** the part of `sold` whose payment is not known */
  soldWithoutAmount: number
  /** null: not computed yet */
  burnt: number | null
  expiring: number
}

export interface CreditFigures {
  features: FeatureCredits[]
  otherFeatures: number
  /** false: there are more credits than are read for the figure */
  soldComplete: boolean
  expiringComplete: boolean
  /** burnt units were counted from then on; null: all of the 30 days */
  burntFrom: number | null
}

/** Credits of the last and the next 30 days; null: there is nothing to say about credits. */
export async function creditFigures(call: Call): Promise<CreditFigures | null> {
  const { appId } = call
  const { pool } = call.service
  const { now } = await requireApp(pool, appId)
  const { features } = await catalogueOf(call)
  const spending = [...features.values()].filter(({ spends }) => spends)
  if (spending.length === 0) return null
  const featureIds = spending.map(({ id }) => id)
  const span = { from: now - SPAN_MS, now }
  const { sold, expiring } = await readAnyApp(pool, async (tx) => ({
    sold: await soldCredits(tx, appId, { ...span, limit: CREDITS_READ }),
    expiring: await expiringCredits(tx, appId, { now, until: now + SPAN_MS, limit: CREDITS_READ }),
  }))
  // With a plan for its position in the ledger: another one may read all of it.
  const burnt = await burntCredits(pool, { appId, featureIds, ...span })
  const rows = spending
    .map(({ id, name }) => ({
      featureId: id,
      featureName: name,
      ...soldOf(sold.filter(({ featureId }) => featureId === id)),
      burnt: burnt && (burnt.units.get(id) ?? 0),
      expiring: expiring.find(({ featureId }) => featureId === id)?.units ?? 0,
    }))
    .filter(({ sold, burnt, expiring }) => sold !== 0 || (burnt ?? 0) !== 0 || expiring !== 0)
    .sort((a, b) => (b.burnt ?? 0) - (a.burnt ?? 0) || b.sold - a.sold || b.expiring - a.expiring)
  if (rows.length === 0) return null
  const from = burnt?.completeFrom ?? null
  return {
    features: rows.slice(0, FEATURES_SHOWN),
    otherFeatures: Math.max(rows.length - FEATURES_SHOWN, 0),
    soldComplete: countOf(sold) < CREDITS_READ,
    expiringComplete: countOf(expiring) < CREDITS_READ,
    burntFrom: from !== null && from > span.from ? from : null,
  }
}

function soldOf(totals: readonly SoldTotal[]): Pick<FeatureCredits, 'sold' | 'money' | 'soldWithoutAmount'> {
  const units = (some: readonly SoldTotal[]) => some.reduce((sum, { units }) => sum + units, 0)
  return {
    sold: units(totals),
    money: totals.flatMap(({ provider, currency, paid }) =>
      currency === null
        ? []
        : [{ provider, currency, decimals: exponentOf(provider, currency), amount: paid }],
    ),
    soldWithoutAmount: units(totals.filter(({ currency }) => currency === null)),
  }
}

const countOf = (totals: readonly (SoldTotal | ExpiringTotal)[]): number =>
  totals.reduce((sum, { credits }) => sum + credits, 0)
