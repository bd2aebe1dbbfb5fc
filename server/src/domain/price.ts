import { exponentOf, isCurrency, stepOf } from './currency.ts'
import { badUserInput, quote } from './errors.ts'
import { checkIdentifier } from './identifier.ts'
import { MAX_AMOUNT } from './limits.ts'
import { providerName } from './provider-name.ts'

export const INTERVALS = ['day', 'week', 'month', 'year'] as const
export type Interval = (typeof INTERVALS)[number]

export const PER_YEAR: Record<Interval, number> = { day: 365, week: 52, month: 12, year: 1 }

/** The price of a package at one billing provider. */
export interface Price {
  id: string
  provider: string
  /** minor currency units */
  amount: number
  /** lower-case ISO 4217 code */
  currency: string
  /** null: a one-off payment */
  interval: Interval | null
}

/** `isDefault`: the package is sold at this price if none is named. */
export interface PackagePrice extends Price {
  isDefault: boolean
}

/** The price of a package if none is named, of those in use, oldest first; null: it has none. */
export const defaultPrice = (prices: readonly PackagePrice[]): PackagePrice | null =>
  // The newest one in data of a version without defaults.
  prices.find(({ isDefault }) => isDefault) ?? prices.at(-1) ?? null

/** Rejects a price that a provider cannot charge. */
export function priceOf(input: Omit<Price, 'interval'> & { interval: string | null }): Price {
  checkIdentifier('id', input.id)
  if (!Number.isInteger(input.amount) || input.amount < 0 || input.amount > MAX_AMOUNT) {
    throw badUserInput(`amount must be an integer number of minor units from 0 to ${MAX_AMOUNT}`, 'amount')
  }
  const currency = input.currency.toLowerCase()
  if (!isCurrency(currency)) {
    throw badUserInput(
      `currency must be a current ISO 4217 code, such as usd; it is ${quote(input.currency)}`,
      'currency',
    )
  }
  const step = stepOf(input.provider, currency)
  if (input.amount % step !== 0) {
    throw badUserInput(
      `amount must be a multiple of ${step}, the smallest ${currency.toUpperCase()} amount ${providerName(input.provider)} supports`,
      'amount',
    )
  }
  const interval = INTERVALS.find((known) => known === input.interval) ?? null
  if (interval !== input.interval) {
    throw badUserInput(
      `interval must be one of ${INTERVALS.join(', ')}, or null for a one-off price`,
      'interval',
    )
  }
  return { ...input, currency, interval }
}

/** Price times quantity; null: more than can be charged. */
export const costOf = ({ amount }: Pick<Price, 'amount'>, quantity: number): number | null =>
  chargeable(amount * quantity)

/** Sum of amounts; null: more than can be charged. */
export const totalOf = (parts: readonly { amount: number }[]): number | null =>
  chargeable(parts.reduce((sum, { amount }) => sum + amount, 0))

// Rounding errors occur only far above the limit.
const chargeable = (amount: number): number | null => (amount <= MAX_AMOUNT ? amount : null)

type Amount = Pick<Price, 'provider' | 'amount' | 'currency'>

/** The amount in major units, always with two decimals. */
export function displayAmount({ provider, amount, currency }: Amount): string {
  const unit = 10n ** BigInt(exponentOf(provider, currency))
  const hundredths = (BigInt(amount) * 200n + unit) / (2n * unit)
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}

/**
 * The amount as shown to a customer, such as "$29.00" or "¥1,500": with the currency's usual number of decimals, or
 * more if rounding would change it.
 */
export function amountText({ provider, amount, currency }: Amount): string {
  const exponent = exponentOf(provider, currency)
  const digits = String(amount).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  const fraction = digits.slice(digits.length - exponent)
  const usual = Math.min(usualDecimals(currency), exponent)
  const decimals = /^0*$/.test(fraction.slice(usual)) ? usual : exponent
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  })
  // As text, because a number would lose the cents of very large amounts.
  return format.format(`${whole}.${fraction || '0'}` as `${number}`)
}

function usualDecimals(currency: string): number {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions()
  return maximumFractionDigits ?? 2
}
