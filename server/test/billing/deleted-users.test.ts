import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { tablesWith } from '../harness/dump.ts'
import { schemaOfUser } from '../harness/one-cell.ts'
import { onCluster } from '../harness/one-server.ts'
import { dumpOfRest } from '../privacy/dump-of-rest.ts'
import { jobsDone } from './jobs-done.ts'
import { GOOD_CARD, openSandboxShop, type SandboxShop } from './sandbox-shop.ts'
import { serverWithStripe } from './server-with-stripe.ts'

// A user who pays is deleted: what the provider charges ends first, and what it reports later brings nobody back.

const SECRET = 'whsec_of_these_tests'
const DELETE = 'mutation ($id: String!) { deleteUser(id: $id) { id } }'

const { server, stripe } = serverWithStripe()
let shop: SandboxShop
let unregister: () => void
/** ann's, in this shop alone */
let email: string
beforeEach(async () => {
  shop = await openSandboxShop(server)
  email = `ann.of.${shop.id}@personal.example`
  await shop.dashboard.call('updateUser', { id: 'ann', input: { email } })
  unregister = stripe.register({ urls: [`${server.url}/webhooks/stripe/${shop.id}`], secret: SECRET })
})
afterEach(() => unregister())

async function sellAtStripe(): Promise<void> {
  await shop.useStripe(stripe, SECRET)
  for (const name of ['plan', 'pro']) {
    await shop.importPrice(name, stripe.sell({ name, amount: 1500, interval: 'month' }).id)
  }
}

const sessionOf = (url: string) => /cs_\w+/.exec(url)?.[0] ?? ''

async function heard(): Promise<void> {
  await stripe.deliver()
  await jobsDone(server.databaseUrl)
}

/** Pays for a template at Stripe; returns the ids of the session, subscription and customer there. */
async function buy(template: string, userId: string | null) {
  const { id, subscription, customer } = stripe.pay(sessionOf(await shop.link(template, userId)), {
    email: 'pat@personal.example',
    name: 'Patience Personal',
  })
  await heard()
  return { session: id, subscription: String(subscription), customer: String(customer) }
}

const found = async (...texts: string[]) => {
  const rows = await dumpOfRest(server.databaseUrl)
  return texts.flatMap((text) => tablesWith(rows, text))
}

const userIds = async () => (await shop.admin.data('{ users { id } }')).users.map(({ id }: Data) => id)

