import type { ErrorCode } from '../domain/errors.ts'
import type { WireError } from '../graphql/engine/errors.ts'

export const PROBLEM_TYPE = 'application/problem+json'

/** An error as REST sends it (RFC 9457). */
interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: ErrorCode
  requestId: string
  /** the value that was rejected */
  field?: string
  /** seconds */
  retryAfter?: number
}

export function problemOf(
  { message, extensions: { code, status, field, retryAfter } }: WireError,
  requestId: string,
): Problem {
  return {
    type: typeOf(code),
    title: titleOf(code),
    status,
    detail: message,
    code,
    requestId,
    ...(field !== undefined && { field }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** A name, not a location: it is the same in every installation. */
export const typeOf = (code: ErrorCode): string => `urn:tollgate:error:${code}`

/** USER_NOT_FOUND: "User not found" */
export function titleOf(code: ErrorCode): string {
  const words = code.replaceAll('_', ' ').toLowerCase()
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
