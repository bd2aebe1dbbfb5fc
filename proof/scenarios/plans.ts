import { withClient } from '../../bench/postgres.ts'
import { Client, signedIn } from '../../server/test/harness/client.ts'
import { startStripe } from '../../server/test/stripe/stand-in.ts'
import { furnishRaces, type RacedWorld, raceOf } from '../../server/test/subscriptions/plan-races.ts'
import { Cluster } from '../harness/cluster.ts'
import { API_KEY, OWNER, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

/** Users whose races overlap: the notices of one come among the calls of another. */
const AT_ONCE = 2
const SECRET = 'whsec_of_the_proof'

/** How many users it may take until two changes meet without a lease. */
const LEAST_BROKEN = 30

export const plans: Scenario = {
  name: 'plans',
  what: '64 callers on two nodes concurrently subscribe, change, schedule, cancel, keep and start trials for one user, who meanwhile pays for a plan in the sandbox or at a Stripe stand-in; no answer may show two base plans, some serial order must explain every answer, and the provider must end up charging for exactly the subscriptions of the user',
  weight: 8,
  full: { users: 300 },
  faults: ['inconsistent'],
  breakage: {
    what: 'paid subscriptions are changed without a lease',
    sources: [
      {
        file: 'store/billing/provider-leases.ts',
        find: 'return rows[0]?.taken ?? null',
        replace: 'return true',
      },
      {
        file: 'store/billing/provider-leases.ts',
        find: 'return rows[0]?.held ?? null',
        replace: 'return true',
      },
      {
        file: 'store/billing/provider-leases.ts',
        find: 'return rowCount === 1',
        replace: 'return false',
      },
    ],
  },

  async run(trial: Trial) {
    const stripe = await startStripe({ deliverAtOnce: true, now: Math.floor(Date.now() / 1_000) - 60 })
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
    stripe.register({ urls: nodes.map(({ url }) => `${url}/webhooks/stripe/default`), secret: SECRET })
    const world: RacedWorld = {
      stripe,
      admin: (process) =>
        new Client(`${(nodes[process % 2] ?? nodes[0]).url}/graphql`, { Authorization: API_KEY }),
      sql: (text, values) =>
        withClient(databaseUrl, async (client) => (await client.query(text, values)).rows),
      random: () => trial.random.next(),
    }
    await furnishRaces(await signedIn(nodes[0].url, OWNER), world)
    let begun = 0
    const race = async () => {
      while (trial.goesOn('users', trial.breakage ? LEAST_BROKEN : 1)) {
        const number = begun++
        const provider = number % 2 === 0 ? 'stripe' : 'sandbox'
        const { calls, refused, busy, problem } = await raceOf(world, `user ${number}`, provider)
        trial.count('users')
        trial.count('calls', calls.length)
        trial.count('rejected', refused - busy)
        trial.count('asked to retry', busy)
        if (problem !== null)
          trial.fault('inconsistent', `user ${number}: ${problem.replaceAll(/\s+/g, ' ')}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, race))
  },
}
