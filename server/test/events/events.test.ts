import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { eventsFrom, readEvents } from './read-events.ts'

// Each change is an event, once, with the state after it and the fields that changed.

const server = shared(startTestServer)
let app: ClockedApp
let cursor: string | null

const types = (nodes: readonly Data[]) => nodes.map(({ type }) => type)

/** The next events, exactly these. */
async function next(...expected: string[]): Promise<Data[]> {
  const read = await eventsFrom(app.admin, cursor, expected.length)
  cursor = read.next
  expect(types(read.nodes)).toEqual(expected)
  return read.nodes
}

beforeEach(async () => {
  app = await clockedApp(server)
  cursor = null
  await app.advance(midnight('2091-03-10'))
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  const { nodes, next } = await eventsFrom(app.admin, null, 3)
  expect(types(nodes)).toEqual(['user.created', 'feature.created', 'package.published'])
  cursor = next
})

describe('gap: events, users', () => {
  it('reports a creation, a change with the earlier values, and a deletion with the id alone', async () => {
    await app.admin.data(
      'mutation { createUser(input: { id: "bob", name: "Bob", email: "b@example.com" }) { id } }',
    )
    const [created] = await next('user.created')
    expect(created).toMatchObject({
      userId: 'bob',
      at: midnight('2091-03-10'),
      data: { version: 1, object: { id: 'bob', name: 'Bob', email: 'b@example.com' }, previous: null },
    })
    await app.admin.data('mutation { updateUser(id: "bob", input: { name: "Rob" }) { id } }')
    const [changed] = await next('user.updated')
    expect(changed?.data).toMatchObject({ object: { id: 'bob', name: 'Rob' }, previous: { name: 'Bob' } })
    expect(changed?.data.previous).toEqual({ name: 'Bob' })
    // A change to what it is already is none.
    await app.admin.data('mutation { updateUser(id: "bob", input: { name: "Rob" }) { id } }')
    await app.admin.data('mutation { deleteUser(id: "bob") { id } }')
    const [deleted] = await next('user.deleted')
    expect(deleted).toMatchObject({ userId: 'bob', data: { object: { id: 'bob' }, previous: null } })
    const { nodes } = await readEvents(app.admin, { types: ['user.created', 'user.updated'] })
    const erased = nodes.filter(({ sequence }) => sequence >= created?.sequence)
    expect(erased.map(({ userId, data }) => ({ userId, data }))).toEqual([
      { userId: null, data: { version: 1, object: { erased: true }, previous: null } },
      { userId: null, data: { version: 1, object: { erased: true }, previous: null } },
    ])
  })
})

