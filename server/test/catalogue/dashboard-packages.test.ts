import { describe, expect, it } from 'vitest'
import { createUsers, newTestApp, publishPackage, type TestApp } from '../harness/catalogue.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

const newApp = () => newTestApp(server)

const PACKAGE = `id name status updatedAt
  grants { id limit resetPeriod overageEnabled }
  draft { name grants { id limit resetPeriod overageEnabled } }`

const edit = ({ id: appId, dashboard }: TestApp, id: string, input: object) =>
  dashboard.data(
    `mutation ($appId: String!, $id: String!, $input: EditPackageInput!) {
      editPackage(appId: $appId, id: $id, input: $input) { ${PACKAGE} }
    }`,
    { appId, id, input },
  )

const mutate = ({ id: appId, dashboard }: TestApp, field: string, id: string) =>
  dashboard.data(
    `mutation ($appId: String!, $id: String!) { ${field}(appId: $appId, id: $id) { ${PACKAGE} } }`,
    { appId, id },
  )

const grant = (id: string, limit: number | null = null) => ({
  id,
  limit: limit === null ? null : String(limit),
  resetPeriod: 'MONTH',
  overageEnabled: false,
})

/** What a subscriber gets of `calls`. */
async function budget({ admin }: TestApp): Promise<number | null> {
  const canUseFeature = await admin.call('canUseFeature { consumption { budget } }', {
    userId: 'u',
    featureId: 'calls',
  })
  return canUseFeature.consumption?.budget ?? null
}

async function subscribe({ admin }: TestApp, ...packageIds: string[]): Promise<string[]> {
  const subscribe = await admin.call('subscribe { id }', { userId: 'u', packageIds })
  return subscribe.map(({ id }: { id: string }) => id)
}

/** A published plan with ten calls, and a user who has it. */
async function subscribed() {
  const app = await newApp()
  await publishPackage(app, 'plan', { calls: { limit: 10 } })
  await createUsers(app.admin, ['u'])
  const [subscription = ''] = await subscribe(app, 'plan')
  return { app, subscription }
}

describe('spec §4 mutation rule 1: any other package change is made in the dashboard', () => {
  it('changes a package that is not published at once', async () => {
    const app = await newApp()
    await app.admin.call('createFeature', { input: { id: 'calls', name: 'C', type: 'CONSUMABLE' } })
    await app.admin.data('mutation { createPackage(input: {id: "plan", name: "Plan"}) { id } }')
    const { editPackage } = await edit(app, 'plan', {
      name: 'Pro',
      features: [{ id: 'calls', entitlement: { limit: 5 } }],
    })
    expect(editPackage).toMatchObject({
      name: 'Pro',
      status: 'DRAFT',
      grants: [grant('calls', 5)],
      draft: null,
    })
    expect(await app.admin.data('{ package(id: "plan") { name features { id limit } } }')).toEqual({
      package: { name: 'Pro', features: [{ id: 'calls', limit: '5' }] },
    })
  })

  it('keeps an edit of a published package waiting until it is published again', async () => {
    const { app } = await subscribed()
    const { editPackage } = await edit(app, 'plan', {
      name: 'Bigger',
      features: [{ id: 'calls', entitlement: { limit: 99 } }],
    })
    expect(editPackage).toMatchObject({
      name: 'plan',
      status: 'PUBLISHED',
      grants: [grant('calls', 10)],
      draft: { name: 'Bigger', grants: [grant('calls', 99)] },
    })
    expect(await budget(app)).toBe(10)
    expect(await app.admin.data('{ package(id: "plan") { name features { limit } } }')).toEqual({
      package: { name: 'plan', features: [{ limit: '10' }] },
    })

    const published = await mutate(app, 'publishPackage', 'plan')
    expect(published.publishPackage).toMatchObject({
      name: 'Bigger',
      status: 'PUBLISHED',
      grants: [grant('calls', 99)],
      draft: null,
    })
    expect(await budget(app)).toBe(99)
  })

  it('edits the draft where there is one', async () => {
    const { app } = await subscribed()
    await edit(app, 'plan', { features: [{ id: 'calls', entitlement: { limit: 20 } }] })
    const { editPackage } = await edit(app, 'plan', { name: 'Renamed' })
    expect(editPackage.draft).toEqual({ name: 'Renamed', grants: [grant('calls', 20)] })
  })

  it('throws a draft away, and leaves subscribers what they have', async () => {
    const { app } = await subscribed()
    await edit(app, 'plan', { features: [] })
    const { discardPackageDraft } = await mutate(app, 'discardPackageDraft', 'plan')
    expect(discardPackageDraft).toMatchObject({ draft: null, grants: [grant('calls', 10)] })
    await mutate(app, 'publishPackage', 'plan')
    expect(await budget(app)).toBe(10)
  })

  const REFUSED = [
    [{ features: [{ id: 'none' }] }, 'FEATURE_NOT_FOUND', 'Feature not found: "none"'],
    [{ features: [{ id: 'calls' }, { id: 'calls' }] }, 'BAD_USER_INPUT', 'Feature "calls" is listed twice'],
    [
      { features: [{ id: 'calls', entitlement: { limit: -1 } }] },
      'BAD_USER_INPUT',
      'limit must be an integer from 0 to 9007199254740991',
    ],
  ] as const
  it.for(REFUSED)('refuses %j: %s', async ([input, code, message]) => {
    const { app } = await subscribed()
    const error = await app.dashboard.error(
      `mutation ($appId: String!, $input: EditPackageInput!) {
        editPackage(appId: $appId, id: "plan", input: $input) { id }
      }`,
      { appId: app.id, input },
    )
    expect(error).toMatchObject({ message, extensions: { code } })
    expect((await mutate(app, 'discardPackageDraft', 'plan')).discardPackageDraft.grants).toEqual([
      grant('calls', 10),
    ])
  })
})

