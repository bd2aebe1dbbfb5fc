const NUMBER = new Intl.NumberFormat('en')
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const number = (value: number | string) => NUMBER.format(Number(value))
export const shortNumber = (value: number) => SHORT.format(value)

/** A sentence of the server's that has numbers and no names in it, with its numbers as people write them. */
export const withNumbers = (text: string) => text.replace(/\d{4,}/g, number)

/** "1 call", "2 calls"; without labels, the number alone. */
export function units(value: number, label?: string | null, plural?: string | null): string {
  const word = value === 1 ? label : (plural ?? label)
  return word ? `${number(value)} ${word}` : number(value)
}
