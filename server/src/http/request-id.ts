import type { IncomingHttpHeaders } from 'node:http'
import { MAX_REQUEST_ID_CHARACTERS } from '../domain/limits.ts'

const SAFE = /^[\w.:/+=@-]+$/

/** The id that the caller gave its request, where it can stand in a header and in a log as it is. */
export function requestIdOf(headers: IncomingHttpHeaders): string | null {
  const id = headers['x-request-id']
  return typeof id === 'string' && id.length <= MAX_REQUEST_ID_CHARACTERS && SAFE.test(id) ? id : null
}
