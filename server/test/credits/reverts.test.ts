import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data, Variables } from '../harness/client.ts'
import { type ClockedApp, clockedApp } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { unbalanced } from '../harness/spending.ts'

// Invariants: a revert returns exactly what was taken, to the same sources, once; what has ended lapses, and nothing lands
// elsewhere; the ledger adds up for each source.

const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { used remaining } }
}`

const server = shared(startTestServer)
let app: ClockedApp
const start = Date.UTC(2091, 2, 10)
const iso = (at: number) => new Date(at).toISOString()

beforeEach(async () => {
  app = await clockedApp(server)
  await publishPackage(app, 'plan', { call: { limit: 4 }, coin: { limit: 30 } })
  await app.advance(iso(start))
  await app.admin.data(`mutation { subscribe(userId: "ann", packageIds: ["plan"]) { id } }`)
})

const record = async (delta: number, more: Variables = {}): Promise<Data> =>
  (await app.admin.data(RECORD, { input: { userId: 'ann', featureId: 'call', delta, ...more } })).recordUsage
const revert = async (revertOf: string, more: Variables = {}): Promise<Data> =>
  (await app.admin.data(RECORD, { input: { userId: 'ann', featureId: 'call', delta: 0, revertOf, ...more } }))
    .recordUsage
const refused = async (input: Variables) => {
  const { errors } = await app.admin.ask(RECORD, {
    input: { userId: 'ann', featureId: 'call', delta: 0, ...input },
  })
  return errors?.[0]?.extensions
}
const addCredit = (id: string, amount: number, more: Variables = {}) =>
  app.admin.data(`mutation ($input: CreditInput!) { addCredit(input: $input) { id } }`, {
    input: { id, userId: 'ann', featureId: 'call', amount, ...more },
  })
const mutate = async (text: string): Promise<Data> =>
  (await app.admin.data(`mutation { done: ${text} }`)).done
const used = async (): Promise<Record<string, number>> => {
  const { credits, call, coin } = await app.admin.data(`{
    credits(userId: "ann") { id used }
    call: canUseFeature(userId: "ann", featureId: "call") { consumption { used } }
    coin: canUseFeature(userId: "ann", featureId: "coin") { consumption { used } }
  }`)
  const own = { call: call.consumption.used, coin: coin.consumption.used }
  return { ...own, ...Object.fromEntries(credits.map(({ id, used }: Data) => [id, used])) }
}

describe('a revert', () => {
  it('of a call that only the plan paid for returns it, once', async () => {
    await record(3, { idempotencyKey: 'k1' })
    const first = await revert('k1')
    expect(first).toEqual({ recorded: true, reason: null, consumption: { used: 0, remaining: 4 } })
    await record(2)
    expect(await revert('k1')).toEqual(first)
    expect(await used()).toEqual({ call: 2, coin: 0 })
    // The key still answers as before, and records nothing.
    expect(await record(3, { idempotencyKey: 'k1' })).toMatchObject({ consumption: { used: 3 } })
    expect(await used()).toEqual({ call: 2, coin: 0 })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('returns exactly what each source gave, also to a pool, in whatever order they burn now', async () => {
    await mutate(`updateFeature(id: "coin", input: { costs: [{ featureId: "call", cost: 5 }] }) { id }`)
    await addCredit('early', 3, { priority: 1 })
    await record(9, { idempotencyKey: 'k1' })
    expect(await used()).toEqual({ early: 3, call: 4, coin: 10 })
    await addCredit('later', 5, { priority: 0 })
    await record(4)
    expect(await revert('k1')).toMatchObject({ recorded: true })
    expect(await used()).toEqual({ early: 0, call: 0, coin: 0, later: 4 })
    expect(await record(-4)).toMatchObject({ recorded: true })
    expect(await record(-1)).toMatchObject({ recorded: false })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('of concurrent ones only one returns anything', async () => {
    await addCredit('gift', 10, { priority: 1 })
    await record(6, { idempotencyKey: 'k1' })
    await record(2)
    await Promise.all(Array.from({ length: 8 }, () => revert('k1')))
    expect(await used()).toEqual({ gift: 2, call: 0, coin: 0 })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('of a reservation returns what was settled, also beyond what was reserved', async () => {
    await addCredit('gift', 4, { priority: 60 })
    await mutate(`reserveUsage(input: { userId: "ann", id: "r1", featureId: "call", amount: 5 }) { id }`)
    expect(await refused({ revertOf: 'r1' })).toMatchObject({ code: 'BAD_USER_INPUT', field: 'revertOf' })
    await mutate(`settleReservation(id: "r1", amount: 7) { id }`)
    expect(await used()).toEqual({ gift: 3, call: 4, coin: 0 })
    await record(1)
    const first = await revert('r1')
    expect(first).toMatchObject({ recorded: true })
    expect(await used()).toEqual({ gift: 1, call: 0, coin: 0 })
    expect(await revert('r1')).toEqual(first)
    expect(await used()).toEqual({ gift: 1, call: 0, coin: 0 })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('returns to a credit that is spent or was voided, and to no later period of the plan', async () => {
    await addCredit('gift', 2, { priority: 1 })
    await record(4, { idempotencyKey: 'k1' })
    await record(1, { idempotencyKey: 'k2' })
    await app.advance(iso(Date.UTC(2091, 3, 10)))
    expect(await revert('k2')).toMatchObject({
      recorded: false,
      reason: expect.stringContaining('has ended'),
    })
    await record(3)
    expect(await revert('k1')).toMatchObject({ recorded: true })
    expect(await used()).toEqual({ gift: 0, call: 3, coin: 0 })
    expect(await record(-3)).toMatchObject({ recorded: true })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('of a return takes the same units again, unless they were used or reserved since', async () => {
    await mutate(`updateFeature(id: "coin", input: { costs: [{ featureId: "call", cost: 5 }] }) { id }`)
    await addCredit('gift', 3, { priority: 1 })
    await record(9)
    await record(-6, { idempotencyKey: 'k1' })
    expect(await used()).toEqual({ gift: 3, call: 0, coin: 0 })
    expect(await revert('k1')).toMatchObject({ recorded: true })
    expect(await used()).toEqual({ gift: 3, call: 4, coin: 10 })
    const gone = (units: number) =>
      `Cannot revert: some of the ${units} that were returned have been used or reserved since, or their source has ended.`
    await record(-6, { idempotencyKey: 'k2' })
    await record(1)
    expect(await revert('k2')).toMatchObject({ recorded: false, reason: gone(6) })
    await record(-1)
    await mutate(`reserveUsage(input: { userId: "ann", id: "r1", featureId: "coin", amount: 21 }) { id }`)
    expect(await revert('k2')).toMatchObject({ recorded: false, reason: gone(6) })
    await mutate(`releaseReservation(id: "r1") { id }`)
    await mutate(`setCap(input: { userId: "ann", featureId: "call", limit: 8, period: NEVER }) { used }`)
    await record(3)
    await record(-3)
    // The cap counts since it was set.
    await mutate(`setCap(input: { userId: "ann", featureId: "call", limit: 5, period: NEVER }) { used }`)
    expect(await revert('k2')).toMatchObject({
      recorded: false,
      reason: 'Cannot revert: the 6 that were returned no longer fit in the cap, 0 of 5 used in total.',
    })
    await mutate(`setCap(input: { userId: "ann", featureId: "call", limit: 6, period: NEVER }) { used }`)
    expect(await revert('k2')).toMatchObject({ recorded: true })
    expect(await used()).toEqual({ gift: 3, call: 4, coin: 10 })
    await record(-9, { idempotencyKey: 'k3' })
    await mutate(`removeCap(userId: "ann", featureId: "call", period: NEVER) { used }`)
    await mutate(`voidCredit(id: "gift") { id }`)
    expect(await revert('k3')).toMatchObject({ recorded: false, reason: gone(9) })
    expect(await used()).toEqual({ gift: 0, call: 0, coin: 0 })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('is refused for what does not exist, belongs to others, was refused, or was returned already', async () => {
    await record(3, { idempotencyKey: 'k1' })
    await record(30, { idempotencyKey: 'no' })
    const bad = { code: 'BAD_USER_INPUT', field: 'revertOf' }
    expect(await refused({ revertOf: 'other' })).toMatchObject(bad)
    expect(await refused({ revertOf: 'no' })).toMatchObject(bad)
    expect(await refused({ revertOf: 'k1', featureId: 'coin' })).toMatchObject({
      ...bad,
      field: 'featureId',
    })
    await app.admin.data(`mutation { createUser(input: { id: "bob" }) { id } }`)
    expect(await refused({ revertOf: 'k1', userId: 'bob' })).toMatchObject(bad)
    for (const field of ['delta', 'action', 'idempotencyKey', 'entities']) {
      const value = { delta: 1, action: 'SET', idempotencyKey: 'x', entities: ['a:1'] }[field]
      expect(await refused({ revertOf: 'k1', [field]: value })).toMatchObject({
        code: 'BAD_USER_INPUT',
        field,
      })
    }
    await addCredit('gift', 1)
    await record(-3)
    expect(await revert('k1')).toMatchObject({
      ...{ recorded: false, reason: 'Cannot revert 3: 3 of them have been returned already.' },
    })
    expect(await used()).toEqual({ call: 0, coin: 0, gift: 0 })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('is refused with the true reason', async () => {
    const messageOf = async (input: Variables) =>
      (await app.admin.error(RECORD, { input: { userId: 'ann', featureId: 'call', delta: 0, ...input } }))
        .message
    await record(2, { idempotencyKey: 'k1' })
    await record(0, { idempotencyKey: 'nothing' })
    await record(30, { idempotencyKey: 'no' })
    expect(await messageOf({ revertOf: 'other' })).toBe(
      'This user has no usage event with the key "other" and no reservation with that id. Keys are kept for at least 24 hours, and reservations for 30 days after their expiry.',
    )
    expect(await messageOf({ revertOf: 'k1', featureId: 'coin' })).toBe('"k1" belongs to the feature "call"')
    expect(await messageOf({ revertOf: 'no' })).toBe(
      'The usage event "no" was refused: there is nothing to revert',
    )
    expect(await messageOf({ revertOf: 'nothing' })).toMatch(
      /^The usage event "nothing" changed no usage, or /,
    )

    await addCredit('gift', 5)
    await mutate(`reserveUsage(input: { userId: "ann", id: "r1", featureId: "call", amount: 2 }) { id }`)
    expect(await messageOf({ revertOf: 'r1' })).toBe(
      'The reservation "r1" is HELD. Settle or release it first.',
    )
    await mutate(`releaseReservation(id: "r1") { id }`)
    expect(await revert('r1')).toMatchObject({
      recorded: false,
      reason: 'Nothing was settled under this reservation: there is nothing to return.',
    })

    await record(-1)
    expect((await revert('k1')).reason).toBe('Cannot revert 2: 1 of them have been returned already.')
    await record(1)
    const { subscriptions } = await app.admin.data('{ subscriptions(userId: "ann") { id } }')
    await mutate(`cancelSubscription(id: "${subscriptions[0].id}", atPeriodEnd: false) { id }`)
    expect(await revert('k1')).toMatchObject({
      recorded: false,
      reason: 'The plan that paid for this has ended: there is nothing to return to.',
    })
    expect(await unbalanced(server.databaseUrl, app.id)).toEqual([])
  })

  it('after the plan has ended says so, also where only the plan ever paid', async () => {
    await record(2, { idempotencyKey: 'k1' })
    const { subscriptions } = await app.admin.data('{ subscriptions(userId: "ann") { id } }')
    await mutate(`cancelSubscription(id: "${subscriptions[0].id}", atPeriodEnd: false) { id }`)
    expect(await revert('k1')).toMatchObject({
      recorded: false,
      reason: 'The plan that paid for this has ended: there is nothing to return to.',
    })
  })
})
