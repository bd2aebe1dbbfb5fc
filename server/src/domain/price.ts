import { badUserInput } from './errors.ts'
import { checkIdentifier } from './identifier.ts'
import { MAX_COUNT } from './limits.ts'

export const INTERVALS = ['day', 'week', 'month', 'year'] as const
export type Interval = (typeof INTERVALS)[number]

/** What a package costs at one billing provider. */
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

/** Refuses a price that a provider could not charge. */
export function priceOf(input: Omit<Price, 'interval'> & { interval: string | null }): Price {
  checkIdentifier('id', input.id)
  if (!Number.isInteger(input.amount) || input.amount < 0 || input.amount > MAX_COUNT) {
    throw badUserInput(`amount must be a whole number of minor units from 0 to ${MAX_COUNT}`, 'amount')
  }
  const currency = input.currency.toLowerCase()
  if (!/^[a-z]{3}$/.test(currency))
    throw badUserInput('currency must be a code of three letters, such as usd', 'currency')
  const step = stepOf(input.provider, currency)
  if (input.amount % step !== 0) {
    throw badUserInput(
      `amount must be a multiple of ${step}: ${input.provider} takes ${currency.toUpperCase()} in no smaller steps`,
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

type Amount = Pick<Price, 'provider' | 'amount' | 'currency'>

/** The amount in major units, always with two decimals, whatever the currency. */
export function displayAmount({ provider, amount, currency }: Amount): string {
  const unit = 10n ** BigInt(exponentOf(provider, currency))
  const hundredths = (BigInt(amount) * 200n + unit) / (2n * unit)
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}

/**
 * The amount as shown to a customer, such as "1,500 JPY": with the currency's usual number of decimals, or more where
 * that would round.
 */
export function amountText({ provider, amount, currency }: Amount): string {
  const exponent = exponentOf(provider, currency)
  const digits = String(amount).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  const fraction = digits.slice(digits.length - exponent)
  const usual = Math.min(usualDecimals(currency), exponent)
  const decimals = /^0*$/.test(fraction.slice(usual)) ? usual : exponent
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  const code = currency.toUpperCase()
  return decimals === 0 ? `${grouped} ${code}` : `${grouped}.${fraction.slice(0, decimals)} ${code}`
}

function usualDecimals(currency: string): number {
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions()
  return maximumFractionDigits ?? 2
}

/** The number of decimals in a provider's minor units. */
function exponentOf(provider: string, currency: string): number {
  const own = provider === 'stripe' ? STRIPE_EXPONENTS.get(currency) : undefined
  return own ?? EXPONENTS.get(currency) ?? 2
}

/** Amounts must be multiples of this, in minor units. */
function stepOf(provider: string, currency: string): number {
  if (provider !== 'stripe') return 1
  if (WHOLE_AT_STRIPE.includes(currency)) return 100
  return exponentOf(provider, currency) === 3 ? 10 : 1
}

/**
 * Where Stripe differs from ISO 4217 (docs.stripe.com/currencies): krónur and Ugandan shillings in hundredths, of
 * which it accepts only whole units, and ariary without a minor unit.
 */
const STRIPE_EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...exponent(0, 'mga'),
  ...exponent(2, 'isk ugx'),
])
const WHOLE_AT_STRIPE = ['isk', 'ugx']

/**
 * The exponents of ISO 4217 that are not 2. Intl does not know them: it follows how a currency is usually written
 * (HUF, PKR, COP and IQD without decimals), which would show some prices a hundred times too high.
 */
const EXPONENTS: ReadonlyMap<string, number> = new Map([
  ...exponent(0, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'),
  ...exponent(3, 'bhd iqd jod kwd lyd omr tnd'),
  ...exponent(4, 'clf uyw'),
])

function exponent(digits: number, currencies: string): [string, number][] {
  return currencies.split(' ').map((currency) => [currency, digits])
}
