import { describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Publishing a package again makes its next version; who has which is derived when it is read.

const server = shared(startTestServer)

type Reach = 'ALL' | 'NEW_ONLY' | 'AT_PERIOD_END'

/** An app whose plan grants 10 calls a month, on 31 January; `ann` has it. */
async function versionedApp() {
  const app = await clockedApp(server)
  await app.advance(midnight('2030-01-31'))
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  await app.subscribe('plan')
  return app
}

const join = ({ admin }: ClockedApp, userId: string) =>
  admin.data(
    `mutation ($userId: String!) {
      createUser(input: { id: $userId }) { id }
      subscribe(userId: $userId, packageIds: ["plan"]) { id }
    }`,
    { userId },
  )

const draft = ({ id, dashboard }: ClockedApp, limit: number, more: object[] = []) =>
  dashboard.data(
    `mutation ($id: String!, $features: [EditPackageFeatureInput!]!) {
      editPackage(appId: $id, id: "plan", input: { features: $features }) { id }
    }`,
    { id, features: [{ id: 'call', entitlement: { limit } }, ...more] },
  )

const publish = ({ id, dashboard }: ClockedApp, reach?: Reach) =>
  dashboard.data(
    `mutation ($id: String!, $for: Reach) { publishPackage(appId: $id, id: "plan", for: $for) { publishedVersion } }`,
    { id, ...(reach && { for: reach }) },
  )

/** A new version with this limit. */
async function republish(app: ClockedApp, limit: number, reach?: Reach): Promise<number> {
  await draft(app, limit)
  return (await publish(app, reach)).publishPackage.publishedVersion
}

/** Each user's version and budget, as `1: 10`. */
async function held({ admin }: ClockedApp, ...userIds: string[]): Promise<string[]> {
  const shown: string[] = []
  for (const userId of userIds) {
    const { subscriptions, canUseFeature } = await admin.data(
      `query ($userId: String!) {
        subscriptions(userId: $userId) { packageVersion }
        canUseFeature(userId: $userId, featureId: "call") { consumption { budget } }
      }`,
      { userId },
    )
    shown.push(`${subscriptions[0].packageVersion}: ${canUseFeature.consumption.budget}`)
  }
  return shown
}

const MIGRATION = `id packageId fromVersion toVersion when at status subscriptions moved gains loses moreOverage lessOverage
  features { featureId gains loses moreOverage lessOverage } undoneAt`
const MIGRATE = `mutation ($from: Int!, $to: Int!, $when: ChangeTime, $dryRun: Boolean) {
  migrateSubscriptions(packageId: "plan", fromVersion: $from, toVersion: $to, when: $when, dryRun: $dryRun) { ${MIGRATION} }
}`
const migrate = async ({ admin }: ClockedApp, from: number, to: number, args: Data = {}): Promise<Data> =>
  (await admin.data(MIGRATE, { from, to, ...args })).migrateSubscriptions
const UNDO = `mutation ($id: String!) { undoMigration(id: $id) { ${MIGRATION} } }`
const undo = async ({ admin }: ClockedApp, id: string): Promise<Data> =>
  (await admin.data(UNDO, { id })).undoMigration
const migration = async ({ admin }: ClockedApp, id: string): Promise<Data> =>
  (await admin.data(`query ($id: String!) { migration(id: $id) { ${MIGRATION} } }`, { id })).migration
const versions = async ({ id, dashboard }: ClockedApp): Promise<Data> =>
  await dashboard.call(
    'packageVersions { versions { version for held publishedAt grants { limit } } migrations { id fromVersion toVersion undoneAt } }',
    { appId: id, packageId: 'plan' },
  )

describe('gap: for whom a package is published', () => {
  it('its versions and migrations are read in pages, newest first', async () => {
    const app = await versionedApp()
    for (const limit of [20, 30, 40]) await republish(app, limit, 'NEW_ONLY')
    await migrate(app, 1, 2)
    const last = await migrate(app, 2, 3)
    const page = async (args: string) => {
      const { packageVersions } = await app.dashboard.data(
        `query ($id: String!) { packageVersions(appId: $id, packageId: "plan", ${args}) {
          versions { version grants { limit } } migrations { id } } }`,
        { id: app.id },
      )
      const { versions, migrations } = packageVersions
      return { versions: versions.map((v: Data) => `${v.version}: ${v.grants[0].limit}`), migrations }
    }
    expect(await page('first: 1')).toEqual({ versions: ['4: 40'], migrations: [{ id: last.id }] })
    expect((await page('first: 2, before: 4')).versions).toEqual(['3: 30', '2: 20'])
    expect((await page('before: 3')).versions).toEqual(['2: 20', '1: 10'])
    expect((await page('before: 1')).versions).toEqual([])
  })

  it('the first publication is version 1; without a draft nothing changes', async () => {
    const app = await versionedApp()
    const publishedAt = midnight('2030-01-31')
    await app.advance(midnight('2030-02-10'))
    expect(await publish(app)).toMatchObject({ publishPackage: { publishedVersion: 1 } })
    expect((await versions(app)).versions).toMatchObject([{ version: 1, for: null, held: 1, publishedAt }])
  })

  it('a version names its author and the note of its publication', async () => {
    const app = await versionedApp()
    const edit = (limit: number) =>
      app.dashboard.call('editPackage { id }', {
        id: 'plan',
        input: { features: [{ id: 'call', entitlement: { limit } }] },
      })
    await edit(20)
    await app.dashboard.call('publishPackage { id }', { id: 'plan', for: 'NEW_ONLY', note: 'More calls' })
    await migrate(app, 1, 2)
    const found = await app.dashboard.call(
      'packageVersions { versions { version author note } migrations { author } }',
      { packageId: 'plan' },
    )
    expect(found).toEqual({
      versions: [
        { version: 2, author: OWNER.email, note: 'More calls' },
        { version: 1, author: OWNER.email, note: null },
      ],
      // An API key has moved them.
      migrations: [{ author: null }],
    })
    await edit(30)
    const error = await app.dashboard.error(
      'mutation ($appId: String!, $note: String) { publishPackage(appId: $appId, id: "plan", note: $note) { id } }',
      { appId: app.id, note: 'x'.repeat(1_025) },
    )
    expect(error.message).toBe('note must be at most 1024 characters long')
    expect((await versions(app)).versions).toHaveLength(2)
  })

  it('ALL, which is the default: everybody has it at once', async () => {
    const app = await versionedApp()
    expect(await republish(app, 20)).toBe(2)
    expect(await held(app, 'ann')).toEqual(['2: 20'])
  })

  it('NEW_ONLY: who has it keeps what they bought, and counts on', async () => {
    const app = await versionedApp()
    await app.use(7)
    await republish(app, 20, 'NEW_ONLY')
    await join(app, 'bob')
    expect(await held(app, 'ann', 'bob')).toEqual(['1: 10', '2: 20'])
    const explain = await app.dashboard.call('explain { steps { step text } }', {
      userId: 'ann',
      featureId: 'call',
    })
    expect(explain.steps).toContainEqual({
      step: 'GRANTS',
      text: 'Granted by version 1 of plan (10 per month).',
    })
    await app.advance(midnight('2031-03-15'))
    expect(await held(app, 'ann')).toEqual(['1: 10'])
    await republish(app, 30, 'ALL')
    expect(await held(app, 'ann', 'bob')).toEqual(['3: 30', '3: 30'])
  })

  it('AT_PERIOD_END: each moves when their period ends, not a millisecond before, with their usage', async () => {
    const app = await versionedApp()
    await app.advance('2030-02-05T12:00:00.000Z')
    await join(app, 'bob')
    await app.use(4)
    await republish(app, 20, 'AT_PERIOD_END')
    const walk: [string, string[]][] = [
      ['2030-02-27T23:59:59.999Z', ['1: 10', '1: 10']],
      [midnight('2030-02-28'), ['2: 20', '1: 10']],
      ['2030-03-05T11:59:59.999Z', ['2: 20', '1: 10']],
      ['2030-03-05T12:00:00.000Z', ['2: 20', '2: 20']],
    ]
    for (const [at, expected] of walk) {
      await app.advance(at)
      expect(await held(app, 'ann', 'bob'), at).toEqual(expected)
    }
    const { current, past } = await app.showUsage()
    expect(current).toEqual([midnight('2030-02-28'), midnight('2030-03-31'), 0])
    expect(past).toEqual([[midnight('2030-01-31'), midnight('2030-02-28'), 4]])
  })

  it.each(['NOW', 'PERIOD_END'])('another quantity (%s) keeps the version, and the usage', async (when) => {
    const app = await versionedApp()
    await app.use(7)
    await republish(app, 20, 'NEW_ONLY')
    const change = await app.admin.call('changeSubscription { at }', {
      userId: 'ann',
      packageId: 'plan',
      quantity: 3,
      when,
    })
    await app.advance(change.at)
    const { subscriptions, canUseFeature } = await app.admin.data(
      `{ subscriptions(userId: "ann") { status packageVersion quantity }
         canUseFeature(userId: "ann", featureId: "call") { consumption { budget used } } }`,
    )
    expect(subscriptions.at(-1)).toEqual({ status: 'ACTIVE', packageVersion: 1, quantity: 3 })
    expect(canUseFeature.consumption).toEqual({ budget: 30, used: when === 'NOW' ? 7 : 0 })
  })

  it('keeps usage where a version with the same reset period takes over', async () => {
    const app = await versionedApp()
    await app.use(10)
    await republish(app, 12, 'NEW_ONLY')
    await migrate(app, 1, 2)
    await app.use(2)
    expect(await app.reasonCode()).toBe('LIMIT_EXCEEDED')
  })
})

describe('gap: what publishing for somebody would do', () => {
  const preview = async ({ id, dashboard }: ClockedApp, reach: Reach): Promise<Data> =>
    await dashboard.call(
      'publishPreview { subscribers gain lose features { featureId gain lose } touched { rows { userId change featureId } } }',
      { appId: id, packageId: 'plan', for: reach },
    )

  it('NEW_ONLY touches nobody; AT_PERIOD_END counts by the usage at the end of the period', async () => {
    const app = await versionedApp()
    await app.admin.data('mutation { createFeature(input: { id: "sso", name: "SSO", type: BINARY }) { id } }')
    await app.use(10)
    await draft(app, 5, [{ id: 'sso' }])
    expect(await preview(app, 'NEW_ONLY')).toMatchObject({ subscribers: 1, gain: 0, lose: 0 })
    // All 10 are used now; in the next month none of the 5 will be.
    expect(await preview(app, 'ALL')).toMatchObject({
      gain: 1,
      lose: 0,
      touched: { rows: [{ userId: 'ann', change: 'GAINS', featureId: 'sso' }] },
    })
    await draft(app, 0)
    expect(await preview(app, 'ALL')).toMatchObject({ gain: 0, lose: 0 })
    expect(await preview(app, 'AT_PERIOD_END')).toMatchObject({
      subscribers: 1,
      gain: 0,
      lose: 1,
      touched: { rows: [{ userId: 'ann', change: 'LOSES', featureId: 'call' }] },
    })
  })

  it('AT_PERIOD_END leaves out who will have left by then', async () => {
    const app = await versionedApp()
    const { subscriptions } = await app.admin.data('{ subscriptions(userId: "ann") { id } }')
    await app.cancel(subscriptions[0].id, 'at period end')
    await draft(app, 0)
    expect(await preview(app, 'AT_PERIOD_END')).toMatchObject({ subscribers: 1, gain: 0, lose: 0 })
  })

  it('ALL counts those with an earlier version by what that one grants', async () => {
    const app = await versionedApp()
    await app.use(10)
    await republish(app, 20, 'NEW_ONLY')
    await join(app, 'bob')
    await draft(app, 20)
    expect(await preview(app, 'ALL')).toMatchObject({
      subscribers: 2,
      gain: 1,
      lose: 0,
      features: [{ featureId: 'call', gain: 1, lose: 0 }],
    })
  })

  it('NEW_ONLY leaves alone who was moved on by an earlier version for all', async () => {
    const app = await versionedApp()
    await republish(app, 20, 'ALL')
    await draft(app, 0)
    expect(await preview(app, 'NEW_ONLY')).toMatchObject({ gain: 0, lose: 0 })
    await publish(app, 'NEW_ONLY')
    expect(await held(app, 'ann')).toEqual(['2: 20'])
  })
})

describe('gap: migrateSubscriptions', () => {
  /** Of versions 1 (10 calls, of which ann has used all) and 2 (20, which bob has). */
  async function twoVersions() {
    const app = await versionedApp()
    await app.use(10)
    await republish(app, 20, 'NEW_ONLY')
    await join(app, 'bob')
    return app
  }

  it('a dry run counts and changes nothing; then it moves exactly those, and undoing restores them', async () => {
    const app = await twoVersions()
    const counted = {
      packageId: 'plan',
      fromVersion: 1,
      toVersion: 2,
      when: 'NOW',
      subscriptions: 1,
      moved: 1,
      gains: 1,
      loses: 0,
      moreOverage: 0,
      lessOverage: 0,
      features: [{ featureId: 'call', gains: 1, loses: 0, moreOverage: 0, lessOverage: 0 }],
      undoneAt: null,
    }
    expect(await migrate(app, 1, 2, { dryRun: true })).toMatchObject({
      ...counted,
      id: null,
      status: 'DRY_RUN',
    })
    expect(await held(app, 'ann', 'bob')).toEqual(['1: 10', '2: 20'])
    expect((await versions(app)).migrations).toEqual([])

    const done = await migrate(app, 1, 2)
    expect(done).toMatchObject({ ...counted, status: 'DONE' })
    expect(await held(app, 'ann', 'bob')).toEqual(['2: 20', '2: 20'])
    expect(await migration(app, done.id)).toEqual(done)

    const undone = await undo(app, done.id)
    expect(undone).toMatchObject({ status: 'UNDONE', moved: 0, undoneAt: midnight('2030-01-31') })
    expect(await held(app, 'ann', 'bob')).toEqual(['1: 10', '2: 20'])
    expect(await migration(app, done.id)).toEqual(undone)
    await app.advance(midnight('2030-02-01'))
    expect(await undo(app, done.id)).toEqual(undone)
  })

  it('PERIOD_END is scheduled, and moves each when their period ends; BEST is NOW', async () => {
    const app = await twoVersions()
    const { id, ...made } = await migrate(app, 1, 2, { when: 'PERIOD_END' })
    // By then a new month has begun, so that nobody gains a call.
    expect(made).toMatchObject({
      when: 'PERIOD_END',
      status: 'SCHEDULED',
      subscriptions: 1,
      moved: 0,
      gains: 0,
    })
    expect(await held(app, 'ann')).toEqual(['1: 10'])
    await app.advance(midnight('2030-02-28'))
    expect(await held(app, 'ann')).toEqual(['2: 20'])
    expect(await migration(app, id)).toMatchObject({ status: 'DONE', subscriptions: 1, moved: 1 })
    await undo(app, id)
    expect(await held(app, 'ann')).toEqual(['1: 10'])
    expect(await migrate(app, 1, 2, { when: 'BEST' })).toMatchObject({ when: 'NOW', status: 'DONE' })
  })

  it('moves back to a version that everybody had left; who subscribes later gets the newest', async () => {
    const app = await versionedApp()
    await republish(app, 20, 'ALL')
    await republish(app, 30, 'ALL')
    await migrate(app, 3, 1)
    await join(app, 'bob')
    expect(await held(app, 'ann', 'bob')).toEqual(['1: 10', '3: 30'])
    expect((await versions(app)).versions.map((v: Data) => [v.version, v.held])).toEqual([
      [3, 1],
      [2, 0],
      [1, 1],
    ])
  })

  it.each([
    [1, 1, 'fromVersion and toVersion must differ'],
    [1, 3, 'Version 3 does not exist: the package "plan" has versions 1 to 2'],
    [0, 2, 'Version 0 does not exist: the package "plan" has versions 1 to 2'],
    [-1, 2, 'Version -1 does not exist: the package "plan" has versions 1 to 2'],
  ])('refuses %i to %i, also as a dry run', async (from, to, message) => {
    const app = await twoVersions()
    for (const dryRun of [false, true]) {
      const error = await app.admin.error(MIGRATE, { from, to, dryRun })
      expect(error).toMatchObject({ message, extensions: { code: 'BAD_USER_INPUT' } })
    }
  })

  it('refuses an unknown package, an unpublished one and an unknown migration', async () => {
    const { admin } = await twoVersions()
    await admin.data('mutation { createPackage(input: { id: "new", name: "New" }) { id } }')
    const ask = (id: string) =>
      admin.error(
        `mutation { migrateSubscriptions(packageId: "${id}", fromVersion: 1, toVersion: 2) { id } }`,
      )
    expect((await ask('none')).extensions.code).toBe('PACKAGE_NOT_FOUND')
    expect((await ask('new')).message).toBe('Package is not published')
    for (const query of [
      'query { migration(id: "none") { id } }',
      'mutation { undoMigration(id: "none") { id } }',
    ]) {
      expect((await admin.error(query)).extensions).toMatchObject({
        code: 'MIGRATION_NOT_FOUND',
        status: 404,
      })
    }
  })

  it('is undone in reverse order; a version for new customers is no hindrance, one for all leaves nothing', async () => {
    const app = await twoVersions()
    const first = await migrate(app, 1, 2)
    const second = await migrate(app, 2, 1)
    expect(await held(app, 'ann', 'bob')).toEqual(['1: 10', '1: 10'])
    expect((await app.admin.error(UNDO, { id: first.id })).message).toBe(
      `Undo the later migration "${second.id}" first`,
    )
    await undo(app, second.id)
    expect(await held(app, 'ann', 'bob')).toEqual(['2: 20', '2: 20'])
    await republish(app, 30, 'NEW_ONLY')
    await undo(app, first.id)
    expect(await held(app, 'ann', 'bob')).toEqual(['1: 10', '2: 20'])
    const third = await migrate(app, 1, 3)
    await republish(app, 40, 'ALL')
    expect((await app.admin.error(UNDO, { id: third.id })).message).toBe(
      'The migration cannot be undone because version 4 was published for ALL afterwards',
    )
    expect(await held(app, 'ann', 'bob')).toEqual(['4: 40', '4: 40'])
  })

  it('two at once are both kept, move each subscription once, and are undone one after the other', async () => {
    const app = await twoVersions()
    const made = await Promise.all([migrate(app, 1, 2), migrate(app, 1, 2)])
    expect(await held(app, 'ann')).toEqual(['2: 20'])
    const { migrations } = await versions(app)
    expect(migrations.map((m: Data) => m.id).sort()).toEqual(made.map((m) => m.id).sort())
    for (const { id } of migrations) await undo(app, id)
    expect(await held(app, 'ann', 'bob')).toEqual(['1: 10', '2: 20'])
  })

  it('tells a version that nobody has from one that is held', async () => {
    const app = await twoVersions()
    await migrate(app, 1, 2)
    expect((await versions(app)).versions).toEqual([
      {
        version: 2,
        for: 'NEW_ONLY',
        held: 2,
        publishedAt: midnight('2030-01-31'),
        grants: [{ limit: '20' }],
      },
      {
        version: 1,
        for: null,
        held: 0,
        publishedAt: midnight('2030-01-31'),
        grants: [{ limit: '10' }],
      },
    ])
  })
})
