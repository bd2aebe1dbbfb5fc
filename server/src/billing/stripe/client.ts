import { LRUCache } from 'lru-cache'
import type Stripe from 'stripe'
import { MAX_STRIPE_CLIENTS } from '../../domain/limits.ts'
import { traceHeaders, tracing } from '../../telemetry/tracing.ts'

/** Longer than Stripe usually takes, shorter than callers wait. */
const TIMEOUT_MS = 20_000

const clients = new LRUCache<string, Promise<Stripe>>({ max: MAX_STRIPE_CLIENTS })

/** Stripe's client for a key, loaded on first use and cached with its connections. */
export function stripeClient(secretKey: string, apiBase: string | null): Promise<Stripe> {
  const name = `${apiBase} ${secretKey}`
  const known = clients.get(name)
  if (known) return known
  const made = newClient(secretKey, apiBase)
  clients.set(name, made)
  return made
}

async function newClient(secretKey: string, apiBase: string | null): Promise<Stripe> {
  const { default: Client } = await import('stripe')
  const base = apiBase === null ? null : new URL(apiBase)
  return new Client(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(tracing && { httpClient: tracedClient(Client.createNodeHttpClient()) }),
    ...(base && {
      host: base.hostname,
      port: base.port || (base.protocol === 'https:' ? '443' : '80'),
      protocol: base.protocol === 'https:' ? ('https' as const) : ('http' as const),
    }),
  })
}

/** Each request is a span, whose trace is passed on to Stripe. */
function tracedClient(client: Stripe.HttpClient): Stripe.HttpClient {
  const send = client.makeRequest.bind(client)
  client.makeRequest = (host, port, path, method, headers, ...rest) => {
    const request = () => send(host, port, path, method, { ...headers, ...traceHeaders() }, ...rest)
    if (!tracing) return request()
    const attributes = { 'server.address': host, 'http.request.method': method }
    return tracing.span(`${method} Stripe`, { kind: 'client', attributes }, async (span) => {
      const response = await request()
      span.set({ 'http.response.status_code': response.getStatusCode() })
      return response
    })
  }
  return client
}
