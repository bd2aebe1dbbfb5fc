import { badUserInput, quote } from './errors.ts'
import { checkText } from './identifier.ts'

/**
 * Text on both sides of one @, without white space, control characters or half a surrogate pair. A stricter rule would
 * reject working addresses.
 */
export const isEmail = (text: string): boolean => EMAIL.test(text)

const EMAIL = /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u

/** The rule for all email addresses. Null: none. */
export function checkEmail(email: string | null | undefined): void {
  checkText('email', email)
  if (email === null || email === undefined || isEmail(email)) return
  throw badUserInput(notAnEmail(email), 'email')
}

export const notAnEmail = (text: string): string => `email is not a valid email address: ${quote(text)}`
