import { endpointOf } from './endpoint.ts'
import type { TollgateOptions } from './options.ts'

const DEFAULT_URL = 'http://127.0.0.1:4000'

/** Where to send requests, and with which key. Throws, saying what to do, when an option is missing or invalid. */
export function settingsOf(options: TollgateOptions): { url: string; apiKey: string } {
  const apiKey = (options.apiKey ?? environment('TOLLGATE_API_KEY'))?.trim()
  if (!apiKey) {
    throw new TypeError('Missing API key. Pass apiKey or set TOLLGATE_API_KEY.')
  }
  if (!/^[\x20-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must only contain printable ASCII characters')
  }
  const { cache, queue } = options
  const numbers = {
    'cache.ttl': cache?.ttl,
    'cache.max': cache?.max,
    'queue.max': queue?.max,
    'queue.retryEvery': queue?.retryEvery,
    'queue.maxAge': queue?.maxAge,
  }
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && !(typeof value === 'number' && value >= 0))
      throw new TypeError(`${name} must be a non-negative number`)
  }
  for (const name of ['fetch', 'retry', 'onError'] as const) {
    const { [name]: hook } = options
    if (hook !== undefined && typeof hook !== 'function') throw new TypeError(`${name} must be a function`)
  }
  return {
    url: endpointOf(options.baseUrl ?? environment('TOLLGATE_URL') ?? DEFAULT_URL, '/graphql'),
    apiKey,
  }
}

/** Anyone who opens the page could read the key. */
export function refuseBrowser({ dangerouslyAllowBrowser = false }: TollgateOptions): void {
  const { window } = globalThis as { window?: { document?: unknown } }
  if (window?.document === undefined || dangerouslyAllowBrowser) return
  throw new TypeError(
    'An Admin API key must not be used in a browser, since it gives access to the data of all users. ' +
      'Call Tollgate from your backend, or set dangerouslyAllowBrowser if the page is not accessible to others.',
  )
}

/** An empty variable counts as not set. */
const environment = (name: string): string | undefined => globalThis.process?.env?.[name] || undefined
