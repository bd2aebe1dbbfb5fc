import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../harness/database.ts'
import { MASTER_KEY_SETTINGS, startTestServer, type TestServer } from '../harness/server.ts'
import { pick, type Random, seeded } from '../stripe/random.ts'
import { type StripeStandIn, startStripe } from '../stripe/stand-in.ts'
import { jobsDone } from './jobs-done.ts'
import { GOOD_CARD, openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

// Invariants, at both providers: every payment comes to exactly one subscription, if only one that has ended, or to
// exactly one notice that is FAILED and says why. The base plan that was paid last is the one that lives.

const SECRET = 'whsec_of_the_payments'
const PLANS = ['plan', 'pro', 'life']

let server: TestServer
let stripe: StripeStandIn
let shop: SandboxShop
let unregister = () => {}
beforeAll(async () => {
  // Hours ago: no step there may lie ahead of our own time.
  stripe = await startStripe({ now: Math.floor(Date.now() / 1000) - 24 * 3600 })
  server = await startTestServer({ env: { ...MASTER_KEY_SETTINGS, STRIPE_API_BASE: stripe.url } })
})
afterAll(async () => {
  await server?.stop()
  await stripe?.stop()
})
afterEach(() => unregister())

const sessionOf = (url: string) => /cs_\w+/.exec(url)?.[0] ?? ''

/** The shop's packages at Stripe too; their newest prices are Stripe's from then on. */
async function sellAtStripe(): Promise<void> {
  await shop.useStripe(stripe, SECRET)
  for (const name of ['plan', 'pro', 'extra', 'life']) {
    const price = stripe.sell({ name, amount: 1500, interval: name === 'life' ? null : 'month' })
    await shop.importPrice(name, price.id)
  }
  unregister = stripe.register({ urls: [`${server.url}/webhooks/stripe/${shop.id}`], secret: SECRET })
}

interface Provider {
  name: string
  open(): Promise<void>
  /** Pays a link; answers what the provider calls what was paid. */
  pay(link: string): Promise<string>
  /** Lets the notices come: in their order, or as badly as can be, with what was lost found afterwards. */
  heard(badly?: boolean): Promise<void>
}

const PROVIDERS: Provider[] = [
  {
    name: 'sandbox',
    open: async () => {},
    async pay(link) {
      const { status } = await shop.submit(link, GOOD_CARD)
      expect(status).toBe(303)
      const id = link.split('/').at(-1)
      const [paid] = await rowsOf<{ ref: string }>(
        { connectionString: server.databaseUrl },
        'select coalesce(subscription_id, id) as ref from sandbox_checkout where id = $1',
        [id],
      )
      return paid?.ref ?? ''
    },
    heard: () => jobsDone(server.databaseUrl),
  },
  {
    name: 'stripe',
    open: sellAtStripe,
    async pay(link) {
      stripe.world.setClock(stripe.world.now + 1)
      const { id, subscription } = stripe.pay(sessionOf(link), { email: 'pat@example.com' })
      return typeof subscription === 'string' ? subscription : id
    },
    async heard(badly = false) {
      await stripe.deliver(badly ? { copies: [1, 3], shuffle: true, drop: 0.3 } : {})
      await jobsDone(server.databaseUrl)
      if (!badly) return
      await shop.dashboard.data(`mutation { reconcileBilling(appId: "${shop.id}") }`)
      await jobsDone(server.databaseUrl)
      while (stripe.waiting.length > 0) {
        await stripe.deliver()
        await jobsDone(server.databaseUrl)
      }
    },
  },
]

/** What each payment has come to: how many subscriptions, and how many notices that say why not. */
const outcomesOf = (refs: string[]) =>
  rowsOf<{ ref: string; given: number; failed: number }>(
    { connectionString: server.databaseUrl },
    `select ref,
       (select count(*)::int from subscription where app_id = $1 and provider_ref = ref) as given,
       (select count(*)::int from notice where app_id = $1 and payment_ref = ref and state = 'FAILED'
         and last_error ~ 'Refund it') as failed
     from unnest($2::text[]) as ref`,
    [shop.id, refs],
  )

const failed = async () => (await shop.notices()).filter(({ state }) => state === 'FAILED')
const unfinished = async () => (await shop.notices()).filter(({ state }) => state === 'PENDING')

describe.each(PROVIDERS)('gap: billing, what was paid at $name', ({ open, pay, heard, name }) => {
  beforeEach(async () => {
    shop = await openSandboxShop(server)
    await open()
  })

  it('once replaces a plan paid before it, though its link is older', async () => {
    const [life, plan] = [await shop.link('life'), await shop.link('plan')]
    await pay(plan)
    await heard()
    await pay(life)
    await heard()
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'life ACTIVE'])
    expect(await failed()).toEqual([])
  })

  it('once counts from the payment on, not from the link', async () => {
    const life = await shop.link('life')
    const made = Date.now()
    if (name === 'stripe') stripe.world.setClock(stripe.world.now + 3600)
    await pay(life)
    await heard()
    const [row] = await rowsOf<{ anchor: Date; startedAt: Date }>(
      { connectionString: server.databaseUrl },
      'select anchor, started_at as "startedAt" from subscription where app_id = $1',
      [shop.id],
    )
    const expected = name === 'stripe' ? stripe.world.now * 1000 : made
    expect(Number(row?.anchor)).toBeGreaterThanOrEqual(expected)
    expect(row?.startedAt).toEqual(row?.anchor)
  })

  it.each(['older', 'newer'])('again, by the %s link, grants nothing and says so', async (which) => {
    const links = [await shop.link('life'), await shop.link('life')]
    if (which === 'older') links.reverse()
    await pay(links[0] ?? '')
    await heard()
    const again = await pay(links[1] ?? '')
    await heard()
    expect(await shop.subscriptions()).toEqual(['life ACTIVE'])
    const [notice, ...others] = await failed()
    expect(others).toEqual([])
    const paymentRef = name === 'stripe' ? String(stripe.world.session(again).payment_intent) : again
    const where = name === 'stripe' ? 'Stripe' : 'the sandbox'
    expect(notice?.lastError).toContain(`the payment ${paymentRef} had no effect. Refund it at ${where}`)
    expect(notice?.lastError).toContain('has already purchased "life"')

    // Replayed, it is still so; once the first is gone, the second is what was paid for.
    const replay = async () => {
      await shop.dashboard.data(`mutation { replayNotice(appId: "${shop.id}", id: "${notice?.id}") { id } }`)
      await heard()
    }
    await replay()
    expect(await failed()).toMatchObject([{ id: notice?.id }])
    const [held] = await shop.billed()
    await shop.cancel(held?.id, false)
    await replay()
    expect(await failed()).toEqual([])
    expect(await shop.subscriptions()).toEqual(['life CANCELLED', 'life ACTIVE'])
  })

  it('results in one subscription or one reason, in whatever order', async () => {
    const random: Random = seeded(name === 'stripe' ? 11 : 7)
    const users = Array.from({ length: 8 }, (_, i) => `payer-${i}`)
    await rowsOf(
      { connectionString: server.databaseUrl },
      `insert into users (app_id, id, metadata) select $1, id, '{}' from unnest($2::text[]) as id`,
      [shop.id, users],
    )
    const last = new Map<string, string>()
    // Before anything is paid, every link may be made. One of them pays twice for the same, and for nothing else.
    const wanted = users.flatMap((user) =>
      Array.from({ length: random() < 0.5 ? 3 : 4 }, () => ({
        user,
        plan: user === users[0] ? 'life' : pick(random, PLANS),
      })),
    )
    const links = await Promise.all(
      wanted.map(async (one) => ({ ...one, link: await shop.link(one.plan, one.user) })),
    )
    const payments: { ref: string; plan: string; user: string }[] = []
    while (links.length > 0) {
      const [next] = links.splice(Math.floor(random() * links.length), 1)
      if (!next) break
      payments.push({ ...next, ref: await pay(next.link) })
      last.set(next.user, next.plan)
    }
    await heard(true)

    const outcomes = await outcomesOf(payments.map(({ ref }) => ref))
    expect(outcomes.filter(({ given, failed }) => given + failed !== 1)).toEqual([])
    const given = outcomes.filter((one) => one.given === 1).length
    expect(given).toBeGreaterThan(users.length)
    expect(given).toBeLessThan(payments.length)
    const live = await Promise.all(users.map((user) => shop.subscriptions(user)))
    for (const [i, user] of users.entries()) {
      expect(live[i]?.filter((s) => s.endsWith(' ACTIVE'))).toEqual([`${last.get(user)} ACTIVE`])
    }
    expect(await unfinished()).toEqual([])
  }, 180_000)
})

