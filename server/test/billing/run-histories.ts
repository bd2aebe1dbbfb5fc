import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '../harness/client.ts'
import type { StripeStandIn } from '../stripe/stand-in.ts'
import { History, type Payer } from './history.ts'
import { type Held, truthOf } from './provider-truth.ts'
import { linksBy, type StripeShop } from './stripe-shop.ts'

const ROUNDS = 3
const AT_ONCE = 16
const POLL_MS = 100
const PATIENCE_MS = 250_000
/** As an app has it that was told nothing else. */
const GRACE_DAYS = 7

/** Two processes of the service, and the Stripe whose notices they get. */
export interface PayingWorld {
  stripe: StripeStandIn
  shop: StripeShop
  /** the Admin API, as the process with this number serves it */
  admin(process: number): Client
  dashboard: Client
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>
}

export interface HistoriesOutcome {
  /** who has something else than the provider says, with what led there */
  wrong: { seed: number; steps: string[]; user: string; ours: Held[]; theirs: Held[] }[]
  /** notices that came to nothing, and those that were refused when they came again */
  unhandled: unknown[]
  /** how many users have something */
  holding: number
}

/**
 * What these seeds make happen to payers at Stripe, while its notices come late, twice, in any order or never; once
 * all is quiet, what we hold is compared with what Stripe says.
 */
export async function runHistories(world: PayingWorld, seeds: readonly number[]): Promise<HistoriesOutcome> {
  const { stripe, shop, sql } = world
  const link = linksBy(world.admin)
  const histories = seeds.map((seed) => new History(seed, stripe, shop, link))
  const users = histories.flatMap(({ payers }) => payers.flatMap(({ userId }) => userId ?? []))
  await sql(
    `insert into users (app_id, id, metadata) select 'default', id, '{}' from unnest($1::text[]) as id`,
    [users],
  )
  for (let round = 0; round < ROUNDS; round += 1) {
    await each(histories, (history) => (round === 0 ? history.begin() : history.goOn()))
    await stripe.deliver({ copies: [1, 5], shuffle: true, delay: 0.15, drop: 0.15, atOnce: AT_ONCE })
  }
  await idle(world)
  const refused = await reconcile(world)

  const held = await heldByUser(world)
  const wrong = histories.flatMap(({ seed, steps, payers }) =>
    payers.flatMap((payer) => {
      const user = userOf(stripe, payer)
      const ours = held.get(user) ?? []
      const theirs = truthOf(stripe.world, payer.sessions, shop.soldBy, GRACE_DAYS)
      return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : [{ seed, steps, user, ours, theirs }]
    }),
  )
  const failed = await sql(
    `select type, state, last_error from notice where state <> 'DONE' and last_error !~ 'no live base plan' limit 5`,
  )
  return { wrong, unhandled: [...refused, ...failed], holding: held.size }
}

/** Each of these, a few at once. */
async function each<Thing>(things: readonly Thing[], act: (thing: Thing) => Promise<void>): Promise<void> {
  const queue = [...things]
  const work = async () => {
    for (let thing = queue.shift(); thing !== undefined; thing = queue.shift()) await act(thing)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** Until nothing is left to do now; what failed and is to be tried later may wait. */
async function idle({ sql }: PayingWorld): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    const due = await sql(
      `select task_identifier, attempts, last_error from graphile_worker.jobs
       where run_at <= now() and attempts < max_attempts limit 5`,
    )
    if (due.length === 0) return
    if (performance.now() > until) throw new Error(`work is left: ${JSON.stringify(due)}`)
    await delay(POLL_MS)
  }
}

/** Lost notices are found, and what we did about them at the provider comes back as notices. Returns those refused. */
async function reconcile(world: PayingWorld): Promise<unknown[]> {
  const { stripe, dashboard } = world
  const before = stripe.attempts.length
  await dashboard.data('mutation { reconcileBilling(appId: "default") }')
  await idle(world)
  while (stripe.waiting.length > 0) {
    await stripe.deliver({ atOnce: AT_ONCE })
    await idle(world)
  }
  return stripe.attempts.slice(before).filter(({ status }) => status !== 200)
}

async function heldByUser({ sql }: PayingWorld): Promise<Map<string, Held[]>> {
  const iso = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const rows = await sql<{ user: string; held: Held[] }>(
    `select u.id as user, json_agg(json_build_object('packageId', s.package_id, 'anchor', ${iso('s.anchor')},
       'cancelAt', ${iso('s.cancel_at')}) order by s.package_id) as held
     from subscription s join users u on u.app_id = s.app_id and u.uid = s.user_uid
     where s.app_id = 'default' and s.cancelled_at is null and (s.cancel_at is null or s.cancel_at > now())
     group by u.id`,
  )
  return new Map(rows.map(({ user, held }) => [user, held]))
}

/** Somebody who was no user is one by the name of the customer that paid. */
function userOf(stripe: StripeStandIn, { userId, sessions }: Payer): string {
  return userId ?? String(sessions.map((id) => stripe.world.session(id).customer)[0])
}
