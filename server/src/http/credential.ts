import type { IncomingHttpHeaders } from 'node:http'

/** What stands in the Authorization header: bare, as the spec has it, or after `Bearer`. */
export function credentialOf({ authorization }: IncomingHttpHeaders): string | null {
  if (!authorization) return null
  return /^Bearer\s/i.test(authorization) ? authorization.slice('Bearer'.length).trim() : authorization.trim()
}
