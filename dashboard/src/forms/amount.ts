import { decimalText } from '../ui/price.ts'

interface CountedCurrency {
  /** ISO 4217, in lower case */
  code: string
  /** of its minor unit */
  decimals: number
  /** amounts are multiples of it, in minor units */
  step: number
}

type Typed = { amount: number; problem: null } | { amount: null; problem: string }

/** As the server has it. */
export const MAX_AMOUNT = 999_999_999_999
const problem = (problem: string): Typed => ({ amount: null, problem })

/**
 * An amount as people type or paste it ("29", "1,200.50", "1.200,50 €", "USD 5"), in minor units. Never rounded: what
 * the currency cannot express is a problem. Of "1.200" and "1,200" the locale says whether it is one or a thousand.
 */
export function typedAmount(text: string, currency: CountedCurrency, locale?: string): Typed {
  const code = currency.code.toUpperCase()
  if (text.trim() === '') return problem('The amount is missing.')
  const [, before = '', number, after = ''] =
    /^([^\d]*?)([.,]?\d(?:.*[\d.,])?)([^\d]*)$/s.exec(text.trim()) ?? []
  if (number === undefined) return problem(notAnAmount(code))
  if (/[-−(]/.test(before)) return problem('The amount cannot be negative.')
  const mark = `${before}${after}`.replace(/\s/g, '')
  if (mark !== '' && !marksOf(code, locale).has(mark.toUpperCase())) {
    return problem(`${mark} is not ${code}: choose the currency, and type the number alone.`)
  }
  const parts = partsOf(number.replace(/[\s'’٬]/g, ''), decimalMark(locale))
  if (!parts) return problem(notAnAmount(code))
  const { whole, fraction } = parts
  if (fraction.length > currency.decimals) return problem(tooFine(code, currency.decimals, parts))
  const amount = BigInt(`${whole}${fraction.padEnd(currency.decimals, '0')}` || '0')
  if (amount > BigInt(MAX_AMOUNT)) return problem('The amount is too large.')
  if (amount % BigInt(currency.step) !== 0n) {
    return problem(`${code} is charged in steps of ${decimalText(currency.step, currency.decimals)}.`)
  }
  return { amount: Number(amount), problem: null }
}

const notAnAmount = (code: string) => `Enter an amount in ${code}, such as 1,200.`

function tooFine(code: string, decimals: number, { whole, fraction }: Parts): string {
  const has = decimals === 0 ? 'no decimals' : `${decimals} decimals`
  const thousands = fraction.length === 3 ? ` For thousands, write ${whole}${fraction}.` : ''
  return `${code} has ${has}: ${whole}.${fraction} has ${fraction.length}.${thousands}`
}

interface Parts {
  whole: string
  fraction: string
}

/** Null: the points and commas are where no number has them. */
function partsOf(number: string, decimal: string): Parts | null {
  if (!/^[\d.,]+$/.test(number)) return null
  const last = Math.max(number.lastIndexOf('.'), number.lastIndexOf(','))
  if (last === -1) return { whole: number, fraction: '' }
  const mark = number[last] as string
  const other = mark === '.' ? ',' : '.'
  const before = number.slice(0, last)
  const after = number.slice(last + 1)
  const groups = number.split(mark)
  const grouped = (parts: string[]) =>
    /^\d{1,3}$/.test(parts[0] ?? '') && parts.slice(1).every((part) => /^\d{3}$/.test(part))
  // "1.200.300", and "1,200" where a comma is no decimal mark.
  if (!before.includes(other) && grouped(groups) && (groups.length > 2 || mark !== decimal)) {
    return { whole: groups.join(''), fraction: '' }
  }
  const wholes = before.split(other)
  if (before.includes(mark) || !/^\d*$/.test(after)) return null
  if (wholes.length > 1 ? !grouped(wholes) : !/^\d*$/.test(before)) return null
  return { whole: wholes.join(''), fraction: after }
}

const decimalMark = (locale?: string) =>
  new Intl.NumberFormat(locale).formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.'

/** How people mark amounts of a currency: its code and its symbols. */
function marksOf(code: string, locale?: string): ReadonlySet<string> {
  const marks = [code]
  for (const currencyDisplay of ['symbol', 'narrowSymbol'] as const) {
    for (const each of ['en', locale]) marks.push(symbolOf(code, currencyDisplay, each))
  }
  return new Set(marks.map((mark) => mark.replace(/\s/g, '').toUpperCase()))
}

export const symbolOf = (
  code: string,
  currencyDisplay: 'symbol' | 'narrowSymbol' = 'narrowSymbol',
  locale = 'en',
): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: code.toUpperCase(), currencyDisplay })
    .formatToParts(0)
    .find(({ type }) => type === 'currency')?.value ?? code.toUpperCase()
