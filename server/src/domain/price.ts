/** What a package costs at one billing provider. */
export interface Price {
  id: string
  provider: string
  /** minor currency units */
  amount: number
  /** lower-case ISO 4217 code */
  currency: string
  /** null: paid once */
  interval: string | null
}

/** The amount in major units, always with two decimals, whatever the currency's own number of them. */
export function displayAmount(price: Pick<Price, 'amount' | 'currency'>): string {
  return (price.amount / 10 ** minorDigits(price.currency)).toFixed(2)
}

function minorDigits(currency: string): number {
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
  )
}
