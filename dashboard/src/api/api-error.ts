export class ApiError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'UNAUTHENTICATED'

/** The one translator of errors: what a person is told. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return 'Something went wrong in this page. Reload it; if that does not help, tell your administrator.'
  }
  if (error.code === 'FORBIDDEN' && /role/i.test(error.message))
    return `${error.message}. Ask an owner for it.`
  return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
}

/**
 * Which field of a form an error is about, with its message; null where it is about the whole.
 * The server's messages name the field they are about: "name must be …", "a feature with the id …".
 */
export function fieldErrorOf(error: unknown, fields: readonly string[]): Record<string, string> | null {
  if (!(error instanceof ApiError) || error.code !== 'BAD_USER_INPUT') return null
  const words = error.message.toLowerCase().split(/[^\w.]+/)
  const field = fields.find((name) => {
    const word = name.toLowerCase()
    return words[0]?.split('.').at(-1) === word || words.slice(0, 6).join(' ').includes(`the ${word}`)
  })
  return field === undefined ? null : { [field]: messageOf(error) }
}
