import type { IncomingMessage } from 'node:http'

/** What stands in the Authorization header: bare, as the spec has it, or after `Bearer`. */
export function credentialOf(request: IncomingMessage): string | null {
  const header = request.headers.authorization
  if (!header) return null
  return /^Bearer\s/i.test(header) ? header.slice('Bearer'.length).trim() : header.trim()
}
