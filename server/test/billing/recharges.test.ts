import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Data, Variables } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { Customers } from './customers.ts'
import { jobsDone } from './jobs-done.ts'
import {
  CANCEL,
  FAILING_CARD,
  GOOD_CARD,
  openSandboxShop,
  type SandboxShop,
  SUCCESS,
} from './sandbox-shop.ts'

// Invariants: one charge under way per user and feature; a credit exists once it is paid; a card that was declined is not
// charged again before the wait is over.

const STOLEN_CARD = { ...GOOD_CARD, number: '4000 0000 0000 9979' }
const LOSING_CARD = { ...GOOD_CARD, number: '4000 0000 0000 0119' }

const LINK = `mutation ($userId: String!, $saveCard: Boolean!) {
  generateCreditLink(userId: $userId, priceId: "pack", saveCard: $saveCard, successUrl: "${SUCCESS}", cancelUrl: "${CANCEL}") { url }
}`
const SET = `mutation ($input: AutoRechargeInput!) {
  setAutoRecharge(input: $input) { state below upTo priceId maxSpendPerPeriod spent declines waitsUntil reason }
}`

const server = shared(startTestServer)
let shop: SandboxShop
let customers: Customers

beforeAll(async () => {
  shop = await openSandboxShop(server, { testClock: true })
  customers = new Customers(shop, server.databaseUrl)
  for (const [id, featureId] of [
    ['pack', 'call'],
    ['archived', 'call'],
  ])
    await shop.dashboard.call('createPrice', {
      input: { id, amount: 500, currency: 'usd', credits: { featureId, units: 100 } },
    })
  await shop.dashboard.call('archivePrice', { provider: 'sandbox', id: 'archived', archived: true })
})
beforeEach(() => customers.next())

const rule = (more: Variables = {}) => ({
  ...{ userId: customers.user, featureId: 'call', below: 50, upTo: 250, priceId: 'pack' },
  ...more,
})
const set = async (more: Variables = {}): Promise<Data> =>
  (await shop.admin.data(SET, { input: rule(more) })).setAutoRecharge
const now = async (): Promise<Data> =>
  (
    await shop.admin.call('autoRecharges { state declines waitsUntil reason spent }', {
      userId: customers.user,
    })
  )[0]
const amounts = async (): Promise<number[]> =>
  (await shop.admin.call('credits { amount }', { userId: customers.user })).map(({ amount }: Data) => amount)
const record = (delta: number): Promise<Data> =>
  shop.admin.call('recordUsage { recorded }', { input: { userId: customers.user, featureId: 'call', delta } })
const attempts = () =>
  rowsOf<{ state: string; amount: string }>(
    { connectionString: server.databaseUrl },
    `select a.state, a.amount from recharge_attempt a join users u on u.app_id = a.app_id and u.uid = a.user_uid
     where u.app_id = $1 and u.id = $2 order by a.started_at, a.session_id`,
    [shop.id, customers.user],
  )

/** Buys a pack by a payment link, and has the card saved. */
async function saveCard(card = GOOD_CARD, saved = true): Promise<void> {
  const { url } = (await shop.admin.data(LINK, { userId: customers.user, saveCard: saved }))
    .generateCreditLink
  const page = await (await fetch(url)).text()
  expect(page.includes('The card is saved for later charges.')).toBe(saved)
  await shop.submit(url, { ...card, email: 'a@example.com', name: '' })
  await jobsDone(server.databaseUrl)
}

/** Waits for a charge that is under way. */
const charged = async (): Promise<Data> => {
  await expect.poll(async () => (await now()).state, { timeout: 20_000 }).not.toBe('CHARGING')
  await jobsDone(server.databaseUrl)
  return now()
}
const crossed = (count: number) =>
  expect.poll(async () => (await attempts()).length, { timeout: 20_000 }).toBe(count)

/** Moves the app's clock by hours. */
let clock = Date.parse('2090-01-01T00:00:00Z')
async function later(hours: number): Promise<void> {
  clock += hours * 3_600_000
  await shop.advance(new Date(clock).toISOString())
}

