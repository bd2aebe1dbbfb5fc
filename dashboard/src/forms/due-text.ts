import { moneyText, providerName } from '../ui/price.ts'

interface Quote {
  now: boolean
  /** minor units; null: unknown */
  credit: number | null
  charge: number | null
  currency: string | null
  decimals: number | null
  /** a provider, or `tollgate` for an estimate that nobody is charged */
  quotedBy: string
}

/** What a change costs, and who says so: "Due today: $30.00 ($49.00 − $19.00 credit). Quoted by Sandbox." */
export function dueText(
  { now, credit, charge, currency, decimals, quotedBy }: Quote,
  day: string,
): { text: string; isEstimate: boolean } {
  const isEstimate = quotedBy === 'tollgate'
  if (credit === null || charge === null || currency === null || decimals === null) {
    return { text: 'Not charged.', isEstimate: false }
  }
  const money = (amount: number) => moneyText({ amount, currency, decimals })
  const parts = credit > 0 ? ` (${money(charge)} − ${money(credit)} credit)` : ''
  const due = money(Math.max(charge - credit, 0))
  if (isEstimate) {
    if (charge === 0 && credit === 0) return { text: 'Not charged.', isEstimate: false }
    const what = now ? 'At list prices, this would cost' : 'At list prices, the next period would cost'
    return { text: `Not charged. ${what} ${due}${parts}.`, isEstimate }
  }
  const by = ` Quoted by ${providerName(quotedBy)}.`
  if (!now) return { text: `Due today: ${money(0)}. Next invoice on ${day}: ${due}.${by}`, isEstimate }
  const rest = credit > charge ? ` ${money(credit - charge)} is credited to the next invoice.` : ''
  return { text: `Due today: ${due}${parts}.${rest}${by}`, isEstimate }
}
