import { MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { startStripe } from '../stripe/stand-in.ts'

/** A server whose Stripe is the stand-in, shared by the tests of a file. */
export function serverWithStripe(options: Parameters<typeof startStripe>[0] = {}) {
  const stripe = shared(() => startStripe(options))
  const env = () => ({ ...MASTER_KEY_SETTINGS, STRIPE_API_BASE: stripe.url })
  return { stripe, server: shared(() => startTestServer({ env: env() })) }
}