describe('gap: billing, what was paid without a notice', () => {
  it('is in the inbox all the same if it grants nothing, and can be replayed', async () => {
    shop = await openSandboxShop(server)
    await sellAtStripe()
    const links = [await shop.link('life'), await shop.link('life')]
    for (const link of links) stripe.pay(sessionOf(link), { email: 'pat@example.com' })
    await stripe.deliver({ drop: 1 })
    await shop.dashboard.data(`mutation { reconcileBilling(appId: "${shop.id}") }`)
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual(['life ACTIVE'])
    expect(await shop.notices('type state lastError')).toEqual([
      {
        type: 'checkout.session.reconciled',
        state: 'FAILED',
        lastError: expect.stringContaining('Refund it'),
      },
    ])
    await shop.dashboard.data(`mutation { replayFailedNotices(appId: "${shop.id}") }`)
    await jobsDone(server.databaseUrl)
    expect(await shop.notices('type state')).toEqual([
      { type: 'checkout.session.reconciled', state: 'FAILED' },
    ])
  })
})

describe('gap: billing, an app with a test clock that stands still', () => {
  it('knows all the same which of two payments came later', async () => {
    shop = await openSandboxShop(server, { testClock: true })
    for (let round = 0; round < 4; round++) {
      const user = `u${round}`
      await shop.admin.data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', { id: user })
      const [life, plan] = [await shop.link('life', user), await shop.link('plan', user)]
      for (const link of [plan, life]) expect((await shop.submit(link, GOOD_CARD)).status).toBe(303)
      await jobsDone(server.databaseUrl)
      expect((await shop.subscriptions(user)).filter((s) => s.endsWith('ACTIVE'))).toEqual(['life ACTIVE'])
    }
  })
})

describe('gap: billing, from the sandbox to Stripe', () => {
  it('a payer of the sandbox pays at Stripe as a Stripe customer, and can go back', async () => {
    shop = await openSandboxShop(server)
    await shop.buy('plan')
    const billingId = async () => (await shop.admin.data('{ user(id: "ann") { billingId } }')).user.billingId
    expect(await billingId()).toMatch(/^cus_sandbox_/)
    await sellAtStripe()
    // From here on, Stripe's clock tells the same as ours.
    stripe.world.setClock(Math.floor(Date.now() / 1000) + 1)
    const session = stripe.pay(sessionOf(await shop.link('pro')), { email: 'pat@example.com' })
    await stripe.deliver()
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'pro ACTIVE'])
    expect(await billingId()).toBe(session.customer)

    // The way back is open.
    while (Date.now() <= stripe.world.now * 1000) await delay(20)
    await shop.price('plan', { amount: 1200, currency: 'usd', interval: 'month' })
    await shop.buy('plan')
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED', 'pro CANCELLED', 'plan ACTIVE'])
    expect(await billingId()).toBe(session.customer)
  })
})
