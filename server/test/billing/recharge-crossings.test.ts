import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import { forEach } from '../harness/many.ts'
import { openServers, type Servers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'
import { jobsDone } from './jobs-done.ts'

// Many users fall below their thresholds at the same moment, each on two processes, while the provider loses answers and
// one process is killed: one charge and one credit each.

/** TOLLGATE_RECHARGE_USERS=1000 takes some minutes. */
const USERS = Number(process.env.TOLLGATE_RECHARGE_USERS ?? 300)
/** One in so many cards loses the first answer to its charge. */
const LOSES = 3
/** Users of one request. */
const TOGETHER = 20
/** From the first crossing on, on a busy machine. Jobs of a dead process are taken over within 15 s. */
const SETTLED_MS = 180_000
const PACK = { units: 100, amount: 500 }
const AT_FIRST = 10

const servers = shared(() => openServers(2))
const ids = Array.from({ length: USERS }, (_, i) => `u${i + 1}`)

/** Users with a few credits, a saved card, and a rule that has nothing to buy yet. */
async function furnish({ app, database, admin }: Servers): Promise<void> {
  const connection = { connectionString: database.url }
  await admin(0).data(
    'mutation { createFeature(input: { id: "call", name: "Calls", type: CONSUMABLE }) { id } }',
  )
  await app.dashboard.data(
    `mutation ($units: SafeInt!, $amount: SafeInt!) {
      createPrice(appId: "default", input: {
        id: "pack", amount: $amount, currency: "usd", credits: { featureId: "call", units: $units } }) { id }
    }`,
    PACK,
  )
  await rowsOf(
    connection,
    `insert into sandbox_customer (app_id, id, card)
     select 'default', 'cus_sandbox_u' || n, case when n % $2 = 0 then 'loses an answer' else 'pays' end
     from generate_series(1, $1::int) n`,
    [USERS, LOSES],
  )
  const halves = [0, 1].map((process) => ids.filter((_, i) => i % 2 === process))
  await Promise.all(
    halves.map(async (half, process) => {
      await forEach(
        admin(process),
        half,
        (id) => `createUser(input: { id: "${id}", billingId: "cus_sandbox_${id}" })`,
      )
      await forEach(
        admin(process),
        half,
        (id) => `addCredit(input: { userId: "${id}", featureId: "call", amount: ${AT_FIRST} })`,
      )
      await pages(half, (some) =>
        admin(process).data(
          each(
            some,
            (id) =>
              `setAutoRecharge(input: { userId: "${id}", featureId: "call", below: ${AT_FIRST}, upTo: 60, priceId: "pack" }) { state }`,
          ),
        ),
      )
    }),
  )
}

const each = (some: readonly string[], field: (id: string) => string): string =>
  `mutation { ${some.map((id) => `${id}: ${field(id)}`).join(' ')} }`

async function pages(all: readonly string[], work: (some: string[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < all.length; from += TOGETHER) await work(all.slice(from, from + TOGETHER))
}

const record = (id: string) =>
  `recordUsage(input: { userId: "${id}", featureId: "call", delta: 1 }) { recorded }`

/** All users at once, on one process. */
const crossAll = ({ admin }: Servers, process: number): Promise<PromiseSettledResult<unknown>[]> => {
  const requests = Array.from({ length: Math.ceil(USERS / TOGETHER) }, (_, i) =>
    ids.slice(i * TOGETHER, (i + 1) * TOGETHER),
  )
  return Promise.allSettled(requests.map((some) => admin(process).data(each(some, record))))
}

const ended = async (url: string): Promise<number> => {
  const [found] = await rowsOf<{ ended: string }>(
    { connectionString: url },
    `select count(*) as ended from recharge_attempt where state <> 'UNDER_WAY'`,
  )
  return Number(found?.ended)
}

/** Charges at the provider and bought credits of every user, as the tables have them: all that are not exactly one. */
const wrong = (url: string) =>
  rowsOf<{ id: string; charges: number; charged: number; credits: number; bought: number }>(
    { connectionString: url },
    `select u.id, c.charges, c.charged, k.credits, k.bought from users u,
       lateral (select count(*)::int as charges, coalesce(sum((items->0->>'amount')::int), 0)::int as charged
         from sandbox_checkout where app_id = u.app_id and customer_id = u.billing_id and state = 'paid') c,
       lateral (select count(*)::int as credits, coalesce(sum(amount), 0)::int as bought
         from credit where app_id = u.app_id and user_uid = u.uid and kind = 'PAID') k
     where (c.charges, c.charged, k.credits, k.bought) is distinct from (1, $1::int, 1, $2::int) order by u.id`,
    [PACK.amount, PACK.units],
  )

describe('gap: automatic recharges, crossed by many users on two processes', () => {
  it(`makes one charge and one credit for each of ${USERS}, though answers are lost and a process is killed`, async () => {
    const url = servers.database.url
    await furnish(servers)
    expect(await wrong(url)).toHaveLength(USERS)
    const began = performance.now()
    const crossings = [crossAll(servers, 0), crossAll(servers, 1)]
    while ((await ended(url)) < USERS / 5) await delay(20)
    const [, second] = servers.processes
    await second?.kill('SIGKILL')
    const inTheMiddle = await ended(url)
    expect(inTheMiddle).toBeLessThan(USERS)
    const [ofSurvivor = []] = await Promise.all(crossings)
    expect(ofSurvivor.filter(({ status }) => status === 'rejected')).toEqual([])
    while ((await ended(url)) < USERS) {
      expect(performance.now() - began, `${await ended(url)} charges have ended`).toBeLessThan(SETTLED_MS)
      await delay(100)
    }
    await jobsDone(url)
    expect(await wrong(url)).toEqual([])
  }, 300_000)

  it('would find a charge that was made twice, and a credit that is missing', async () => {
    const connection = { connectionString: servers.database.url }
    await rowsOf(
      connection,
      `insert into sandbox_checkout (app_id, id, session_id, customer_id, items, success_url, cancel_url, state, made_at, expires_at)
       select app_id, id || '_2', session_id || '_2', customer_id, items, '', '', state, made_at, expires_at
       from sandbox_checkout where customer_id = 'cus_sandbox_u1'`,
    )
    await rowsOf(
      connection,
      `delete from credit where kind = 'PAID' and user_uid = (select uid from users where id = 'u2')`,
    )
    expect(await wrong(servers.database.url)).toEqual([
      { id: 'u1', charges: 2, charged: 2 * PACK.amount, credits: 1, bought: PACK.units },
      { id: 'u2', charges: 1, charged: PACK.amount, credits: 0, bought: 0 },
    ])
  })
})