describe('gap: events, subscriptions', () => {
  it('reports a subscription and what the user is entitled to with it', async () => {
    await app.subscribe('plan')
    const [created, entitled] = await next('subscription.created', 'entitlements.changed')
    expect(created?.data.object).toMatchObject({
      userId: 'ann',
      packageId: 'plan',
      status: 'ACTIVE',
      quantity: 1,
    })
    expect(entitled?.data.object).toEqual({
      userId: 'ann',
      count: 1,
      entitlements: [
        {
          featureId: 'call',
          access: true,
          budget: 10,
          used: 0,
          overageEnabled: false,
          resetPeriod: 'MONTH',
          periodStart: midnight('2091-03-10'),
          resetsAt: midnight('2091-04-10'),
        },
      ],
    })
  })

  it('reports a cancellation at once, and an end when its time comes', async () => {
    const [id] = await app.subscribe('plan')
    await next('subscription.created', 'entitlements.changed')
    await app.cancel(id, 'at period end')
    const [cancelled] = await next('subscription.cancelled', 'entitlements.changed')
    expect(cancelled?.data).toMatchObject({
      object: { id, status: 'ACTIVE', cancelAt: midnight('2091-04-10') },
      previous: { cancelAt: null },
    })
    await app.keep(id)
    const [kept] = await next('subscription.changed', 'entitlements.changed')
    expect(kept?.data.previous).toEqual({ cancelAt: midnight('2091-04-10') })
    await app.cancel(id, 'at period end')
    await next('subscription.cancelled', 'entitlements.changed')
    await app.advance(midnight('2091-06-01'))
    const [ended, entitled] = await next('subscription.ended', 'entitlements.changed')
    expect(ended).toMatchObject({ at: midnight('2091-04-10'), data: { object: { id, status: 'CANCELLED' } } })
    expect(entitled?.data.object).toEqual({ userId: 'ann', count: 0, entitlements: [] })
    // Writing down what has happened by the clock is not another event.
    await app.subscribe('plan')
    await next('subscription.created', 'entitlements.changed')
  })

  it('reports an immediate cancellation with its end, once', async () => {
    const [id] = await app.subscribe('plan')
    await app.cancel(id, 'now')
    const { nodes } = await eventsFrom(app.admin, cursor, 1, { types: ['subscription.ended'] })
    expect(nodes[0]?.data.object).toMatchObject({ id, status: 'CANCELLED' })
    await app.advance(midnight('2092-01-01'))
    await app.admin.data('mutation { createUser(input: { id: "last" }) { id } }')
    const all = await eventsFrom(app.admin, cursor, 1, { types: ['user.created'] })
    const { nodes: ends } = await readEvents(app.admin, {
      types: ['subscription.ended', 'subscription.cancelled'],
    })
    expect(all.nodes).toHaveLength(1)
    expect(types(ends)).toEqual(['subscription.cancelled', 'subscription.ended'])
  })

  it('reports another plan, at once and at a later time', async () => {
    await publishPackage(app, 'large', { call: { limit: 100 } })
    await next('package.published')
    await app.subscribe('plan')
    await next('subscription.created', 'entitlements.changed')
    const change = (packageId: string, when: string) =>
      app.admin.call('changeSubscription { at now }', { userId: 'ann', packageId, when })
    await change('large', 'NOW')
    const [ended, created, changed] = await next(
      'subscription.ended',
      'subscription.created',
      'subscription.changed',
      'entitlements.changed',
    )
    expect(ended?.data.object.packageId).toBe('plan')
    expect(created?.data.object.packageId).toBe('large')
    expect(changed?.data).toMatchObject({
      object: { id: created?.data.object.id, packageId: 'large' },
      previous: { id: ended?.data.object.id, packageId: 'plan' },
    })
    await change('plan', 'PERIOD_END')
    const [scheduled] = await next('subscription.change_scheduled', 'entitlements.changed')
    expect(scheduled?.data.object).toMatchObject({
      packageId: 'plan',
      status: 'SCHEDULED',
      startedAt: midnight('2091-04-10'),
      follows: created?.data.object.id,
    })
    await app.advance(midnight('2091-05-01'))
    const taken = await next(
      'subscription.ended',
      'subscription.created',
      'subscription.changed',
      'entitlements.changed',
    )
    expect(taken.slice(0, 3).map(({ at }) => at)).toEqual(Array(3).fill(midnight('2091-04-10')))
    expect(taken[2]?.data).toMatchObject({
      object: { packageId: 'plan', status: 'ACTIVE' },
      previous: { id: created?.data.object.id, packageId: 'large' },
    })
  })

  it('reports a trial that begins, is about to end, and ends', async () => {
    await app.admin.call('startTrial { id }', { userId: 'ann', packageId: 'plan', days: 14 })
    const [created] = await next('subscription.created', 'trial.started', 'entitlements.changed')
    await app.advance(midnight('2091-03-21'))
    const [ending] = await next('trial.ending')
    expect(ending).toMatchObject({
      at: midnight('2091-03-21'),
      data: { object: { id: created?.data.object.id } },
    })
    await app.admin.call('extendTrial { id }', { id: created?.data.object.id, until: midnight('2091-04-01') })
    await next('subscription.changed', 'entitlements.changed')
    await app.advance(midnight('2091-07-01'))
    const brought = await next('trial.ending', 'subscription.ended', 'trial.ended', 'entitlements.changed')
    expect(brought.slice(0, 3).map(({ at }) => at)).toEqual([
      midnight('2091-03-29'),
      midnight('2091-04-01'),
      midnight('2091-04-01'),
    ])
  })
})

