import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { BY_HAND } from '../harness/cells-by-hand.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf, WAITING } from '../harness/database.ts'
import { onCluster } from '../harness/one-server.ts'
import { createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { newArchivingApp } from './archiving-app.ts'

// Invariants: what is archived refuses what is new and changes nothing for who has it; what anything refers to is never
// deleted, whoever comes at the same moment.

const server = shared(startTestServer)

const newApp = () => newArchivingApp(server)
const ARCHIVED = 'Package is archived. Restore it in the dashboard or choose another package.'

describe('gap: archiving', () => {
  it('a package takes no new subscribers by any way, and is back when it is brought back', async () => {
    const { admin, change, refusal } = await newApp()
    await change('createPrice(packageId: "old", input: {amount: 100, currency: "usd", interval: "month"})')
    await change('createBillingTemplate(input: {id: "sold", name: "Sold", packageIds: ["old"]})')
    await change('archivePackage(id: "old")')

    const error = await admin.error('mutation { subscribe(userId: "bob", packageIds: ["old"]) { id } }')
    expect(error).toMatchObject({
      message: ARCHIVED,
      extensions: { code: 'BAD_USER_INPUT', type: 'SubscriptionError' },
    })
    expect(await refusal('startTrial(userId: "bob", packageId: "old", days: 3)')).toBe(ARCHIVED)
    await admin.data('mutation { subscribe(userId: "bob", packageIds: ["next"]) { id } }')
    expect(await refusal('changeSubscription(userId: "bob", packageId: "old")', '{ now }')).toBe(ARCHIVED)
    expect(await refusal('createBillingTemplate(input: {id: "t", name: "T", packageIds: ["old"]})')).toBe(
      ARCHIVED,
    )
    const link = await admin.error(`mutation { generateSubscriptionLink(templateId: "sold", userId: "bob",
      successUrl: "https://a.example", cancelUrl: "https://b.example") { url } }`)
    expect(link.message).toContain('The package "old" is archived')

    await change('archivePackage(id: "old", archived: false)')
    await change('changeSubscription(userId: "bob", packageId: "old", when: NOW)', '{ now }')
  })

  it('those who have the package keep it as it is', async () => {
    const { admin, change } = await newApp()
    await change('archivePackage(id: "old")')
    const { canUseFeature, recordUsage } = await admin
      .data(`mutation {
      recordUsage(input: {userId: "ann", featureId: "calls", delta: 2}) { recorded }
    }`)
      .then(async (data) => ({
        ...data,
        ...(await admin.data(
          '{ canUseFeature(userId: "ann", featureId: "calls") { access consumption { used budget } } }',
        )),
      }))
    expect(recordUsage).toEqual({ recorded: true })
    expect(canUseFeature).toEqual({ access: true, consumption: { used: 2, budget: 10 } })
    await change('changeSubscription(userId: "ann", packageId: "old", quantity: 2, when: NOW)', '{ now }')
    expect(await admin.data('{ packages { id archived } features { id archived } }')).toEqual({
      packages: [
        { id: 'old', archived: true },
        { id: 'next', archived: false },
      ],
      features: [
        { id: 'calls', archived: false },
        { id: 'seats', archived: false },
      ],
    })
  })

  it('a change that was scheduled before still happens', async () => {
    const { admin, change } = await newApp()
    const scheduled = 'changeSubscription(userId: "ann", packageId: "next", when: PERIOD_END)'
    expect(await change(scheduled, '{ now to { id } }')).toEqual({ now: false, to: { id: 'next' } })
    await change('archivePackage(id: "next")')
    const { subscriptions } = await admin.data('{ subscriptions(userId: "ann") { scheduled { packageId } } }')
    expect(subscriptions).toEqual([{ scheduled: { packageId: 'next' } }])
  })

  it('a feature is added to no other package and gets no new override, and stays where it is', async () => {
    const { admin, change, refusal } = await newApp()
    await change('setOverride(input: {userId: "ann", featureId: "calls", mode: ADD, limit: 5})', '{ mode }')
    await change('archiveFeature(id: "calls")')
    const into = 'The feature "calls" is archived. Restore it before adding it to a package.'
    expect(await refusal('editPackage(id: "next", input: {features: [{id: "calls"}]})')).toBe(into)
    const made = await admin.error(
      'mutation { createPackage(input: {id: "new", name: "New", features: [{id: "calls"}]}) { id } }',
    )
    expect(made).toMatchObject({ message: into, extensions: { code: 'BAD_USER_INPUT' } })
    await change('editPackage(id: "old", input: {features: [{id: "calls", entitlement: {limit: 20}}]})')

    const override = (userId: string, mode: string) =>
      `setOverride(input: {userId: "${userId}", featureId: "calls", mode: ${mode}})`
    expect(await refusal(override('bob', 'UNLIMITED'), '{ mode }')).toContain('"calls" is archived')
    await change(override('bob', 'DENY'), '{ mode }')
    await change(override('ann', 'UNLIMITED'), '{ mode }')
    const canUseFeature = await admin.call('canUseFeature { access }', { userId: 'ann', featureId: 'calls' })
    expect(canUseFeature.access).toBe(true)
  })

  it('is left out when the catalogue is copied', async () => {
    const { id, change, dashboard } = await newApp()
    await change('archivePackage(id: "old")')
    await change('archiveFeature(id: "calls")')
    const target = 'to-copy-to'
    await createApp(server, target)
    const copyCatalogue = await dashboard.call('copyCatalogue { features { id } packages { id } }', {
      appId: target,
      fromAppId: id,
    })
    expect(copyCatalogue).toEqual({ features: [{ id: 'seats' }], packages: [{ id: 'next' }] })
  })
})

describe('gap: deleting', () => {
  it('only what nothing refers to; otherwise the answer says how many do', async () => {
    const { id, admin, change, refusal, dashboard } = await newApp()
    expect(await refusal('deletePackage(id: "old")')).toBe(
      'The package "old" has 1 subscription (including cancelled ones). Archive it instead.',
    )
    const packageUse = await dashboard.call('packageUse { subscriptions live templates refusal }', {
      appId: id,
      id: 'old',
    })
    expect(packageUse).toEqual({
      subscriptions: 1,
      live: 1,
      templates: 0,
      refusal: 'The package "old" has 1 subscription (including cancelled ones). Archive it instead.',
    })
    expect(await refusal('deleteFeature(id: "calls")')).toBe(
      'The feature "calls" is part of 1 package. Archive it instead.',
    )
    await change('createPrice(packageId: "next", input: {amount: 100, currency: "usd", interval: "month"})')
    await change('createBillingTemplate(input: {id: "sold", name: "Sold", packageIds: ["next"]})')
    expect(await refusal('deletePackage(id: "next")')).toContain('is used by 1 template')

    await admin.call('generateSubscriptionLink', {
      templateId: 'sold',
      userId: 'bob',
      successUrl: 'https://a.example',
      cancelUrl: 'https://b.example',
    })
    expect(await refusal('deleteBillingTemplate(id: "sold")')).toBe(
      'The billing template "sold" has 1 payment link. Archive it instead.',
    )
  })

  it('takes a package with its prices and its history, then its template, then its feature', async () => {
    const { id, admin, change, refusal, dashboard } = await newApp()
    await change('createPrice(packageId: "next", input: {amount: 100, currency: "usd", interval: "month"})')
    await change('createBillingTemplate(input: {id: "sold", name: "Sold", packageIds: ["next"]})')
    await change('editPackage(id: "next", input: {features: []})')
    await change('publishPackage(id: "next")')
    expect(await refusal('deleteFeature(id: "seats")')).toBe(
      'The feature "seats" was part of an earlier version of 1 package. Archive it instead.',
    )
    expect(await change('deleteBillingTemplate(id: "sold")')).toEqual({ id: 'sold' })
    expect(await change('deletePackage(id: "next")')).toEqual({ id: 'next' })
    expect(await change('deleteFeature(id: "seats")')).toEqual({ id: 'seats' })
    expect(await admin.data('{ packages { id } features { id } }')).toEqual({
      packages: [{ id: 'old' }],
      features: [{ id: 'calls' }],
    })
    const left = await dashboard.data(
      `{ prices(appId: "${id}", includeArchived: true) { id } billingTemplates(appId: "${id}", includeArchived: true) { id } }`,
    )
    expect(left).toEqual({ prices: [], billingTemplates: [] })
    expect(await refusal('deletePackage(id: "next")')).toContain('Package not found')
  })

  it('a feature that is only in a draft, or that an override was ever set for, stays', async () => {
    const { change, refusal } = await newApp()
    await change('createFeature(input: {id: "drafted", name: "Drafted", type: BINARY})')
    await change('createFeature(input: {id: "given", name: "Given", type: BINARY})')
    await change('editPackage(id: "old", input: {features: [{id: "calls"}, {id: "drafted"}]})')
    expect(await refusal('deleteFeature(id: "drafted")')).toContain('is part of 1 package')
    await change('setOverride(input: {userId: "ann", featureId: "given", mode: GRANT})', '{ mode }')
    await change('removeOverride(userId: "ann", featureId: "given")', '{ mode }')
    expect(await refusal('deleteFeature(id: "given")')).toContain('has or had overrides')
  })

  it('a feature that was in a pool, or had credits, reservations or caps that nobody used, goes with them', async () => {
    const { id, admin, change, refusal } = await newApp()
    const mutate = (text: string) => admin.data(`mutation { ${text} }`)
    for (const feature of ['coin', 'image'])
      await change(`createFeature(input: {id: "${feature}", name: "${feature}", type: CONSUMABLE})`)
    const setCosts = (costs: string) => mutate(`updateFeature(id: "coin", input: {costs: [${costs}]}) { id }`)
    await setCosts('{featureId: "image", cost: 2}')
    expect(await refusal('deleteFeature(id: "coin")')).toBe(
      'The feature "coin" is a pool. Archive it instead.',
    )
    expect(await refusal('deleteFeature(id: "image")')).toBe(
      'The feature "image" draws on the pool "coin". Archive it instead.',
    )
    await setCosts('')

    await mutate('addCredit(input: {id: "gift", userId: "ann", featureId: "coin", amount: 5}) { id }')
    expect(await refusal('deleteFeature(id: "coin")')).toContain('has credits')
    await mutate('reserveUsage(input: {id: "r1", userId: "ann", featureId: "coin", amount: 5}) { id }')
    await mutate('setCap(input: {userId: "ann", featureId: "coin", limit: 5, period: DAY}) { limit }')
    await mutate('voidCredit(id: "gift") { id }')
    expect(await refusal('deleteFeature(id: "coin")')).toBe(
      'The feature "coin" has reservations that hold units or were settled and has caps of users. Archive it instead.',
    )
    await mutate('releaseReservation(id: "r1") { id }')
    expect(await refusal('deleteFeature(id: "coin")')).toContain('has caps of users')
    await mutate('removeCap(userId: "ann", featureId: "coin", period: DAY) { limit }')
    expect(await change('deleteFeature(id: "coin")')).toEqual({ id: 'coin' })
    expect(await change('deleteFeature(id: "image")')).toEqual({ id: 'image' })
    const left = await rowsOf(
      { connectionString: server.databaseUrl },
      `select id from credit where app_id = $1 union all select id from usage_reservation where app_id = $1
       union all select k from spender, jsonb_object_keys(features) k where app_id = $1`,
      [id],
    )
    expect(left).toEqual([])
    // One with the same id begins anew.
    await change('createFeature(input: {id: "coin", name: "Coin", type: CONSUMABLE})')
    await mutate('addCredit(input: {id: "new", userId: "ann", featureId: "coin", amount: 3}) { id }')
    const { recordUsage } = await mutate(
      'recordUsage(input: {userId: "ann", featureId: "coin", delta: 3}) { recorded }',
    )
    expect(recordUsage).toEqual({ recorded: true })
    await mutate('recordUsage(input: {userId: "ann", featureId: "coin", delta: -3}) { recorded }')
    await mutate('voidCredit(id: "new") { id }')
    expect(await refusal('deleteFeature(id: "coin")')).toBe(
      'The feature "coin" was used. Archive it instead.',
    )
  })

  it('a feature and a credit of it at the same moment: one of the two wins', async () => {
    const { id, admin, dashboard, change } = await newApp()
    for (let round = 0; round < 8; round++) {
      const feature = `coin-${round}`
      await change(`createFeature(input: {id: "${feature}", name: "Coin", type: CONSUMABLE})`)
      const credit = (name: string) =>
        admin.ask(
          `mutation { addCredit(input: {id: "${name}", userId: "ann", featureId: "${feature}", amount: 5}) { id } }`,
        )
      await credit(`before-${round}`)
      await admin.data(`mutation { voidCredit(id: "before-${round}") { id } }`)
      const [added, deleted] = await Promise.all([
        credit(`at-once-${round}`),
        dashboard.ask(`mutation { deleteFeature(appId: "${id}", id: "${feature}") { id } }`),
      ])
      const messages = [added, deleted].map((answer: Data) => answer.errors?.[0]?.message ?? 'done')
      expect([
        'Feature Id not found for app / done',
        `done / The feature "${feature}" has credits, or had some that were used or bought. Archive it instead.`,
      ]).toContain(messages.join(' / '))
    }
  })

  it('at the same moment as a subscription, one of the two wins and the other is told why', async () => {
    const { id, admin, dashboard } = await newApp()
    const outcomes = new Set<string>()
    for (let round = 0; round < 12; round++) {
      const plan = `race-${round}`
      await publishPackage({ id, admin, dashboard }, plan, {})
      await createUsers(admin, [plan])
      const [subscribed, deleted] = await Promise.all([
        admin.ask(`mutation { subscribe(userId: "${plan}", packageIds: ["${plan}"]) { id } }`),
        dashboard.ask(`mutation { deletePackage(appId: "${id}", id: "${plan}") { id } }`),
      ])
      const messages = [subscribed, deleted].map((answer: Data) => answer.errors?.[0]?.message ?? 'done')
      outcomes.add(messages.join(' / '))
      const { subscriptions } = await admin.data(`{ subscriptions(userId: "${plan}") { package { id } } }`)
      expect(subscriptions).toHaveLength(messages[0] === 'done' ? 1 : 0)
    }
    for (const outcome of outcomes) {
      expect([
        'Package Id not found for app / done',
        expect.stringMatching(/^done \/ The package "race-\d+" has 1 subscription/),
      ]).toContainEqual(outcome)
    }
  })

  it.skipIf(onCluster)('waits for a subscription that is under way, and is waited for', async () => {
    const { id, admin, dashboard } = await newApp()
    await publishPackage({ id, admin, dashboard }, 'held', {})
    const holder = new pg.Client({ connectionString: server.databaseUrl })
    await holder.connect()
    await holder.query(`set ${BY_HAND} = on`)
    const somebodyWaits = () =>
      expect.poll(async () => (await watcher.query(WAITING)).rowCount).toBeGreaterThan(0)
    const watcher = new pg.Client({ connectionString: server.databaseUrl })
    await watcher.connect()
    try {
      // A subscription whose transaction has not ended yet.
      await holder.query('begin')
      await holder.query(
        `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
         select $1, 'sub_held', uid, 'held', false, now(), now() from users where app_id = $1 and id = 'bob'`,
        [id],
      )
      const deleting = dashboard.error(`mutation { deletePackage(appId: "${id}", id: "held") { id } }`)
      await somebodyWaits()
      await holder.query('commit')
      expect((await deleting).message).toContain('has 1 subscription')

      // A deletion whose transaction has not ended yet.
      await publishPackage({ id, admin, dashboard }, 'going', {})
      await createUsers(admin, ['carl'])
      await holder.query('begin')
      await holder.query(`select from app where id = $1 for no key update`, [id])
      await holder.query(`delete from package where app_id = $1 and id = 'going'`, [id])
      const subscribing = admin.error('mutation { subscribe(userId: "carl", packageIds: ["going"]) { id } }')
      await somebodyWaits()
      await holder.query(`update app set version = version + (1 << 24) where id = $1`, [id])
      await holder.query('commit')
      expect((await subscribing).message).toBe('Package Id not found for app')
    } finally {
      await holder.end()
      await watcher.end()
    }
  })
})
