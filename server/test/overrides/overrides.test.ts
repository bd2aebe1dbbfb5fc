import { beforeEach, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import { Client, type Data, type Variables } from '../harness/client.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { rowsOf } from '../harness/database.ts'
import { onCluster } from '../harness/one-server.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { watchStatements } from '../harness/statements.ts'

// Invariants: an override wins over packages, whatever happens to them, until the millisecond of its expiry; setting
// it again does not touch the count; its note is for the application's own people.

const SET = `mutation ($input: OverrideInput!) {
  setOverride(input: $input) {
    userId featureId mode limit overageEnabled resetPeriod startedAt expiresAt reason
  }
}`
const CHECK = `query ($featureId: String!, $delta: Int) {
  canUseFeature(userId: "ann", featureId: $featureId, delta: $delta) {
    access reason reasonCode consumption { budget used overageEnabled }
  }
}`
const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { budget used } }
}`

const server = shared(startTestServer)
let app: ClockedApp

const start = midnight('2091-03-10')

beforeEach(async () => {
  app = await clockedApp(server)
  // In the plan: 10 calls a month, and `export`. In no plan: `seat` and `audit`.
  await app.admin.data(`mutation {
    seat: createFeature(input: { id: "seat", name: "Seat", type: CONSUMABLE }) { id }
    export: createFeature(input: { id: "export", name: "Export", type: BINARY }) { id }
    audit: createFeature(input: { id: "audit", name: "Audit", type: BINARY }) { id }
  }`)
  await publishPackage(app, 'plan', { call: { limit: 10 }, export: {} })
  await app.advance(start)
})

async function set(featureId: string, mode: string, more: Variables = {}): Promise<Data> {
  const input = { userId: 'ann', featureId, mode, ...more }
  return (await app.admin.data(SET, { input })).setOverride
}

const remove = async (featureId: string): Promise<Data | null> =>
  await app.admin.call('removeOverride { mode limit }', { userId: 'ann', featureId })

const list = async (): Promise<Data[]> =>
  (await app.admin.data('{ overrides(userId: "ann") { featureId mode limit } }')).overrides

const check = async (featureId: string, delta = 1): Promise<Data> =>
  (await app.admin.data(CHECK, { featureId, delta })).canUseFeature

const record = async (featureId: string, delta: number): Promise<Data> =>
  (await app.admin.data(RECORD, { input: { userId: 'ann', featureId, delta } })).recordUsage

describe('gap: what each mode does', () => {
  type Outcome = [reasonCode: string, budget: number | null | undefined]
  const ROWS: [
    featureId: string,
    mode: string,
    limit: number | undefined,
    subscribed: Outcome,
    alone: Outcome,
  ][] = [
    ['call', 'REPLACE', 4, ['WITHIN_BUDGET', 4], ['WITHIN_BUDGET', 4]],
    ['call', 'REPLACE', 0, ['LIMIT_EXCEEDED', 0], ['LIMIT_EXCEEDED', 0]],
    ['call', 'ADD', 4, ['WITHIN_BUDGET', 14], ['WITHIN_BUDGET', 4]],
    ['call', 'UNLIMITED', undefined, ['UNLIMITED', null], ['UNLIMITED', null]],
    ['call', 'GRANT', undefined, ['UNLIMITED', null], ['UNLIMITED', null]],
    ['call', 'DENY', undefined, ['DENIED', undefined], ['DENIED', undefined]],
    ['seat', 'REPLACE', 3, ['WITHIN_BUDGET', 3], ['WITHIN_BUDGET', 3]],
    ['seat', 'ADD', 3, ['WITHIN_BUDGET', 3], ['WITHIN_BUDGET', 3]],
    ['seat', 'UNLIMITED', undefined, ['UNLIMITED', null], ['UNLIMITED', null]],
    ['seat', 'GRANT', undefined, ['UNLIMITED', null], ['UNLIMITED', null]],
    ['seat', 'DENY', undefined, ['DENIED', undefined], ['DENIED', undefined]],
    ['export', 'GRANT', undefined, ['GRANTED', undefined], ['GRANTED', undefined]],
    ['export', 'DENY', undefined, ['DENIED', undefined], ['DENIED', undefined]],
    ['audit', 'GRANT', undefined, ['GRANTED', undefined], ['GRANTED', undefined]],
    ['audit', 'DENY', undefined, ['DENIED', undefined], ['DENIED', undefined]],
  ]
  it('on a consumable and a binary feature, in a package and in none, with a subscription and without', async () => {
    const outcomes = async () => {
      const found: unknown[] = []
      for (const [featureId, mode, limit] of ROWS) {
        await set(featureId, mode, { limit })
        const { reasonCode, consumption } = await check(featureId)
        found.push([featureId, mode, reasonCode, consumption?.budget])
      }
      return found
    }
    expect(await outcomes()).toEqual(ROWS.map(([featureId, mode, , , alone]) => [featureId, mode, ...alone]))
    await app.subscribe('plan')
    expect(await outcomes()).toEqual(
      ROWS.map(([featureId, mode, , subscribed]) => [featureId, mode, ...subscribed]),
    )
  })

  it('overage is allowed, forbidden, or as the packages say', async () => {
    await publishPackage(app, 'open', { call: { limit: 10, overageEnabled: true } })
    await app.subscribe('open')
    const answers: unknown[] = []
    for (const overageEnabled of [true, false, null]) {
      await set('call', 'REPLACE', { limit: 2, overageEnabled })
      const { reasonCode, consumption } = await check('call', 3)
      answers.push([reasonCode, consumption])
    }
    const used = { budget: 2, used: 0 }
    expect(answers).toEqual([
      ['OVERAGE', { ...used, overageEnabled: true }],
      ['LIMIT_EXCEEDED', { ...used, overageEnabled: false }],
      ['OVERAGE', { ...used, overageEnabled: true }],
    ])
    await set('call', 'REPLACE', { limit: 2, overageEnabled: false })
    expect(await record('call', 3)).toMatchObject({ recorded: false })
    await set('call', 'REPLACE', { limit: 2, overageEnabled: true })
    expect(await record('call', 3)).toMatchObject({ recorded: true, consumption: { used: 3 } })
  })

  it('the reason tells of the override', async () => {
    const told: string[] = []
    const tell = async (featureId: string, delta = 1) => told.push((await check(featureId, delta)).reason)
    await set('seat', 'REPLACE', { limit: 3 })
    await tell('seat')
    await tell('seat', 4)
    await set('seat', 'UNLIMITED')
    await tell('seat')
    await set('audit', 'GRANT')
    await tell('audit')
    await set('audit', 'DENY')
    await tell('audit')
    expect(told).toEqual([
      'Within budget: 0 of 3 used (override).',
      'Limit reached: 0 of 3 used (override); 4 more requested.',
      'The feature is unlimited (override).',
      'An override grants this feature to the user.',
      'An override denies this feature to the user.',
    ])
    await set('seat', 'DENY')
    expect(await record('seat', 1)).toEqual({
      recorded: false,
      reason: 'An override denies this feature to the user.',
      consumption: null,
    })
  })
})

describe('gap: when an override applies', () => {
  it('until the millisecond of its expiry, by the clock, and is then listed no more', async () => {
    await set('seat', 'REPLACE', { limit: 3, expiresAt: '2091-03-11T12:00:00.500+01:00' })
    await app.advance('2091-03-11T11:00:00.499Z')
    expect(await app.reasonCode('seat')).toBe('WITHIN_BUDGET')
    expect(await list()).toHaveLength(1)
    await app.advance('2091-03-11T11:00:00.500Z')
    expect(await app.reasonCode('seat')).toBe('NO_SUBSCRIPTION')
    expect(await list()).toEqual([])
    expect(await remove('seat')).toBeNull()
  })

  it('an expired one is dropped when another is set', async () => {
    await set('seat', 'REPLACE', { limit: 3, expiresAt: '2091-03-11T00:00:00Z' })
    await app.advance('2091-03-12T00:00:00Z')
    await set('audit', 'GRANT')
    const [stored] = await rowsOf<{ overrides: { featureId: string }[] }>(
      { connectionString: server.databaseUrl },
      'select overrides from users where app_id = $1',
      [app.id],
    )
    expect(stored?.overrides.map(({ featureId }) => featureId)).toEqual(['audit'])
  })

  it('survives a change of plan, cancelling, subscribing again, publishing, and a new id of the user', async () => {
    await publishPackage(app, 'pro', { call: { limit: 100 } })
    const budget = async () => (await check('call')).consumption.budget
    const [plan] = await app.subscribe('plan')
    await set('call', 'ADD', { limit: 5 })
    const budgets = [await budget()]
    await app.use(12)
    await app.cancel(plan, 'now')
    budgets.push(await budget())
    const [pro] = await app.subscribe('pro')
    budgets.push(await budget())
    expect((await check('call')).consumption.used).toBe(12)
    await app.dashboard.data(
      `mutation ($appId: String!) {
        editPackage(appId: $appId, id: "pro", input: { features: { id: "call", entitlement: { limit: 200 } } }) { id }
        publishPackage(appId: $appId, id: "pro") { id }
      }`,
      { appId: app.id },
    )
    budgets.push(await budget())
    await app.cancel(pro, 'at period end')
    budgets.push(await budget())
    expect(budgets).toEqual([15, 5, 105, 205, 205])
    await app.admin.data('mutation { updateUser(id: "ann", input: { id: "anna" }) { id } }')
    const { overrides } = await app.admin.data('{ overrides(userId: "anna") { userId limit } }')
    expect(overrides).toEqual([{ userId: 'anna', limit: 5 }])
  })

  it('without a subscription, periods are counted from its start, by its own reset period', async () => {
    await set('seat', 'REPLACE', { limit: 3, resetPeriod: 'DAY' })
    await app.advance('2091-03-10T18:00:00Z')
    await app.use(3, 'seat')
    // Setting it again begins no new count: neither its start nor its reset period moves.
    expect(await set('seat', 'REPLACE', { limit: 4 })).toMatchObject({ startedAt: start, resetPeriod: 'DAY' })
    expect(await app.showUsage('seat')).toEqual({
      current: [start, midnight('2091-03-11'), 3],
      past: [],
    })
    await app.use(1, 'seat')
    expect(await app.reasonCode('seat')).toBe('LIMIT_EXCEEDED')
    await app.advance(midnight('2091-03-11'))
    expect(await app.reasonCode('seat')).toBe('WITHIN_BUDGET')
    expect((await app.showUsage('seat')).past).toEqual([[start, midnight('2091-03-11'), 4]])
  })

  it('with one, from that of the base plan, by the reset period of the packages that include the feature', async () => {
    await app.subscribe('plan')
    await app.advance(midnight('2091-03-20'))
    await set('call', 'REPLACE', { limit: 50, resetPeriod: 'DAY' })
    await set('seat', 'REPLACE', { limit: 50, resetPeriod: 'WEEK' })
    await app.use(40)
    await app.use(40, 'seat')
    expect((await app.showUsage()).current).toEqual([start, midnight('2091-04-10'), 40])
    expect((await app.showUsage('seat')).current).toEqual([
      midnight('2091-03-17'),
      midnight('2091-03-24'),
      40,
    ])
    await app.advance(midnight('2091-03-24'))
    expect((await check('call')).consumption.used).toBe(40)
    expect((await check('seat')).consumption.used).toBe(0)
  })

  it('once removed, the packages apply again, with what was used', async () => {
    await app.subscribe('plan')
    await set('call', 'REPLACE', { limit: 50 })
    await app.use(20)
    expect(await remove('call')).toEqual({ mode: 'REPLACE', limit: 50 })
    expect(await check('call')).toMatchObject({
      reasonCode: 'LIMIT_EXCEEDED',
      reason: 'Limit reached: 20 of 10 used; 1 more requested.',
    })
    expect(await remove('call')).toBeNull()
    expect(await list()).toEqual([])
  })
})

describe('gap: what setOverride takes', () => {
  it('answers what it has set, in ISO 8601', async () => {
    expect(
      await set('seat', 'ADD', { limit: 7, expiresAt: '2091-05-01T02:00:00+02:00', reason: 'a pilot' }),
    ).toEqual({
      userId: 'ann',
      featureId: 'seat',
      mode: 'ADD',
      limit: 7,
      overageEnabled: null,
      resetPeriod: 'MONTH',
      startedAt: start,
      expiresAt: midnight('2091-05-01'),
      reason: 'a pilot',
    })
  })

  const BAD = 'BAD_USER_INPUT'
  const REFUSALS: [
    what: string,
    input: Variables,
    code: string,
    field: string | undefined,
    message: RegExp,
  ][] = [
    ['an unknown user', { userId: 'nobody' }, 'USER_NOT_FOUND', undefined, /nobody/],
    ['an unknown feature', { featureId: 'none' }, 'FEATURE_NOT_FOUND', undefined, /none/],
    ['REPLACE without a limit', { mode: 'REPLACE' }, BAD, 'limit', /REPLACE requires a limit/],
    ['ADD without a limit', { mode: 'ADD' }, BAD, 'limit', /ADD requires a limit/],
    ['UNLIMITED with a limit', { limit: 1 }, BAD, 'limit', /UNLIMITED does not accept a limit/],
    ['GRANT with a limit', { mode: 'GRANT', limit: 1 }, BAD, 'limit', /GRANT does not accept a limit/],
    ['a negative limit', { mode: 'ADD', limit: -1 }, BAD, 'limit', /integer from 0/],
    ['DENY with overage', { mode: 'DENY', overageEnabled: true }, BAD, 'overageEnabled', /does not accept/],
    ['REPLACE of a binary feature', { featureId: 'audit', mode: 'REPLACE', limit: 1 }, BAD, 'mode', /BINARY/],
    ['UNLIMITED of a binary feature', { featureId: 'audit' }, BAD, 'mode', /requires a CONSUMABLE feature/],
    ['an expiry that is now', { expiresAt: start }, BAD, 'expiresAt', /in the future/],
    ['no time', { expiresAt: '2091-02-30T00:00:00Z' }, BAD, 'expiresAt', /ISO 8601/],
    ['an empty time', { expiresAt: '' }, BAD, 'expiresAt', /ISO 8601/],
    ['a time beyond all', { expiresAt: '9999-12-31T23:59:59-23:00' }, BAD, 'expiresAt', /not be after/],
    ['a note with a NUL', { reason: '\u0000' }, BAD, 'reason', /NUL/],
  ]
  it('refuses what makes no sense, and changes nothing', async () => {
    for (const [what, more, code, field, message] of REFUSALS) {
      const input = { userId: 'ann', featureId: 'seat', mode: 'UNLIMITED', ...more }
      const { errors } = await app.admin.ask(SET, { input })
      expect({ what, errors }).toEqual({
        what,
        errors: [
          expect.objectContaining({
            message: expect.stringMatching(message),
            extensions: expect.objectContaining(field ? { code, field } : { code }),
          }),
        ],
      })
    }
    expect(await list()).toEqual([])
  })

  it('an unknown user or feature is an error for the others too', async () => {
    const codeOf = async (query: string) => (await app.admin.ask(query)).errors?.[0]?.extensions.code
    expect(await codeOf('{ overrides(userId: "nobody") { mode } }')).toBe('USER_NOT_FOUND')
    const gone = (userId: string, featureId: string) =>
      codeOf(`mutation { removeOverride(userId: "${userId}", featureId: "${featureId}") { mode } }`)
    expect(await gone('nobody', 'seat')).toBe('USER_NOT_FOUND')
    expect(await gone('ann', 'none')).toBe('FEATURE_NOT_FOUND')
  })
})

it('gap: the note is never shown to the user', async () => {
  const note = 'they threatened to leave'
  await set('seat', 'REPLACE', { limit: 3, reason: note })
  await set('audit', 'DENY', { reason: note })
  const generateUserToken = await app.admin.call('generateUserToken { token }', { userId: 'ann' })
  const page = new Client(`${server.url}/client/graphql`, {
    Authorization: `Bearer ${generateUserToken.token}`,
  })
  const shown = await page.data(`{
    me { id }
    canUseFeatures(featureIds: ["seat", "audit"]) { reason reasonCode consumption { budget } }
    showUsage(featureId: "seat") { current { consumption { budget } } }
  }`)
  expect(shown.canUseFeatures.map((c: Data) => c.reasonCode)).toEqual(['WITHIN_BUDGET', 'DENIED'])
  expect(JSON.stringify(shown)).not.toContain(note)
  expect((await page.ask('{ __type(name: "Override") { name } }')).data).toEqual({ __type: null })
})

describe('gap: what an override costs', () => {
  const namesDuring = async (work: () => Promise<unknown>): Promise<(string | null)[]> => {
    const names: (string | null)[] = []
    const stop = watchStatements(({ name }) => {
      if (name && !['load-app', 'app-moment'].includes(name)) names.push(name)
      return undefined
    })
    try {
      await work()
    } finally {
      stop()
    }
    return names
  }

  it.skipIf(onCluster)(
    'one round trip for a check and two for a record, also where it counts by two reset periods',
    async () => {
      await app.subscribe('plan')
      await set('call', 'ADD', { limit: 5, resetPeriod: 'DAY' })
      await set('seat', 'REPLACE', { limit: 5 })
      for (const featureId of ['call', 'seat']) {
        await check(featureId)
        const [read] = [featureId === 'call' ? 'read-holdings' : 'read-holding']
        expect(await namesDuring(() => check(featureId))).toEqual([read])
        // The first one creates the counter.
        expect(await namesDuring(() => record(featureId, 1))).toEqual([read, 'write-usage-new'])
        expect(await namesDuring(() => record(featureId, 1))).toEqual([read, 'write-usage'])
      }
    },
  )

  it('the catalogue is loaded again only for a reset period that the feature did not count by', async () => {
    const version = async () => {
      const rows = await rowsOf<{ version: string }>(
        { connectionString: server.databaseUrl },
        'select version from app where id = $1',
        [app.id],
      )
      return rows[0]?.version
    }
    const moved: boolean[] = []
    for (const [mode, resetPeriod] of [
      ['GRANT', 'MONTH'],
      ['DENY', 'MONTH'],
      ['UNLIMITED', 'DAY'],
      ['GRANT', 'DAY'],
      ['DENY', null],
    ] as const) {
      const before = await version()
      await set('seat', mode, { resetPeriod })
      moved.push((await version()) !== before)
    }
    await remove('seat')
    expect(moved).toEqual([true, false, true, false, false])
  })
})
