import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import { openServers, type Servers } from '../harness/servers.ts'
import { type StripeStandIn, startStripe } from '../stripe/stand-in.ts'
import { type PayingWorld, runHistories } from './run-histories.ts'
import { NOTICES, openShop } from './stripe-shop.ts'

/** `npm run proof -- --only histories` runs thousands. */
const HISTORIES = Number(process.env.TOLLGATE_HISTORIES ?? 30)
const SECRET = 'whsec_of_the_histories'
const HOURS = 3600

let stripe: StripeStandIn
let servers: Servers
let world: PayingWorld

beforeAll(async () => {
  // Hours ago: every step takes a second there, and none may lie ahead of our own time.
  stripe = await startStripe({ now: Math.floor(Date.now() / 1000) - 24 * HOURS })
  servers = await openServers(2, {
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_WEBHOOK_SECRET: SECRET,
    STRIPE_API_BASE: stripe.url,
  })
  const { admin, app, database, url } = servers
  world = {
    stripe,
    shop: await openShop(app, stripe),
    admin,
    dashboard: app.dashboard,
    sql: (text, values) => rowsOf({ connectionString: database.url }, text, values) as Promise<never[]>,
  }
  const urls = [0, 1].map((process) => `${url(process)}/webhooks/stripe/default`)
  stripe.register({ urls, secret: SECRET, types: NOTICES })
})

afterAll(async () => {
  await servers?.close()
  await stripe?.stop()
})

describe('gap: billing, notices that come late, twice, in any order or never', () => {
  it(`end as the provider has it, in ${HISTORIES} histories over two processes`, async () => {
    const seeds = Array.from({ length: HISTORIES }, (_, seed) => seed)
    const { wrong, unhandled, holding } = await runHistories(world, seeds)
    expect(wrong.slice(0, 5)).toEqual([])
    expect(unhandled).toEqual([])
    // It was not quiet: notices were lost, came again, and most who paid have something.
    expect(stripe.dropped.length).toBeGreaterThan(HISTORIES / 2)
    expect(holding).toBeGreaterThan(HISTORIES / 2)
  }, 600_000)
})
