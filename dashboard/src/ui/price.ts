export interface Money {
  /** minor units */
  amount: number
  /** how many decimals the amount has */
  decimals: number
  /** ISO 4217, in lower case */
  currency: string
}

/** "$29.00", "¥1,500", "KWD 1.500": with the usual number of decimals, or more where that would round. */
export function moneyText({ amount, decimals, currency }: Money): string {
  const code = currency.toUpperCase()
  const usual = Math.min(usualDecimals(code), decimals)
  const shown = amount % 10 ** (decimals - usual) === 0 ? usual : decimals
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
    minimumFractionDigits: shown,
    maximumFractionDigits: shown,
  })
  // As text: a number would lose the cents of very large amounts.
  return format.format(decimalText(amount, decimals) as `${number}`)
}

const usualDecimals = (code: string) =>
  new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions()
    .maximumFractionDigits ?? 2

/** 1234 with 2 decimals: "12.34". */
export function decimalText(amount: number, decimals: number): string {
  const digits = String(Math.abs(amount)).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const sign = amount < 0 ? '-' : ''
  return decimals === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(digits.length - decimals)}`
}

/** What a provider is called. */
export const providerName = (provider: string) =>
  ({ stripe: 'Stripe', sandbox: 'Sandbox' })[provider] ?? provider

type Recurring = Money & { interval: string | null }

/** "$29.00 per month", "$29.00 per month or $290.00 per year": what a billing template charges. */
export const offerText = (offer: {
  prices: readonly Recurring[]
  choices: readonly { prices: readonly Recurring[] }[]
}) =>
  (offer.choices.length > 0 ? offer.choices : [offer])
    .map(({ prices }) => prices.map(priceText).join(' + '))
    .join(' or ')

/** As customers see it: "$29.00 per month". */
export const priceText = ({ interval, ...money }: Money & { interval: string | null }): string =>
  `${moneyText(money)} ${interval === null ? 'once' : `per ${interval}`}`