describe('gap: events, overrides', () => {
  const set = (more: object) =>
    app.admin.call('setOverride { mode }', {
      input: { userId: 'ann', featureId: 'call', mode: 'REPLACE', ...more },
    })

  it('reports what is set, removed and expired', async () => {
    await set({ limit: 5 })
    const [first, entitled] = await next('override.set', 'entitlements.changed')
    expect(first?.data.object).toMatchObject({ userId: 'ann', featureId: 'call', mode: 'REPLACE', limit: 5 })
    expect(entitled?.data.object.entitlements).toMatchObject([{ featureId: 'call', budget: 5 }])
    await set({ limit: 6, expiresAt: midnight('2091-03-12') })
    const [second] = await next('override.set', 'entitlements.changed')
    expect(second?.data.previous).toEqual({ limit: 5, expiresAt: null })
    await app.admin.call('removeOverride { mode }', { userId: 'ann', featureId: 'call' })
    await next('override.removed', 'entitlements.changed')
    await set({ limit: 7, expiresAt: midnight('2091-03-13') })
    await next('override.set', 'entitlements.changed')
    await app.advance(midnight('2091-03-14'))
    const [expired, none] = await next('override.expired', 'entitlements.changed')
    expect(expired).toMatchObject({ at: midnight('2091-03-13'), data: { object: { limit: 7 } } })
    expect(none?.data.object.entitlements).toEqual([])
    // The expired one is replaced, not removed or changed.
    await set({ limit: 8 })
    const [last] = await next('override.set', 'entitlements.changed')
    expect(last?.data.previous).toBeNull()
  })
})

describe('gap: events, usage', () => {
  it('reports each threshold when it is crossed, and again after usage has fallen', async () => {
    await app.subscribe('plan')
    await next('subscription.created', 'entitlements.changed')
    await app.use(7)
    await app.use(1)
    const [reached] = await next('usage.threshold_reached')
    expect(reached).toMatchObject({
      userId: 'ann',
      data: {
        object: {
          userId: 'ann',
          featureId: 'call',
          threshold: 80,
          used: 8,
          budget: 10,
          resetPeriod: 'MONTH',
        },
        previous: { used: 7 },
      },
    })
    await app.use(2)
    await next('usage.threshold_reached', 'usage.limit_reached')
    await app.use(-5)
    await app.use(5)
    const again = await next('usage.threshold_reached', 'usage.threshold_reached', 'usage.limit_reached')
    expect(again.map(({ data }) => data.object.threshold)).toEqual([80, 100, undefined])
    // A new period counts anew.
    await app.advance(midnight('2091-04-10'))
    await app.use(10)
    await next('usage.threshold_reached', 'usage.threshold_reached', 'usage.limit_reached')
  })
})

describe('gap: events, thresholds of a feature', () => {
  it('are its own, or none', async () => {
    const update = (thresholds: number[] | null) =>
      app.admin.call('updateFeature { thresholds }', { id: 'call', input: { thresholds } })
    expect(await update([100, 50])).toEqual({ thresholds: [50, 100] })
    const [changed] = await next('feature.updated')
    expect(changed?.data).toMatchObject({ object: { thresholds: [50, 100] }, previous: { thresholds: null } })
    await app.subscribe('plan')
    await next('subscription.created', 'entitlements.changed')
    await app.use(9)
    const [reached] = await next('usage.threshold_reached')
    expect(reached?.data.object).toMatchObject({ threshold: 50, used: 9 })
    await update([])
    await next('feature.updated')
    await app.use(1)
    expect(await update(null)).toEqual({ thresholds: [80, 100] })
    await next('feature.updated')
  })
})

describe('gap: events, credits', () => {
  const expiresAt = midnight('2091-03-20')
  const add = (id: string, amount: number, more: object = {}) =>
    app.admin.call('addCredit { id }', { input: { id, userId: 'ann', featureId: 'call', amount, ...more } })

  it('reports a credit when it is added, spent, given back and voided', async () => {
    await add('gift', 10, { reason: 'sorry' })
    const [added] = await next('credit.added')
    expect(added).toMatchObject({ userId: 'ann', at: midnight('2091-03-10') })
    expect(added?.data).toEqual({
      version: 1,
      object: {
        id: 'gift',
        userId: 'ann',
        featureId: 'call',
        amount: 10,
        used: 0,
        kind: 'PROMOTIONAL',
        priority: 50,
        effectiveAt: midnight('2091-03-10'),
        expiresAt: null,
        state: 'LIVE',
        reason: 'sorry',
      },
      previous: null,
    })
    // Only its last unit is an event.
    await app.use(4)
    await app.use(6)
    const [spent] = await next('credit.spent')
    expect(spent?.data).toMatchObject({
      object: { id: 'gift', used: 10, state: 'SPENT' },
      previous: { used: 4, state: 'LIVE' },
    })
    await app.use(-1)
    const [back] = await next('credit.changed')
    expect(back?.data).toMatchObject({
      object: { used: 9, state: 'LIVE' },
      previous: { used: 10, state: 'SPENT' },
    })
    await app.admin.call('voidCredit { id }', { id: 'gift', reason: 'fraud' })
    const [voided] = await next('credit.voided')
    expect(voided?.data).toMatchObject({
      object: { state: 'VOIDED', reason: 'fraud' },
      previous: { state: 'LIVE', reason: 'sorry' },
    })
  })

  it('reports when a credit expires, unless it was spent or voided', async () => {
    await add('kept', 10, { expiresAt })
    await add('voided', 10, { expiresAt })
    await add('spent', 1, { expiresAt, priority: 0 })
    await next('credit.added', 'credit.added', 'credit.added')
    await app.use(3)
    await app.admin.call('voidCredit { id }', { id: 'voided' })
    await next('credit.spent', 'credit.voided')
    await app.advance(midnight('2091-04-01'))
    const [expired] = await next('credit.expired')
    expect(expired).toMatchObject({
      at: expiresAt,
      data: { object: { id: 'kept', used: 2, state: 'EXPIRED' }, previous: null },
    })
    // Nothing else is left, also after what has ended is written down.
    await add('later', 1)
    await next('credit.added')
  })

  it('has none of a user who is deleted but the deletion', async () => {
    await add('gift', 10, { expiresAt })
    await next('credit.added')
    await app.admin.call('deleteUser { id }', { id: 'ann' })
    await next('user.deleted')
    await app.advance(midnight('2091-04-01'))
    await app.admin.data('mutation { createUser(input: { id: "last" }) { id } }')
    await next('user.created')
  })
})

