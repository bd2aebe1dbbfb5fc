import { startStripe } from './stand-in.ts'

// A Stripe to try things with: npx tsx server/test/stripe/run.ts [the webhook's address]
const SECRET = 'whsec_of_the_stand_in'
const webhook = process.argv[2] ?? 'http://127.0.0.1:4000/webhooks/stripe/default'

const stripe = await startStripe({ deliverAtOnce: true })
stripe.register({ urls: [webhook], secret: SECRET })
const [pro, seats] = [stripe.sell({ name: 'Pro', amount: 1900 }), stripe.sell({ name: 'Seats', amount: 500 })]

console.info(`A Stripe stand-in is running at ${stripe.url} and sends events to ${webhook}. Start Tollgate with:

  STRIPE_API_BASE=${stripe.url} STRIPE_SECRET_KEY=${stripe.key} STRIPE_WEBHOOK_SECRET=${SECRET} npm start

Prices to import in the dashboard: ${pro.id} (Pro, 19.00 a month), ${seats.id} (Seats, 5.00 a month).
It also works with the official CLI:

  npx stripe trigger customer.subscription.deleted --api-base ${stripe.url} --api-key ${stripe.key}`)