describe('gap: an automatic recharge', () => {
  it('charges at once below the threshold, in whole packs, and adds one credit once it is paid', async () => {
    await saveCard()
    await record(100)
    expect(await set()).toMatchObject({ state: 'CHARGING', spent: 1500, reason: null })
    expect(await charged()).toMatchObject({ state: 'ON', spent: 1500 })
    expect(await amounts()).toEqual([100, 300])
    const payments = await shop.dashboard.call('userPayments { rows { amount state } }', {
      userId: customers.user,
    })
    expect(payments.rows.map(({ amount }: Data) => amount).sort()).toEqual([1500, 500])
  })

  it('charges when the balance falls below the threshold, and not before', async () => {
    await saveCard()
    expect(await set({ upTo: 100 })).toMatchObject({ state: 'ON', spent: 0 })
    await record(50)
    await record(1)
    await crossed(1)
    await charged()
    expect(await amounts()).toEqual([100, 100])
    expect(await attempts()).toMatchObject([{ state: 'PAID', amount: 500 }])
  })

  it('charges once for many crossings at the same moment', async () => {
    await saveCard()
    await set()
    await Promise.all(Array.from({ length: 60 }, () => record(1)))
    await crossed(1)
    await charged()
    expect(await amounts()).toEqual([100, 300])
  })

  it('charges once if the answer is lost', async () => {
    await saveCard(LOSING_CARD)
    await set()
    await record(60)
    await crossed(1)
    await charged()
    expect(await amounts()).toEqual([100, 300])
    const paid = await rowsOf(
      { connectionString: server.databaseUrl },
      `select c.id from sandbox_checkout c join recharge_attempt a on a.app_id = c.app_id and a.session_id = c.session_id
       join users u on u.app_id = a.app_id and u.uid = a.user_uid where u.app_id = $1 and u.id = $2`,
      [shop.id, customers.user],
    )
    expect(paid).toHaveLength(1)
  })

  it('waits an hour after a decline, then two, and turns off at the third', async () => {
    await later(1)
    await saveCard(FAILING_CARD)
    await record(100)
    await set()
    const first = await charged()
    expect(first).toMatchObject({ state: 'WAITING', declines: 1, spent: 0 })
    expect(first.waitsUntil).toBe(new Date(clock + 3_600_000).toISOString())
    expect(first.reason).toContain('insufficient funds')
    const failed = await shop.dashboard.call('userPayments { rows { amount state subscriptionId } }', {
      userId: customers.user,
    })
    expect(failed.rows).toContainEqual({ amount: 1500, state: 'FAILED', subscriptionId: null })
    // Setting it again is no way round the wait.
    expect(await set({ upTo: 300 })).toMatchObject({ state: 'WAITING', declines: 1 })
    await later(0.5)
    expect(await attempts()).toHaveLength(1)
    await later(0.5)
    await crossed(2)
    expect(await charged()).toMatchObject({ state: 'WAITING', declines: 2 })
    await later(2)
    await crossed(3)
    expect(await charged()).toMatchObject({ state: 'OFF', declines: 3, waitsUntil: null })
    await later(24)
    expect(await attempts()).toHaveLength(3)
    expect(await amounts()).toEqual([100])
    const { rows } = await shop.dashboard.call('auditLog { rows { sentence } }', { first: 20 })
    expect(rows).toContainEqual({
      sentence: `turned off an automatic recharge of the user ${customers.user}`,
    })
    // With another card, it is turned on again.
    await saveCard()
    expect(await set({ below: 150 })).toMatchObject({ state: 'CHARGING', declines: 0 })
    expect(await charged()).toMatchObject({ state: 'ON', declines: 0 })
  })

  it.each<[string, typeof GOOD_CARD, boolean, string]>([
    ['a stolen card', STOLEN_CARD, true, 'stolen'],
    ['a card that was not saved', GOOD_CARD, false, 'no saved card'],
  ])('turns off at once with %s', async (_, card, saved, reason) => {
    await saveCard(card, saved)
    await record(100)
    await set()
    expect(await charged()).toMatchObject({
      state: 'OFF',
      declines: 1,
      reason: expect.stringContaining(reason),
    })
    expect(await amounts()).toEqual([100])
  })

  it('charges no more than the maximum of a month', async () => {
    await saveCard()
    await record(100)
    expect(await set({ maxSpendPerPeriod: 1400 })).toMatchObject({ state: 'CHARGING', spent: 1000 })
    await charged()
    expect(await amounts()).toEqual([100, 200])
    await record(180)
    await expect.poll(async () => (await now()).state, { timeout: 20_000 }).toBe('WAITING')
    expect((await now()).reason).toBe('The maximum of this month is reached.')
    // A higher maximum counts at once.
    expect(await set({ maxSpendPerPeriod: 1500 })).toMatchObject({ state: 'CHARGING', spent: 1500 })
    expect(await charged()).toMatchObject({ state: 'ON', spent: 1500 })
    await record(100)
    await expect.poll(async () => (await now()).state, { timeout: 20_000 }).toBe('WAITING')
    await later(32 * 24)
    await crossed(3)
    expect(await charged()).toMatchObject({ spent: 1500 })
  })

  it('can be removed during a charge, which is completed once', async () => {
    await saveCard()
    await record(100)
    await set()
    const remove = { userId: customers.user, featureId: 'call' }
    expect(await shop.admin.call('removeAutoRecharge { priceId }', remove)).toEqual({ priceId: 'pack' })
    expect(await set()).toBeDefined()
    await expect.poll(amounts, { timeout: 20_000 }).toEqual([100, 300])
    await charged()
    expect(await amounts()).toEqual([100, 300])
    await shop.admin.call('removeAutoRecharge { priceId }', remove)
    expect(await shop.admin.call('removeAutoRecharge { priceId }', remove)).toBeNull()
    expect(await now()).toBeUndefined()
  })

  it.each<[string, Variables, string, string | null]>([
    ['an unknown user', { userId: 'nobody' }, 'USER_NOT_FOUND', null],
    ['an unknown feature', { featureId: 'none' }, 'FEATURE_NOT_FOUND', null],
    ['an unknown price', { priceId: 'none' }, 'PRICE_NOT_FOUND', null],
    ['an archived price', { priceId: 'archived' }, 'BAD_USER_INPUT', 'priceId'],
    ['a threshold of 0', { below: 0 }, 'BAD_USER_INPUT', 'below'],
    ['a goal below the threshold', { upTo: 49 }, 'BAD_USER_INPUT', 'upTo'],
    ['a maximum of 0', { maxSpendPerPeriod: 0 }, 'BAD_USER_INPUT', 'maxSpendPerPeriod'],
  ])('rejects %s, and stores nothing', async (_, more, code, field) => {
    const { errors } = await shop.admin.ask(SET, { input: rule(more) })
    expect(errors?.[0]?.extensions).toMatchObject({ code, ...(field && { field }) })
    expect(await now()).toBeUndefined()
  })
})
