import { describe, expect, it } from 'vitest'
import { createUsers, newTestApp, publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)

const newApp = () => newTestApp(server)

const CREATE_FEATURE = `mutation ($appId: String!, $input: CreateFeatureInput!) {
  createFeature(appId: $appId, input: $input) { id name type unitLabel metadata version }
}`
const UPDATE_FEATURE = `mutation ($appId: String!, $id: String!, $input: UpdateFeatureInput!, $version: String) {
  updateFeature(appId: $appId, id: $id, input: $input, expectedVersion: $version) { name unitLabel metadata version }
}`
const EDIT = `mutation ($appId: String!, $id: String!, $input: EditPackageInput!, $version: String) {
  editPackage(appId: $appId, id: $id, input: $input, expectedVersion: $version) {
    name version grants { id limit } draft { name grants { id limit } }
  }
}`

describe('gap: editing the catalogue in the dashboard', () => {
  it('creates features and packages as the Admin API does', async () => {
    const { id: appId, admin, dashboard } = await newApp()
    const input = { id: 'calls', name: 'Calls', type: 'CONSUMABLE', unitLabel: 'call', metadata: { a: 1 } }
    expect((await dashboard.data(CREATE_FEATURE, { appId, input })).createFeature).toMatchObject(input)
    const createPackage = await dashboard.call('createPackage { id status isAddon }', {
      input: { id: 'plan', name: 'Plan', features: { id: 'calls', entitlement: { limit: 5 } } },
    })
    expect(createPackage).toEqual({ id: 'plan', status: 'DRAFT', isAddon: false })
    expect(await admin.data('{ feature(id: "calls") { name unitLabel packages { id } } }')).toEqual({
      feature: { name: 'Calls', unitLabel: 'call', packages: [{ id: 'plan' }] },
    })
  })

  it('refuses what the Admin API refuses, in its words', async () => {
    const { id: appId, dashboard } = await newApp()
    const input = { id: 'calls', name: 'Calls', type: 'CONSUMABLE' }
    await dashboard.data(CREATE_FEATURE, { appId, input })
    expect((await dashboard.error(CREATE_FEATURE, { appId, input })).message).toBe(
      'A feature with the id "calls" already exists',
    )
  })

  it('an error names the input that it is about, whatever its words', async () => {
    const { id: appId, dashboard } = await newApp()
    const REFUSED: [mutation: string, field: string | undefined][] = [
      ['inviteMember(email: "owner@example.com", role: VIEWER) { id }', 'email'],
      ['inviteMember(email: "nobody", role: VIEWER) { id }', 'email'],
      ['changePassword(current: "wrong", password: "a good password")', 'current'],
      ['changePassword(current: "wrong", password: "short")', 'password'],
      [`createApp(id: "${appId}", name: "Again") { id }`, 'id'],
      [`setOrigins(appId: "${appId}", origins: ["nowhere"]) { id }`, 'origins'],
      [`setGraceDays(appId: "${appId}", days: -1) { graceDays }`, 'days'],
      [`removeMember(memberId: "1")`, undefined],
    ]
    for (const [mutation, field] of REFUSED) {
      const { extensions, message } = await dashboard.error(`mutation { ${mutation} }`)
      expect([extensions.field, message]).toEqual([field, message])
    }
  })

  const SEARCHES: [search: string | null, found: string[]][] = [
    [null, ['api-calls', 'seats', 'Export']],
    ['', ['api-calls', 'seats', 'Export']],
    ['CALL', ['api-calls']],
    ['team', ['seats']],
    [' exp ', ['Export']],
    ['%', []],
  ]
  it('finds features by what their id or name contains', async () => {
    const { id: appId, dashboard } = await newApp()
    for (const [id, name] of Object.entries({ 'api-calls': 'API', seats: 'Team members', Export: 'x' })) {
      await dashboard.data(CREATE_FEATURE, { appId, input: { id, name, type: 'BINARY' } })
    }
    for (const [search, found] of SEARCHES) {
      const features = await dashboard.call('features { id }', { search })
      expect(features.map(({ id }: Data) => id)).toEqual(found)
    }
  })

  it('refuses the second of two concurrent edits of a feature, and keeps the first', async () => {
    const { id: appId, dashboard } = await newApp()
    const input = { id: 'calls', name: 'Calls', type: 'CONSUMABLE' }
    const { createFeature } = await dashboard.data(CREATE_FEATURE, { appId, input })
    const edit = (name: string, version: string | null) => ({ appId, id: 'calls', input: { name }, version })
    const first = await dashboard.data(UPDATE_FEATURE, edit('First', createFeature.version))
    expect(first.updateFeature.version).not.toBe(createFeature.version)
    expect(await dashboard.error(UPDATE_FEATURE, edit('Second', createFeature.version))).toMatchObject({
      message: 'This feature was changed in the meantime. Reload it and repeat your change.',
      extensions: { code: 'CONFLICT', status: 409 },
    })
    const { updateFeature } = await dashboard.data(UPDATE_FEATURE, edit('Third', null))
    expect(updateFeature.name).toBe('Third')
  })

  it('refuses the second of two concurrent edits of a package, however the first was made', async () => {
    const app = await newApp()
    await publishPackage(app, 'plan', { calls: { limit: 10 } })
    const { id: appId, dashboard, admin } = app
    const versionOf = async (): Promise<string> =>
      (await dashboard.call('package { version }', { id: 'plan' })).version
    const edit = (name: string, version: string) => ({ appId, id: 'plan', input: { name }, version })

    const seen = await versionOf()
    await dashboard.data(EDIT, edit('First', seen))
    for (const name of ['publishPackage', 'discardPackageDraft']) {
      const { extensions } = await dashboard.error(
        `mutation ($appId: String!, $v: String) { ${name}(appId: $appId, id: "plan", expectedVersion: $v) { id } }`,
        { appId, v: seen },
      )
      expect(extensions.code).toBe('CONFLICT')
    }
    expect((await dashboard.error(EDIT, edit('Second', seen))).extensions.code).toBe('CONFLICT')
    const later = await versionOf()
    await admin.data('mutation { updatePackage(id: "plan", input: { metadata: { a: 1 } }) { id } }')
    expect((await dashboard.error(EDIT, edit('Third', later))).extensions.code).toBe('CONFLICT')
    const { editPackage } = await dashboard.data(EDIT, edit('Fourth', await versionOf()))
    expect(editPackage).toMatchObject({
      name: 'plan',
      draft: { name: 'Fourth', grants: [{ id: 'calls', limit: '10' }] },
    })
  })
})

