/** The sandbox's test cards, each with the outcome of paying with it. */
const TEST_CARDS = {
  '4242424242424242': 'pays',
  '4000000000000002': 'declined',
  '4000000000000341': 'fails to renew',
  '4000000000009979': 'is reported stolen',
  '4000000000000119': 'loses an answer',
} as const

export interface CardEntry {
  number: string
  expiry: string
  cvc: string
}

/** Problems of each field of a card, worded for the payer; empty if there are none. */
export function cardProblems(
  { number, expiry, cvc }: CardEntry,
  now: number,
): Partial<Record<keyof CardEntry, string>> {
  const problems: Partial<Record<keyof CardEntry, string>> = {}
  const digits = digitsOf(number)
  if (!/^\d{13,19}$/.test(digits) || !passesLuhn(digits)) {
    problems.number = 'The card number is not valid.'
  } else if (!(digits in TEST_CARDS)) {
    problems.number = 'The sandbox only accepts the test cards listed below.'
  }
  const end = endOf(expiry)
  if (end === null) problems.expiry = 'Enter the month and year, such as 12/34.'
  else if (end <= now) problems.expiry = 'This card has expired.'
  if (!/^\d{3,4}$/.test(cvc.trim())) problems.cvc = 'Enter the 3 or 4 digits.'
  return problems
}

export type CardOutcome = (typeof TEST_CARDS)[keyof typeof TEST_CARDS]

export function cardOutcome(number: string): CardOutcome {
  const digits = digitsOf(number)
  return digits in TEST_CARDS ? TEST_CARDS[digits as keyof typeof TEST_CARDS] : 'declined'
}

const digitsOf = (number: string): string => number.replace(/[\s-]/g, '')

/** Doubles every second digit from the right and subtracts 9 from results above 9; the sum must end in 0. */
function passesLuhn(digits: string): boolean {
  let sum = 0
  for (const [i, digit] of [...digits].reverse().entries()) {
    const value = i % 2 === 0 ? Number(digit) : Number(digit) * 2
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

/** A card is valid until the end of its month. */
function endOf(expiry: string): number | null {
  const [, month, year] = /^(\d{1,2})\s*\/?\s*(?:20)?(\d\d)$/.exec(expiry.trim()) ?? []
  if (!month || !year || Number(month) < 1 || Number(month) > 12) return null
  return Date.UTC(2000 + Number(year), Number(month), 1)
}
