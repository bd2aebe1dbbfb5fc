import { badUserInput } from './errors.ts'
import { MAX_URL_CHARACTERS } from './limits.ts'
import { privateNetworkOf } from './public-address.ts'
import { parseUrl } from './url.ts'

/**
 * Checks the URL of a webhook endpoint: absolute https, without credentials, to no private address. Where the operator
 * allows private networks, plain http and any address. A host name is resolved and checked at every connection.
 */
export function checkEndpointUrl(field: string, url: string, allowPrivate: boolean): void {
  if (url.length > MAX_URL_CHARACTERS) {
    throw badUserInput(`${field} must be at most ${MAX_URL_CHARACTERS} characters long`, field)
  }
  const scheme = allowPrivate ? 'https?' : 'https'
  // The pattern comes first, because the parser would drop tabs and line breaks and accept the rest.
  const isAbsolute = new RegExp(`^${scheme}://[^\\s\\\\/?#]`, 'i').test(url)
  const parsed = isAbsolute && /^[\x21-\x7e\u00a1-\uffff]+$/.test(url) ? parseUrl(url) : null
  if (!parsed || !/^[\w.~[\]:-]+$/.test(parsed.host)) {
    throw badUserInput(
      allowPrivate
        ? `${field} must be an absolute http or https URL`
        : `${field} must be an absolute https URL, such as https://example.com/webhooks`,
      field,
    )
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw badUserInput(
      `${field} must not contain a user name or password; verify the signature instead`,
      field,
    )
  }
  const network = allowPrivate ? null : privateHost(parsed.hostname)
  if (network !== null) {
    throw badUserInput(
      `${field} must not lead to a private network (${network} address). The operator can allow this with TOLLGATE_WEBHOOK_ALLOW_PRIVATE=on.`,
      field,
    )
  }
}

/** The network of a host that is an address in any notation, or a name for this machine; null: a name to resolve. */
function privateHost(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  // The URL parser writes every notation of an IPv4 address, such as 2130706433 and 0x7f.1, as dotted decimal.
  if (/^[\d.]+$/.test(host) || host.includes(':')) return privateNetworkOf(host)
  return /(^|\.)localhost$/i.test(host) ? 'loopback' : null
}
