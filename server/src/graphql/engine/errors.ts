import { GraphQLError } from 'graphql'
import { ERRORS, type ErrorCode, TollgateError, unavailable } from '../../domain/errors.ts'
import { isOutage } from '../../store/outage.ts'

/** An error as it goes out: always these four. `field` names the input that is refused, `retryAfter` is in seconds. */
export interface WireError {
  message: string
  locations: readonly { line: number; column: number }[]
  path: readonly string[]
  extensions: { code: ErrorCode; type: string; status: number; field?: string; retryAfter?: number }
}

/** Reports a fault of ours, and returns the id under which it was logged. */
export type ReportFault = (error: unknown) => string

/** A database that is away is no fault of the caller's request: they may try it again. */
function causeOf(error: unknown, report: ReportFault): unknown {
  const cause = error instanceof GraphQLError ? (error.originalError ?? error) : error
  if (!isOutage(cause)) return cause
  report(cause)
  return unavailable('The database cannot be reached at the moment; try again shortly')
}

/**
 * Any error as the caller may see it. `code` is what an error of GraphQL's own means at this stage; whatever
 * nobody foresaw is reported, and its message stays with us.
 */
export function wireError(error: unknown, code: ErrorCode, report: ReportFault): WireError {
  const cause = causeOf(error, report)
  const locations = error instanceof GraphQLError ? (error.locations ?? []) : []
  const path = error instanceof GraphQLError ? (error.path ?? []).map(String) : []
  if (cause instanceof TollgateError) {
    const { message, code, type, status, field, retryAfter } = cause
    const more = { ...(field !== null && { field }), ...(retryAfter !== null && { retryAfter }) }
    return { message, locations, path, extensions: { code, type, status, ...more } }
  }
  if (cause instanceof GraphQLError) {
    return { message: cause.message, locations, path, extensions: { code, ...ERRORS[code] } }
  }
  const id = report(cause)
  return {
    message: `Something went wrong on our side. It was logged as ${id}`,
    locations,
    path,
    extensions: { code: 'INTERNAL_SERVER_ERROR', ...ERRORS.INTERNAL_SERVER_ERROR },
  }
}
