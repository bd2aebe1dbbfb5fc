import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import { openServers, type Servers } from '../harness/servers.ts'
import { type StripeStandIn, startStripe } from '../stripe/stand-in.ts'
import { History, type Payer } from './history.ts'
import { type Held, truthOf } from './provider-truth.ts'
import { linksBy, NOTICES, openShop, type StripeShop } from './stripe-shop.ts'

/** A thousand take a minute or two by themselves: for whoever changes billing. */
const HISTORIES = Number(process.env.TOLLGATE_HISTORIES ?? 300)
const ROUNDS = 3
const AT_ONCE = 16
const SECRET = 'whsec_of_the_histories'
const HOURS = 3600
const POLL_MS = 250
const POLLS = 1_000
/** As an app has it that was told nothing else. */
const GRACE_DAYS = 7

let stripe: StripeStandIn
let servers: Servers
let shop: StripeShop

beforeAll(async () => {
  // Hours ago: every step takes a second there, and none may lie ahead of our own time.
  stripe = await startStripe({ now: Math.floor(Date.now() / 1000) - 24 * HOURS })
  servers = await openServers(2, {
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_WEBHOOK_SECRET: SECRET,
    STRIPE_API_BASE: stripe.url,
  })
  shop = await openShop(servers.app, stripe)
  const urls = [0, 1].map((process) => `${servers.url(process)}/webhooks/stripe/default`)
  stripe.register({ urls, secret: SECRET, types: NOTICES })
})

afterAll(async () => {
  await servers?.close()
  await stripe?.stop()
})

/** Each of these, a few at once. */
async function each<Thing>(things: readonly Thing[], act: (thing: Thing) => Promise<void>): Promise<void> {
  const queue = [...things]
  const work = async () => {
    for (let thing = queue.shift(); thing !== undefined; thing = queue.shift()) await act(thing)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** Until nothing is left to do now; what failed and is to be tried later may wait. */
async function idle(): Promise<void> {
  for (let polls = 0; polls < POLLS; polls += 1) {
    const due = await rowsOf(
      { connectionString: servers.database.url },
      `select task_identifier, attempts, last_error from graphile_worker.jobs
       where run_at <= now() and attempts < max_attempts limit 5`,
    )
    if (due.length === 0) return
    if (polls === POLLS - 1) throw new Error(`work is left: ${JSON.stringify(due)}`)
    await delay(POLL_MS)
  }
}

/** Lost notices are found, and what we did about them at the provider comes back as notices. */
async function reconcile(): Promise<void> {
  await servers.app.dashboard.data('mutation { reconcileBilling(appId: "default") }')
  await idle()
  while (stripe.waiting.length > 0) {
    const { length } = stripe.attempts
    await stripe.deliver({ atOnce: AT_ONCE })
    expect(stripe.attempts.slice(length).filter(({ status }) => status !== 200)).toEqual([])
    await idle()
  }
}

async function heldByUser(): Promise<Map<string, Held[]>> {
  const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const rows = await rowsOf<{ user: string; held: Held[] }>(
    { connectionString: servers.database.url },
    `select u.id as user, json_agg(json_build_object('packageId', s.package_id, 'anchor', ${iso('s.anchor')},
       'cancelAt', ${iso('s.cancel_at')}) order by s.package_id) as held
     from subscription s join users u on u.app_id = s.app_id and u.uid = s.user_uid
     where s.app_id = 'default' and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > now())
     group by u.id`,
  )
  return new Map(rows.map(({ user, held }) => [user, held]))
}

/** Somebody who was no user is one by the name of the customer that paid. */
function userOf({ userId, sessions }: Payer): string {
  return userId ?? String(sessions.map((id) => stripe.world.session(id).customer)[0])
}

describe('gap: billing, notices that come late, twice, in any order or never', () => {
  it(`end as the provider has it, in ${HISTORIES} histories over two processes`, async () => {
    const link = linksBy(servers.admin)
    const histories = Array.from({ length: HISTORIES }, (_, seed) => new History(seed, stripe, shop, link))
    const users = histories.flatMap(({ payers }) => payers.flatMap(({ userId }) => userId ?? []))
    await rowsOf(
      { connectionString: servers.database.url },
      `insert into users (app_id, id, metadata) select 'default', id, '{}' from unnest($1::text[]) as id`,
      [users],
    )

    for (let round = 0; round < ROUNDS; round += 1) {
      await each(histories, (history) => (round === 0 ? history.begin() : history.goOn()))
      await stripe.deliver({ copies: [1, 5], shuffle: true, delay: 0.15, drop: 0.15, atOnce: AT_ONCE })
    }
    await idle()
    await reconcile()

    const held = await heldByUser()
    const wrong = histories.flatMap(({ seed, steps, payers }) =>
      payers.flatMap((payer) => {
        const user = userOf(payer)
        const ours = held.get(user) ?? []
        const theirs = truthOf(stripe.world, payer.sessions, shop.soldBy, GRACE_DAYS)
        return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : [{ seed, steps, user, ours, theirs }]
      }),
    )
    expect(wrong.slice(0, 5)).toEqual([])
    const unhandled = await rowsOf(
      { connectionString: servers.database.url },
      `select type, state, last_error from notice where state <> 'DONE' and last_error !~ 'no live base plan' limit 5`,
    )
    expect(unhandled).toEqual([])
    // It was not quiet: notices were lost, came again, and most who paid have something.
    expect(stripe.dropped.length).toBeGreaterThan(HISTORIES / 2)
    expect(held.size).toBeGreaterThan(HISTORIES / 2)
  }, 600_000)
})
