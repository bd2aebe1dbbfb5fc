import { COMMON_PASSWORDS, KEYBOARD_WALKS } from './common-passwords.ts'
import { badUserInput } from './errors.ts'
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from './limits.ts'

/** The cost of one guess: scrypt's parameters, with N as its logarithm. */
export interface PasswordCost {
  ln: number
  r: number
  p: number
}

export function checkPassword(password: string, email: string): void {
  if (password.length < MIN_PASSWORD_CHARACTERS || password.length > MAX_PASSWORD_CHARACTERS) {
    throw badUserInput(
      `password must be ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters long`,
      'password',
    )
  }
  if (isGuessable(password, email)) {
    throw badUserInput('password is too easy to guess; use several words or a generated password', 'password')
  }
}

function isGuessable(password: string, email: string): boolean {
  const plain = password.toLowerCase()
  return (
    new Set(plain).size < FEWEST_CHARACTERS ||
    isRepetition(plain) ||
    isSequence(plain) ||
    isCommon(plain) ||
    isAddress(plain, email.trim().toLowerCase())
  )
}

const FEWEST_CHARACTERS = 4
const LONGEST_UNIT = 5

/** `abcabcabcabc` */
function isRepetition(text: string): boolean {
  for (let unit = 1; unit <= LONGEST_UNIT; unit++) if (text.startsWith(text.slice(unit))) return true
  return false
}

/** `1234567890`, `zyxwvutsrq`: each character follows or precedes the last one. */
function isSequence(text: string): boolean {
  const codes = [...text.replace(/90$/, '9:')].map((character) => character.charCodeAt(0))
  return [1, -1].some((step) => codes.every((code, i) => i === 0 || code - (codes[i - 1] ?? 0) === step))
}

function isCommon(text: string): boolean {
  if (KEYBOARD_WALKS.has(text) || /^\d{1,15}$/.test(text)) return true
  // A digit at the end may be a substituted letter or an addition.
  return [trimmed(text), trimmed(asLetters(text)), asLetters(trimmed(text))].some((word) =>
    COMMON_PASSWORDS.has(word),
  )
}

/** Without digits and signs at both ends. */
const trimmed = (text: string): string => text.replace(/^[\P{L}]+/u, '').replace(/[\P{L}]+$/u, '')

const LETTERS: Record<string, string> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
}

const asLetters = (text: string): string => text.replace(/[013457@$!]/g, (sign) => LETTERS[sign] ?? sign)

/** The member's own address, or its first part with digits around it. */
function isAddress(text: string, email: string): boolean {
  const [name = ''] = email.split('@')
  return text === email || (name !== '' && trimmed(text) === trimmed(name) && trimmed(text) !== '')
}
