import { badUserInput } from './errors.ts'
import { MAX_IDENTIFIER_CHARACTERS, MAX_TEXT_CHARACTERS } from './limits.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** 1 to 255 characters of well-formed Unicode, without control characters. */
export function isIdentifier(id: string): boolean {
  return id.length >= 1 && id.length <= MAX_IDENTIFIER_CHARACTERS && !CONTROL.test(id) && id.isWellFormed()
}

export function checkIdentifier(field: string, id: string): void {
  if (!isIdentifier(id)) {
    throw badUserInput(
      `${field} must be 1 to ${MAX_IDENTIFIER_CHARACTERS} characters long, without control characters`,
      field,
    )
  }
}

/** Whether PostgreSQL and UTF-8 can store a text: no NUL, no half surrogate pairs. */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

/** Text from a provider, without characters that cannot be stored. */
export const storable = (text: string): string => text.replaceAll('\u0000', '').toWellFormed()

export function checkText(field: string, text: string | null | undefined): void {
  if (text === null || text === undefined) return
  if (text.length > MAX_TEXT_CHARACTERS) {
    throw badUserInput(`${field} must be at most ${MAX_TEXT_CHARACTERS} characters long`, field)
  }
  if (!isStorable(text)) {
    throw badUserInput(`${field} must be well-formed text without NUL characters`, field)
  }
}
