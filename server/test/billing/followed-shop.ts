import type { Data } from '../harness/client.ts'
import type { TestServer } from '../harness/server.ts'
import type { StripeStandIn } from '../stripe/stand-in.ts'
import { jobsDone } from './jobs-done.ts'
import { openSandboxShop } from './sandbox-shop.ts'

const SECRET = 'whsec_of_these_tests'

export type FollowedShop = Awaited<ReturnType<typeof openFollowedShop>>

/** A shop that sells at Stripe, whose test clock goes with Stripe's. `ann` buys there. */
export async function openFollowedShop(server: TestServer, stripe: StripeStandIn) {
  const shop = await openSandboxShop(server, { testClock: true })
  await shop.useStripe(stripe, SECRET)
  const urls = [`${server.url}/webhooks/stripe/${shop.id}`]
  const close = stripe.register({ urls, secret: SECRET })
  const prices: Record<string, string> = {}
  for (const [name, packageId, interval] of [
    ['plan', 'plan', 'month'],
    ['pro', 'pro', 'month'],
    ['pro yearly', 'pro', 'year'],
    ['extra', 'extra', 'month'],
  ] as const) {
    const { id } = stripe.sell({ name, amount: 1500, interval })
    prices[name] = id
    await shop.importPrice(packageId, id)
  }
  await shop.template('at stripe', ['plan'], [String(prices.plan)])

  const followed = {
    shop,
    prices,
    /** Stripe tells it nothing any more. */
    close,

    /** The app's clock is where Stripe's is, a second later than before. */
    async together(): Promise<void> {
      stripe.advance(1)
      await shop.advance(new Date(stripe.world.now * 1000).toISOString())
    },

    async heard(): Promise<void> {
      await stripe.deliver()
      await jobsDone(server.databaseUrl)
    },

    async buy(template = 'at stripe'): Promise<string> {
      const url = await shop.link(template)
      const { subscription } = stripe.pay(/cs_\w+/.exec(url)?.[0] ?? '', { email: 'pat@example.com' })
      await followed.heard()
      return String(subscription)
    },

    async subscriptions(): Promise<Data[]> {
      return shop.admin.call(
        'subscriptions { package { id } status quantity startedAt cancelAt cancelledAt trialEndsAt scheduled { packageId at } }',
        { userId: 'ann' },
      )
    },
  }
  await followed.together()
  return followed
}
