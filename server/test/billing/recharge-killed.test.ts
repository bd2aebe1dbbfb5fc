import { afterEach, describe, expect, it } from 'vitest'
import { signedIn } from '../harness/client.ts'
import { createDatabase } from '../harness/database.ts'
import {
  API_KEY,
  adminClient,
  MASTER_KEY_SETTINGS,
  OWNER,
  OWNER_SETTINGS,
  type ServerProcess,
  spawnServer,
} from '../harness/server.ts'
import { startStripe } from '../stripe/stand-in.ts'
import { CANCEL, SUCCESS } from './sandbox-shop.ts'

// The user is deleted while Stripe charges, and the process dies before it can find out.

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('gap: an automatic recharge of a user who is deleted meanwhile', () => {
  it('is refunded once by the process that takes over', async () => {
    const database = await createDatabase()
    cleanups.push(database.drop)
    const stripe = await startStripe()
    cleanups.push(() => stripe.stop())
    const start = async (): Promise<ServerProcess> => {
      const server = await spawnServer({
        ...OWNER_SETTINGS,
        ...MASTER_KEY_SETTINGS,
        DATABASE_URL: database.url,
        STRIPE_API_BASE: stripe.url,
        TOLLGATE_LOG_LEVEL: 'fatal',
      })
      cleanups.push(() => server.kill('SIGKILL'))
      return server
    }
    const first = await start()
    const admin = adminClient(first.url, API_KEY)
    const dashboard = await signedIn(first.url, OWNER)
    const priceId = stripe.sell({ name: 'Calls', amount: 500, interval: null }).id
    await admin.data(`mutation {
      createFeature(input: { id: "call", name: "Calls", type: CONSUMABLE }) { id }
      createUser(input: { id: "payer" }) { id }
    }`)
    await dashboard.data(
      `mutation ($input: ProviderAccountInput!, $priceId: String!) {
        setProviderAccount(appId: "default", provider: "stripe", input: $input) { provider }
        importPrice(appId: "default", provider: "stripe", id: $priceId, credits: { featureId: "call", units: 100 }) { id }
      }`,
      { input: { secretKey: stripe.key, webhookSecret: 'whsec_of_these_tests' }, priceId },
    )
    const { generateCreditLink } = await admin.data(
      `mutation ($priceId: String!) { generateCreditLink(userId: "payer", priceId: $priceId, saveCard: true,
        successUrl: "${SUCCESS}", cancelUrl: "${CANCEL}") { url } }`,
      { priceId },
    )
    const customer = String(stripe.pay(/cs_\w+/.exec(generateCreditLink.url)?.[0] ?? '').customer)
    await admin.data('mutation ($id: String!) { createUser(input: { id: "ann", billingId: $id }) { id } }', {
      id: customer,
    })
    let isDead = false
    stripe.fail({
      outage: {
        kind: 'overtaken',
        by: async () => {
          await admin.data('mutation { deleteUser(id: "ann") { id } }')
          await first.kill('SIGKILL')
          isDead = true
        },
      },
      method: 'POST',
      path: /payment_intents/,
      times: 1,
    })
    await admin.data(
      `mutation ($priceId: String!) { setAutoRecharge(input: {
        userId: "ann", featureId: "call", below: 150, upTo: 350, priceId: $priceId }) { state } }`,
      { priceId },
    )
    await expect.poll(() => isDead, { timeout: 30_000 }).toBe(true)
    const charges = () =>
      [...stripe.world.paymentIntents.values()].filter(({ metadata }) => metadata.tollgate_recharge)
    const refunds = () => [...stripe.world.refunds.values()].map(({ amount }) => amount)
    expect(charges()).toMatchObject([{ customer, status: 'succeeded', amount: 2000 }])
    expect(refunds()).toEqual([])
    await start()
    await expect.poll(refunds, { timeout: 60_000 }).toEqual([2000])
    expect(charges()).toHaveLength(1)
  }, 180_000)
})