describe('spec §3: publishing', () => {
  it('twice is as good as once', async () => {
    const { app } = await subscribed()
    const first = await mutate(app, 'publishPackage', 'plan')
    const second = await mutate(app, 'publishPackage', 'plan')
    expect(second).toEqual(first)
    expect(await budget(app)).toBe(10)
  })

  it('shows drafts in the dashboard and not among the packages of the Admin API', async () => {
    const { app } = await subscribed()
    await app.admin.data('mutation { createPackage(input: {id: "next", name: "Next"}) { id } }')
    const { packages } = await app.dashboard.data(
      'query ($appId: String!) { packages(appId: $appId) { id status } package(appId: $appId, id: "next") { id } }',
      { appId: app.id },
    )
    expect(packages).toEqual([
      { id: 'plan', status: 'PUBLISHED' },
      { id: 'next', status: 'DRAFT' },
    ])
    expect(await app.admin.data('{ packages { id } }')).toEqual({ packages: [{ id: 'plan' }] })
  })
})

describe('spec §3: cancelling a subscription', () => {
  const CANCEL = `mutation ($appId: String!, $id: String!, $atPeriodEnd: Boolean) {
    cancelSubscription(appId: $appId, id: $id, atPeriodEnd: $atPeriodEnd) { id status cancelAt cancelledAt }
  }`

  it("ends it at its period's end by default", async () => {
    const { app, subscription } = await subscribed()
    const { cancelSubscription } = await app.dashboard.data(CANCEL, { appId: app.id, id: subscription })
    expect(cancelSubscription).toEqual({
      id: subscription,
      status: 'ACTIVE',
      cancelAt: expect.stringMatching(/^\d{4}-.*Z$/),
      cancelledAt: null,
    })
    expect(await budget(app)).toBe(10)
  })

  it('ends it at once, with its add-ons, and never revives it', async () => {
    const { app, subscription } = await subscribed()
    await publishPackage(app, 'more', { calls: { limit: 5 } }, true)
    await subscribe(app, 'more')
    expect(await budget(app)).toBe(15)

    const now = { appId: app.id, id: subscription, atPeriodEnd: false }
    const { cancelSubscription } = await app.dashboard.data(CANCEL, now)
    expect(cancelSubscription.status).toBe('CANCELLED')
    expect(await app.admin.data('{ subscriptions(userId: "u") { status } }')).toEqual({
      subscriptions: [{ status: 'CANCELLED' }, { status: 'CANCELLED' }],
    })
    expect(await budget(app)).toBe(null)
    expect((await app.dashboard.data(CANCEL, now)).cancelSubscription).toEqual(cancelSubscription)
  })

  it("is not to be reached through another app's id", async () => {
    const { subscription } = await subscribed()
    const other = await newApp()
    expect(await server.dashboard.error(CANCEL, { appId: other.id, id: subscription })).toMatchObject({
      extensions: { code: 'SUBSCRIPTION_NOT_FOUND' },
    })
  })
})