describe('gap: what publishing would do', () => {
  const PREVIEW = `query ($appId: String!, $first: Int) { publishPreview(appId: $appId, packageId: "plan", first: $first) {
    subscribers gain lose moreOverage lessOverage
    features { featureId gain lose moreOverage lessOverage before { limit } after { limit } }
    touched { next rows { userId featureId change before { reasonCode } after { reasonCode consumption { used budget } } } }
  } }`

  /** Users u0, u1, … with the plan; the n-th has used n calls of 10. */
  async function used(counts: readonly number[], grants = {}): Promise<TestApp> {
    const app = await newApp()
    await publishPackage(app, 'plan', { calls: { limit: 10 }, seats: {}, ...grants })
    await publishPackage(app, 'extra', { calls: { limit: 5 } }, true)
    await createUsers(
      app.admin,
      counts.map((_, i) => `u${i}`),
    )
    for (const [i, delta] of counts.entries()) {
      await app.admin.data(
        `mutation ($userId: String!, $input: CreateUsageEventInput!) {
          subscribe(userId: $userId, packageIds: ["plan"]) { id }
          recordUsage(input: $input) { recorded }
        }`,
        { userId: `u${i}`, input: { userId: `u${i}`, featureId: 'calls', delta } },
      )
    }
    return app
  }

  const edit = async ({ id: appId, dashboard }: TestApp, features: object[]) => {
    await dashboard.data(EDIT, { appId, id: 'plan', input: { features } })
  }
  const preview = async ({ id: appId, dashboard }: TestApp, first = 50): Promise<Data> =>
    (await dashboard.data(PREVIEW, { appId, first })).publishPreview
  const changes = ({ touched }: Data) =>
    touched.rows.map((row: Data) => `${row.userId} ${row.change} ${row.featureId} ${row.after.reasonCode}`)

  interface Row {
    what: string
    features: object[]
    gain: number
    lose: number
    moreOverage?: number
    rows: string[]
  }
  // u0 has used 0 of 10, u1 5, u2 10.
  const ROWS: Row[] = [
    {
      what: 'a lower limit takes access from those who are past it',
      features: [{ id: 'calls', entitlement: { limit: 5 } }, { id: 'seats' }],
      gain: 0,
      lose: 1,
      rows: ['u1 LOSES calls LIMIT_EXCEEDED'],
    },
    {
      what: 'a higher limit gives it to those who had used all',
      features: [{ id: 'calls', entitlement: { limit: 11 } }, { id: 'seats' }],
      gain: 1,
      lose: 0,
      rows: ['u2 GAINS calls WITHIN_BUDGET'],
    },
    {
      what: 'overage gives it too',
      features: [{ id: 'calls', entitlement: { limit: 10, overageEnabled: true } }, { id: 'seats' }],
      gain: 1,
      lose: 0,
      moreOverage: 1,
      rows: ['u2 GAINS calls OVERAGE'],
    },
    {
      what: 'a lower limit with overage refuses nobody, and costs those who are past it',
      features: [{ id: 'calls', entitlement: { limit: 5, overageEnabled: true } }, { id: 'seats' }],
      gain: 1,
      lose: 0,
      moreOverage: 2,
      rows: ['u1 MORE_OVERAGE calls OVERAGE', 'u2 GAINS calls OVERAGE'],
    },
    {
      what: 'another period starts its own count',
      features: [{ id: 'calls', entitlement: { limit: 10, resetPeriod: 'DAY' } }, { id: 'seats' }],
      gain: 1,
      lose: 0,
      rows: ['u2 GAINS calls WITHIN_BUDGET'],
    },
    {
      what: 'a feature taken away is lost by all',
      features: [{ id: 'calls', entitlement: { limit: 10 } }],
      gain: 0,
      lose: 3,
      rows: [
        'u0 LOSES seats NOT_IN_PACKAGE',
        'u1 LOSES seats NOT_IN_PACKAGE',
        'u2 LOSES seats NOT_IN_PACKAGE',
      ],
    },
    {
      what: 'the same again touches nobody',
      features: [{ id: 'seats' }, { id: 'calls', entitlement: { limit: 10 } }],
      gain: 0,
      lose: 0,
      rows: [],
    },
  ]
  it('counts who gains and who loses by their present usage', async () => {
    const app = await used([0, 5, 10])
    for (const { what, features, gain, lose, moreOverage = 0, rows } of ROWS) {
      await edit(app, features)
      const shown = await preview(app)
      expect(shown, what).toMatchObject({ subscribers: 3, gain, lose, moreOverage, lessOverage: 0 })
      expect(changes(shown), what).toEqual(rows)
    }
  })

  it('counts who comes out of overage, or has less of it', async () => {
    const app = await used([3, 12, 30], { calls: { limit: 10, overageEnabled: true } })
    await edit(app, [{ id: 'calls', entitlement: { limit: 20, overageEnabled: true } }, { id: 'seats' }])
    const shown = await preview(app)
    expect(shown).toMatchObject({ gain: 0, lose: 0, moreOverage: 0, lessOverage: 2 })
    expect(shown.features).toMatchObject([{ featureId: 'calls', moreOverage: 0, lessOverage: 2 }])
    expect(changes(shown)).toEqual(['u1 LESS_OVERAGE calls WITHIN_BUDGET', 'u2 LESS_OVERAGE calls OVERAGE'])
  })

  it('shows for each feature what is granted before and after', async () => {
    const app = await used([10])
    await edit(app, [{ id: 'calls', entitlement: { limit: 20 } }])
    expect((await preview(app)).features).toEqual([
      {
        featureId: 'calls',
        gain: 1,
        lose: 0,
        moreOverage: 0,
        lessOverage: 0,
        before: { limit: '10' },
        after: { limit: '20' },
      },
      {
        featureId: 'seats',
        gain: 0,
        lose: 1,
        moreOverage: 0,
        lessOverage: 0,
        before: { limit: null },
        after: null,
      },
    ])
  })

  it('considers add-ons, and leaves out cancelled subscriptions', async () => {
    const app = await used([9, 9, 9])
    await app.admin.data('mutation { subscribe(userId: "u1", packageIds: ["extra"]) { id } }')
    const { subscriptions } = await app.admin.data('{ subscriptions(userId: "u2") { id } }')
    await app.dashboard.call('cancelSubscription', { id: subscriptions[0].id, atPeriodEnd: false })
    await edit(app, [{ id: 'calls', entitlement: { limit: 8 } }, { id: 'seats' }])
    const shown = await preview(app)
    expect(shown).toMatchObject({ subscribers: 2, gain: 0, lose: 1 })
    expect(changes(shown)).toEqual(['u0 LOSES calls LIMIT_EXCEEDED'])
  })

  it('agrees with what canUseFeature says once it is published', async () => {
    const app = await used([0, 3, 4, 9, 10])
    await edit(app, [{ id: 'calls', entitlement: { limit: 4 } }, { id: 'seats' }])
    const ask = async () => {
      const fields = [0, 1, 2, 3, 4].map(
        (i) => `u${i}: canUseFeature(userId: "u${i}", featureId: "calls") { access }`,
      )
      return app.admin.data(`{ ${fields.join(' ')} }`)
    }
    const [before, shown] = [await ask(), await preview(app)]
    await app.dashboard.call('publishPackage', { id: 'plan' })
    const after = await ask()
    const lost = Object.keys(before).filter((user) => before[user].access && !after[user].access)
    expect(shown.touched.rows.map((row: Data) => row.userId)).toEqual(lost)
    expect(lost).toEqual(['u2', 'u3'])
  })

  it('pages the list, those who lose first, and counts everybody all the same', async () => {
    const app = await used([0, 9, 0, 9, 9])
    await app.admin.call('createFeature', { input: { id: 'more', name: 'More', type: 'BINARY' } })
    await edit(app, [{ id: 'more' }, { id: 'calls', entitlement: { limit: 1 } }, { id: 'seats' }])
    const shown = await preview(app, 3)
    expect(shown).toMatchObject({ subscribers: 5, gain: 5, lose: 3 })
    const seen = changes(shown)
    let next = shown.touched.next
    while (next !== null) {
      const publishTouched = await app.dashboard.call(
        'publishTouched { next rows { userId change featureId after { reasonCode } } }',
        { packageId: 'plan', first: 3, after: next },
      )
      seen.push(...changes({ touched: publishTouched }))
      next = publishTouched.next
    }
    expect(seen).toEqual([
      ...[1, 3, 4].flatMap((i) => [`u${i} LOSES calls LIMIT_EXCEEDED`, `u${i} GAINS more GRANTED`]),
      ...[0, 2].map((i) => `u${i} GAINS more GRANTED`),
    ])
  })

  it('touches nobody where nothing was published yet', async () => {
    const { id: appId, dashboard } = await newApp()
    await dashboard.call('createPackage', { input: { id: 'plan', name: 'Plan' } })
    const { publishPreview } = await dashboard.data(PREVIEW, { appId })
    expect(publishPreview).toMatchObject({
      subscribers: 0,
      gain: 0,
      lose: 0,
      touched: { rows: [], next: null },
    })
  })
})
