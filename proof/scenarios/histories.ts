import { withClient } from '../../bench/postgres.ts'
import { type PayingWorld, runHistories } from '../../server/test/billing/run-histories.ts'
import { NOTICES, openShop } from '../../server/test/billing/stripe-shop.ts'
import { Client, signedIn } from '../../server/test/harness/client.ts'
import { startStripe } from '../../server/test/stripe/stand-in.ts'
import { breakDatabase } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { API_KEY, OWNER, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const AT_A_TIME = 50
const SECRET = 'whsec_of_the_proof'
const DAY = 86_400

export const histories: Scenario = {
  name: 'histories',
  what: 'generated payment histories at a Stripe stand-in: plans bought, changed, unpaid, refunded and cancelled; webhooks reach two nodes late, up to five times, out of order or never; in the end, the subscriptions of every user must match Stripe',
  weight: 12,
  full: { histories: 1_000 },
  faults: ['differs from provider', 'unprocessed'],
  breakage: {
    what: 'the end of a subscription is not stored',
    sql: `create function forget_the_end() returns trigger language plpgsql as
            $$ begin new.cancel_at := null; new.cancelled_at := null; return new; end $$;
          create trigger forget_the_end before update on subscription
            for each row execute function forget_the_end()`,
  },

  async run(trial: Trial) {
    // A day ago: every step takes a second there, and none may lie ahead of our own time.
    const stripe = await startStripe({ now: Math.floor(Date.now() / 1_000) - DAY })
    trial.atEnd(() => stripe.stop())
    const cluster = await Cluster.make(trial)
    const databaseUrl = await cluster.createDatabase()
    const settings = {
      DATABASE_URL: databaseUrl,
      STRIPE_SECRET_KEY: stripe.key,
      STRIPE_WEBHOOK_SECRET: SECRET,
      STRIPE_API_BASE: stripe.url,
    }
    const nodes = [await startNode(trial, settings), await startNode(trial, settings)] as const
    const urls = nodes.map(({ url }) => `${url}/webhooks/stripe/default`)
    const dashboard = await signedIn(nodes[0].url, OWNER)
    const world: PayingWorld = {
      stripe,
      shop: await openShop({ id: 'default', admin: nodes[0].admin, dashboard }, stripe),
      admin: (process) =>
        new Client(`${(nodes[process % 2] ?? nodes[0]).url}/graphql`, { Authorization: API_KEY }),
      dashboard,
      sql: (text, values) =>
        withClient(databaseUrl, async (client) => (await client.query(text, values)).rows),
    }
    stripe.register({ urls, secret: SECRET, types: NOTICES })
    await breakDatabase(trial, databaseUrl)

    for (let seed = trial.random.int(0, 1_000_000); trial.goesOn('histories'); seed += AT_A_TIME) {
      const seeds = Array.from({ length: AT_A_TIME }, (_, i) => seed + i)
      const { wrong, unhandled } = await runHistories(world, seeds)
      trial.count('histories', AT_A_TIME)
      trial.fault('differs from provider', JSON.stringify(wrong[0]), wrong.length)
      trial.fault('unprocessed', JSON.stringify(unhandled[0]), unhandled.length)
    }
    trial.count('webhooks dropped', stripe.dropped.length)
  },
}