describe('gap: deleteUser, of a user who pays', () => {
  it('ends subscriptions and links at the provider first; what is told later is not stored', async () => {
    await sellAtStripe()
    const { subscription, customer } = await buy('plan', 'ann')
    const open = sessionOf(await shop.link('pro'))
    await shop.admin.data(DELETE, { id: 'ann' })
    expect(stripe.world.subscription(subscription).status).toBe('canceled')
    expect(stripe.world.session(open).status).toBe('expired')
    expect(stripe.waiting.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['customer.subscription.deleted', 'checkout.session.expired']),
    )
    await heard()
    stripe.updateCustomer(customer, { email: 'pat@elsewhere.example' })
    await heard()
    expect(stripe.attempts.every(({ status }) => status === 200)).toBe(true)
    const kept = await shop.notices('type')
    expect(kept.filter(({ type }) => !/^(product|price)/.test(type))).toEqual([])
    expect(await userIds()).toEqual([])
    expect(await found(customer, subscription, open, email, 'pat@elsewhere.example')).toEqual([])
  })

  it('does not bring back a payer who became a user by paying, however often it is told of', async () => {
    await sellAtStripe()
    const { session, subscription, customer } = await buy('plan', null)
    expect(await userIds()).toEqual(['ann', customer])
    const told = await rowsOf<{ payload: string }>(
      { connectionString: server.databaseUrl },
      'select payload::text from notice where app_id = $1',
      [shop.id],
    )
    await shop.admin.data(DELETE, { id: customer })
    expect(told.length).toBeGreaterThan(0)
    for (const event of stripe.events.slice(-told.length)) stripe.world.onEvent?.(event)
    await heard()
    await shop.dashboard.data(`mutation { reconcileBilling(appId: "${shop.id}") }`).catch(() => {})
    for (const [job, ref] of [
      ['sync-subscription', subscription],
      ['sync-checkout', session],
    ]) {
      await rowsOf({ connectionString: server.databaseUrl }, 'select graphile_worker.add_job($1, $2::json)', [
        job,
        JSON.stringify({ appId: shop.id, provider: 'stripe', ref }),
      ])
    }
    await jobsDone(server.databaseUrl)
    expect(await userIds()).toEqual(['ann'])
    expect(await found(customer, 'pat@personal.example', 'Patience Personal')).toEqual([])

    // Somebody who is given that customer on purpose is a user like any other.
    await shop.admin.data(`mutation { createUser(input: { id: "pat", billingId: "${customer}" }) { id } }`)
    await buy('pro', 'pat')
    expect(await shop.subscriptions('pat')).toEqual(['pro ACTIVE'])
  })

  it('does not bring back such a payer whose notices are gone already', async () => {
    await sellAtStripe()
    const { session, subscription, customer } = await buy('plan', null)
    const sql = (text: string, values: unknown[]) =>
      rowsOf({ connectionString: server.databaseUrl }, text, values)
    // Then nothing here says which link was paid.
    await sql('delete from notice where app_id = $1', [shop.id])
    await shop.admin.data(DELETE, { id: customer })
    for (const [job, ref] of [
      ['sync-subscription', subscription],
      ['sync-checkout', session],
    ]) {
      const told = JSON.stringify({ appId: shop.id, provider: 'stripe', ref })
      await sql('select graphile_worker.add_job($1, $2::json)', [job, told])
    }
    await jobsDone(server.databaseUrl)
    expect(await userIds()).toEqual(['ann'])
  })

  it('erases nothing while the provider cannot be asked, and says so', async () => {
    await sellAtStripe()
    const { subscription } = await buy('plan', 'ann')
    const keyed = shop.admin.with({ 'Idempotency-Key': 'a deletion' })
    stripe.fail({ outage: { kind: 'broken' } })
    const error = await keyed.error(DELETE, { id: 'ann' })
    stripe.fail(null)
    expect(error.extensions.code).toBe('BILLING_PROVIDER_ERROR')
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
    expect(stripe.world.subscription(subscription).status).toBe('active')
    await keyed.data(DELETE, { id: 'ann' })
    expect(await userIds()).toEqual([])
    expect(stripe.world.subscription(subscription).status).toBe('canceled')
  })

  it.skipIf(onCluster)(
    'does the rest when it is repeated after it died between the provider and here',
    async () => {
      await shop.buy('plan')
      const holder = new pg.Client(server.databaseUrl)
      await holder.connect()
      await holder.query('begin')
      const schema = await schemaOfUser(server.databaseUrl, shop.id, 'ann')
      await holder.query(`select from ${schema}.users where app_id = $1 for update`, [shop.id])
      const asked = shop.admin.ask(DELETE, { id: 'ann' })
      const waiting = async () =>
        (
          await rowsOf<{ pid: number }>(
            { connectionString: server.databaseUrl },
            `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%former_ids%for update'`,
          )
        )[0]?.pid
      let pid = await waiting()
      while (pid === undefined) {
        await delay(10)
        pid = await waiting()
      }
      // What PostgreSQL does with the transaction of a process that was killed.
      await holder.query('select pg_terminate_backend($1::int)', [pid])
      expect((await asked).errors).toHaveLength(1)
      await holder.query('rollback')
      await holder.end()
      await jobsDone(server.databaseUrl)
      // Access without a charge at most: the provider's notice has ended it here too.
      expect(await shop.subscriptions()).toEqual(['plan CANCELLED'])
      expect((await shop.admin.data('{ user(id: "ann") { email } }')).user).toEqual({ email })
      await shop.admin.data(DELETE, { id: 'ann' })
      expect(await found(email)).toEqual([])
    },
  )

  it('leaves nothing behind when everything happens at once', async () => {
    const people = Array.from({ length: 8 }, (_, i) => ({
      id: `racer-${i}-x`,
      email: `racer-${i}@personal.example`,
    }))
    const deleted = await Promise.all(
      people.map(async ({ id, email }) => {
        const { admin } = shop
        await admin.call('createUser', { input: { id, email } })
        const bought = await shop.link('plan', id)
        const ask = (text: string) => admin.ask(`mutation { ${text} }`)
        const asked = [
          shop.submit(bought, { ...GOOD_CARD, email, name: id }),
          ask(`recordUsage(input: { userId: "${id}", featureId: "call", delta: 1 }) { recorded }`),
          ask(`subscribe(userId: "${id}", packageIds: ["pro"]) { id }`),
          ask(`updateUser(id: "${id}", input: { name: "${id} again" }) { id }`),
          shop.link('pro', id).catch(() => null),
          delay(Math.random() * 20).then(() => admin.ask(DELETE, { id })),
          ask(`recordUsage(input: { userId: "${id}", featureId: "call", delta: 1 }) { recorded }`),
          shop.dashboard.ask(
            `mutation { recordUsage(appId: "${shop.id}", input: { userId: "${id}", featureId: "call", delta: 1 }) { recorded } }`,
          ),
          shop.link('pro', id).catch(() => null),
        ] as const
        await Promise.all(asked)
        return (await asked[5]).data?.deleteUser
      }),
    )
    expect(deleted).toEqual(people.map(({ id }) => ({ id })))
    await jobsDone(server.databaseUrl)
    await shop.dashboard.data(`{ latestEvents(appId: "${shop.id}") { text } }`)
    expect(await found(...people.flatMap(({ id, email }) => [id, email]))).toEqual([])
    const live = await rowsOf(
      { connectionString: server.databaseUrl },
      `select from sandbox_subscription where app_id = $1 and status <> 'canceled'`,
      [shop.id],
    )
    expect(live).toEqual([])
  })
})

describe('gap: deleteUser, of ids that were used before', () => {
  it('erases what was written under a former id, and nothing of the user who has that id now', async () => {
    const { admin, dashboard, id: appId } = shop
    const audited = async () =>
      (await dashboard.data(`{ auditLog(appId: "${appId}") { rows { sentence } } }`)).auditLog.rows
        .map(({ sentence }: Data) => sentence)
        .filter((sentence: string) => /user/.test(sentence))
    const update = (id: string, input: string) =>
      dashboard.data(`mutation { updateUser(appId: "${appId}", id: "${id}", input: { ${input} }) { id } }`)
    await update('ann', 'name: "First Ann"')
    await update('ann', 'id: "anna"')
    // Another millisecond, so that the two are told apart.
    await delay(5)
    await dashboard.call('createUser', { input: { id: 'ann', name: 'Second Ann' } })
    await admin.data(DELETE, { id: 'anna' })
    expect(await found('First Ann', '"anna"')).toEqual([])
    expect(await audited()).toEqual([
      'deleted a user',
      'created the user Second Ann',
      'changed the user (deleted)',
      'changed the user (deleted)',
      'changed the user (deleted)',
      'created the user (deleted)',
    ])
    expect((await admin.data('{ user(id: "ann") { name } }')).user).toEqual({ name: 'Second Ann' })
  })
})
