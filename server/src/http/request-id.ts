import type { IncomingHttpHeaders } from 'node:http'
import { MAX_REQUEST_ID_CHARACTERS } from '../domain/limits.ts'

const SAFE = /^[\w.:/+=@-]+$/

/** The caller's own request id, if it is safe in a header and in a log. */
export function requestIdOf(headers: IncomingHttpHeaders): string | null {
  const id = headers['x-request-id']
  return typeof id === 'string' && id.length <= MAX_REQUEST_ID_CHARACTERS && SAFE.test(id) ? id : null
}
