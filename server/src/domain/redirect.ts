import { badUserInput } from './errors.ts'
import { MAX_URL_CHARACTERS } from './limits.ts'
import { parseUrl } from './url.ts'

/** The payer's browser is redirected there, so only http(s) is allowed. */
export function checkRedirect(field: string, url: string): void {
  if (url.length > MAX_URL_CHARACTERS) {
    throw badUserInput(`${field} must be at most ${MAX_URL_CHARACTERS} characters long`, field)
  }
  // The pattern comes first, because the parser would drop tabs and line breaks and accept the rest.
  if (
    !/^https?:\/\/[^\s\\/?#]/i.test(url) ||
    !/^[\x21-\x7e\u00a1-\uffff]+$/.test(url) ||
    !/^[\w.~[\]:-]+$/.test(parseUrl(url)?.host ?? '')
  ) {
    throw badUserInput(`${field} must be an absolute http or https URL`, field)
  }
}
