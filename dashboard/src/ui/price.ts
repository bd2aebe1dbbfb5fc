interface ShownPrice {
  displayAmount: string
  currency: string
  interval: string | null
}

/** "29.00 EUR a month" */
export const priceText = ({ displayAmount, currency, interval }: ShownPrice): string =>
  `${displayAmount} ${currency.toUpperCase()} ${interval === null ? 'once' : `a ${interval}`}`
