import { shared } from '../harness/shared.ts'
import { startStripe } from '../stripe/stand-in.ts'
import { describeStripe } from './stripe-contract.ts'

const key = process.env.TOLLGATE_STRIPE_TEST_KEY

const standIn = shared(startStripe)

describeStripe('the stand-in', () => ({ key: standIn.key, apiBase: standIn.url }))

if (!key) {
  console.info('TOLLGATE_STRIPE_TEST_KEY is not set: Stripe itself is not asked, only its stand-in.')
} else if (!/^[sr]k_test_/.test(key)) {
  throw new Error(
    'TOLLGATE_STRIPE_TEST_KEY must be a test key (sk_test_… or rk_test_…): this makes subscriptions',
  )
} else {
  describeStripe('Stripe itself', () => ({ key, apiBase: null }))
}
