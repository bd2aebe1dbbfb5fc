import type { IncomingHttpHeaders } from 'node:http'

/** The credential in the Authorization header: bare, as in the spec, or after `Bearer`. */
export function credentialOf({ authorization }: IncomingHttpHeaders): string | null {
  if (!authorization) return null
  return /^Bearer\s/i.test(authorization) ? authorization.slice('Bearer'.length).trim() : authorization.trim()
}
