import { InvalidArgumentError } from 'commander'

/** An integer that JSON represents exactly. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError('It must be a whole number.')
  return value
}

/** An integer of at least 1. */
export function positiveNumber(text: string): number {
  const value = wholeNumber(text)
  if (value < 1) throw new InvalidArgumentError('It must be 1 or more.')
  return value
}
