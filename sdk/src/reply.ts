import { type CallError, type ErrorCode, TollgateError } from './errors.ts'

/** A reply, read to its end. */
export interface Reply {
  status: number
  headers: Headers
  text: string
}

/** An answer may contain both: partial data, and the first error. */
export interface Answer {
  data: Record<string, unknown> | null
  error: CallError | null
}

/** An element of `errors` as the service sends it. Only `message`, `path` and `code` are the spec's. */
export interface WireError {
  message: string
  path?: unknown[] | null
  extensions?: {
    code?: string
    type?: string
    status?: number
    field?: string
    retryAfter?: number
  } | null
}

/** The meaning of an error that lacks some extensions. */
interface Meaning {
  type: string
  status: number
  retryAfter?: number | null
}

const UNFORESEEN: Meaning = { type: 'Error', status: 500 }

export const failed = (error: TollgateError): { data: null; error: CallError } => ({
  data: null,
  error: error as CallError,
})

export function errorFrom(
  { message, path, extensions }: WireError,
  headers: Headers,
  classes: Record<string, typeof TollgateError>,
  meaning = UNFORESEEN,
): TollgateError {
  const { code = 'INTERNAL_SERVER_ERROR', type, ...details } = { ...meaning, ...extensions }
  const Class = (Object.hasOwn(classes, type) && classes[type]) || TollgateError
  return new Class(message, {
    ...details,
    code: code as ErrorCode,
    path: path?.map(String),
    requestId: headers.get('X-Request-Id'),
  })
}
