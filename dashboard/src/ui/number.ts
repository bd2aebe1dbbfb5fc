const NUMBER = new Intl.NumberFormat('en')
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const number = (value: number | string) => NUMBER.format(Number(value))
export const shortNumber = (value: number) => SHORT.format(value)

/** A sentence of the server's that has numbers and no names in it, with its numbers as people write them. */
export const withNumbers = (text: string) => text.replace(/\d{4,}/g, number)

/**
 * "1 call", "2 calls"; without a plural label, "2 × call": plurals cannot be guessed in every language. Without labels,
 * the number alone. The server has the same rule in `domain/sentence.ts`.
 */
export function units(value: number, label?: string | null, plural?: string | null): string {
  const word = unitWord(value, label, plural)
  return word ? `${number(value)} ${word}` : number(value)
}

/** What follows the number in `units`; empty without labels. */
export function unitWord(value: number, label?: string | null, plural?: string | null): string {
  const [own, other] = value === 1 ? [label, plural] : [plural, label]
  return own || (other ? `× ${other}` : '')
}

export interface UnitLabels {
  unitLabel: string | null
  unitLabelPlural: string | null
}
