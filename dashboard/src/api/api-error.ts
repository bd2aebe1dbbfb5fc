export class ApiError extends Error {
  readonly code: string
  /** the input field whose value was refused; null: no single one */
  readonly field: string | null

  constructor(code: string, message: string, field: string | null = null) {
    super(message)
    this.code = code
    this.field = field
  }
}

export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'UNAUTHENTICATED'

/** Whether what was asked for does not exist. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && error.code.endsWith('_NOT_FOUND')

/** Whether there was no answer at all, so that asking again is all that can be done. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof ApiError && ['UNREACHABLE', 'NO_ANSWER'].includes(error.code)

/** Turns any error into a message for people. */
export function messageOf(error: unknown): string {
  if (isMissingCode(error)) {
    return 'This page could not be loaded. Check your connection and reload.'
  }
  if (!(error instanceof ApiError)) {
    return 'Something went wrong. Reload the page. If it happens again, contact your administrator.'
  }
  return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
}

/** A file of the page that does not come; every browser has words of its own for it. */
const isMissingCode = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|Importing a module script failed|Unable to preload CSS/i.test(error.message)

/** The form field an error is about, with its message; null if it is about the whole form. */
export function fieldErrorOf(error: unknown, fields: readonly string[]): Record<string, string> | null {
  const field = error instanceof ApiError ? error.field : null
  return field !== null && fields.includes(field) ? { [field]: messageOf(error) } : null
}
