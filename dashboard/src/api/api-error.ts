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

/** Turns any error into a message for people. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return 'Something went wrong in this page. Reload it; if that does not help, tell your administrator.'
  }
  return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
}

/** The form field an error is about, with its message; null if it is about the whole form. */
export function fieldErrorOf(error: unknown, fields: readonly string[]): Record<string, string> | null {
  const field = error instanceof ApiError ? error.field : null
  return field !== null && fields.includes(field) ? { [field]: messageOf(error) } : null
}