describe('gap: events, catalogue', () => {
  it('reports features, and packages with what they grant', async () => {
    await app.admin.data(`mutation {
      createFeature(input: { id: "seat", name: "Seat", type: CONSUMABLE }) { id }
      updateFeature(id: "seat", input: { unitLabel: "seat" }) { id }
    }`)
    const [created, updated] = await next('feature.created', 'feature.updated')
    expect(created?.data.object).toMatchObject({ id: 'seat', type: 'CONSUMABLE' })
    expect(updated?.data.previous).toEqual({ unitLabel: null })
    const costs = [{ featureId: 'call', cost: 5 }]
    await app.admin.call('updateFeature { id }', { id: 'seat', input: { costs } })
    const [pool] = await next('feature.updated')
    expect(pool?.data).toMatchObject({ object: { id: 'seat', costs }, previous: { costs: [] } })
    await app.subscribe('plan')
    await next('subscription.created', 'entitlements.changed')
    await app.dashboard.call('editPackage { id }', {
      id: 'plan',
      input: { name: 'Plan', features: [{ id: 'call', entitlement: { limit: 50 } }] },
    })
    await app.dashboard.call('publishPackage { id }', { id: 'plan' })
    const [published, entitled] = await next('package.published', 'entitlements.changed')
    expect(published?.data.object).toMatchObject({
      id: 'plan',
      version: 2,
      features: [{ featureId: 'call', limit: 50, resetPeriod: 'MONTH' }],
    })
    expect(entitled?.data.object.entitlements).toMatchObject([{ budget: 50 }])
  })
})

describe('gap: events, reading', () => {
  it('goes on from a cursor, by type, by user and in pages', async () => {
    await app.subscribe('plan')
    await next('subscription.created', 'entitlements.changed')
    const first = await readEvents(app.admin, { first: 2 })
    expect(types(first.nodes)).toEqual(['user.created', 'feature.created'])
    const rest = await readEvents(app.admin, { after: first.next })
    expect(types(rest.nodes)).toEqual(['package.published', 'subscription.created', 'entitlements.changed'])
    expect(await readEvents(app.admin, { after: first.next })).toEqual(rest)
    expect(await readEvents(app.admin, { after: rest.next })).toEqual({ nodes: [], next: rest.next })
    const ofUser = await readEvents(app.admin, {
      userId: 'ann',
      types: ['user.created', 'entitlements.changed'],
    })
    expect(types(ofUser.nodes)).toEqual(['user.created', 'entitlements.changed'])
    expect((await readEvents(app.admin, { userId: 'nobody' })).nodes).toEqual([])
    const sequences = [...first.nodes, ...rest.nodes].map(({ sequence }) => sequence)
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
  })

  it('refuses an unknown type, a cursor that is none, and too many', async () => {
    const refused = async (args: string) => (await app.admin.error(`{ events(${args}) { next } }`)).extensions
    expect(await refused('types: ["user.exploded"]')).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await refused('after: "12"')).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await refused('first: 501')).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await refused('first: 0')).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await refused('after: "e1"')).toMatchObject({ code: 'EVENTS_EXPIRED', status: 410 })
  })
})
