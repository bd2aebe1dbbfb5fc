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
  /** null: paid once */
  interval: Interval | null
}

/** A price as callers write it, checked: everything that a provider could not charge is refused. */
export function priceOf(input: Omit<Price, 'interval'> & { interval: string | null }): Price {
  checkIdentifier('id', input.id)
  if (!Number.isInteger(input.amount) || input.amount < 0 || input.amount > MAX_COUNT) {
    throw badUserInput(`amount must be a whole number of minor units from 0 to ${MAX_COUNT}`, 'amount')
  }
  const currency = input.currency.toLowerCase()
  if (!/^[a-z]{3}$/.test(currency))
    throw badUserInput('currency must be a code of three letters, such as usd', 'currency')
  const interval = INTERVALS.find((known) => known === input.interval) ?? null
  if (interval !== input.interval) {
    throw badUserInput(
      `interval must be one of ${INTERVALS.join(', ')}, or null for a price that is paid once`,
      'interval',
    )
  }
  return { ...input, currency, interval }
}

/** The amount in major units, always with two decimals, whatever the currency's own number of them. */
export function displayAmount({ amount, currency }: Pick<Price, 'amount' | 'currency'>): string {
  const unit = 10n ** (EXPONENTS.get(currency) ?? 2n)
  const hundredths = (BigInt(amount) * 200n + unit) / (2n * unit)
  return `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
}

/**
 * The exponents of ISO 4217 that are not 2. Intl does not know them: it tells how a currency is written by habit
 * (HUF, PKR, COP and IQD without decimals), which would show some prices a hundred times too high.
 */
const EXPONENTS: ReadonlyMap<string, bigint> = new Map([
  ...exponent(0n, 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf'),
  ...exponent(3n, 'bhd iqd jod kwd lyd omr tnd'),
  ...exponent(4n, 'clf uyw'),
])

function exponent(digits: bigint, currencies: string): [string, bigint][] {
  return currencies.split(' ').map((currency) => [currency, digits])
}
