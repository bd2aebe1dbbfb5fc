import { GraphQLError } from 'graphql'
import { badUserInput, ERRORS, type ErrorCode, TollgateError, unavailable } from '../../domain/errors.ts'
import { isOutage } from '../../store/connection/outage.ts'
import { refusesText } from '../../store/connection/refusals.ts'

/** An error as sent to the caller. `field` is the rejected input, `retryAfter` is in seconds. */
export interface WireError {
  message: string
  locations: readonly { line: number; column: number }[]
  path: readonly string[]
  extensions: { code: ErrorCode; type: string; status: number; field?: string; retryAfter?: number }
}

/** Logs an internal error and returns its id in the log. */
export type ReportFault = (error: unknown) => string

/**
 * An unreachable database is not an error of the request, which may be retried. NUL in a text is one, and is logged
 * because the operation should have rejected it with the field's name.
 */
function causeOf(error: unknown, report: ReportFault): unknown {
  const cause = error instanceof GraphQLError ? (error.originalError ?? error) : error
  if (!isOutage(cause) && !refusesText(cause)) return cause
  report(cause)
  if (refusesText(cause)) return badUserInput('Text must not contain NUL characters')
  return unavailable('The service is temporarily unavailable; retry.')
}

/**
 * Converts any error to the form sent to the caller. `code` is the meaning of GraphQL's own errors at this stage. An
 * unexpected error is logged, and its message is not sent.
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
    const field = fieldIn(error, cause)
    const more = field === null ? {} : { field }
    return { message: cause.message, locations, path, extensions: { code, ...ERRORS[code], ...more } }
  }
  const id = report(cause)
  return {
    message: `Internal error. It was logged as ${id}.`,
    locations,
    path,
    extensions: { code: 'INTERNAL_SERVER_ERROR', ...ERRORS.INTERNAL_SERVER_ERROR },
  }
}

/** The field of an input in which a variable has an invalid value: GraphQL names it before the reason. Null: none. */
function fieldIn(error: unknown, { message }: GraphQLError): string | null {
  if (!(error instanceof GraphQLError) || !error.message.endsWith(message)) return null
  const [, field] = / at "\w+\.(\w+)[^"]*"; $/.exec(error.message.slice(0, -message.length)) ?? []
  return field ?? null
}
