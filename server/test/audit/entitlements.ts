import assert from 'node:assert/strict'
import { type Entitlement, newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import type { Context } from './context.ts'
import { BAD_USER_INPUT, FEATURE_NOT_FOUND, refuses } from './expect.ts'

const limits = section('gap: limits')
const packageEntries = section('gap: CreatePackageInput.features')
const resetPeriods = section('gap: values of resetPeriod')

const CREATE = `mutation ($input: CreatePackageInput!) {
  createPackage(input: $input) { features { id limit } }
}`

/** The limit that a package shows for a feature granted in this way. */
async function limitOf({ app, admin }: Context, type: string, entitlement?: Entitlement): Promise<unknown> {
  const id = await app.makeFeature({ type })
  const features = [{ id, ...(entitlement && { entitlement }) }]
  const { createPackage } = await admin.data(CREATE, {
    input: { id: newId('package'), name: 'Pro', features },
  })
  assert.equal(createPackage.features[0].id, id)
  return createPackage.features[0].limit
}

async function refusesLimit({ app, admin }: Context, type: string, limit: number): Promise<void> {
  const id = await app.makeFeature({ type })
  const input = { id: newId('package'), name: 'Pro', features: [{ id, entitlement: { limit } }] }
  const { errors } = await admin.ask(CREATE, { input })
  assert.equal(errors?.[0]?.extensions.code, 'BAD_USER_INPUT')
}

export const entitlements: Audit[] = [
  section('spec §2 PackageFeature').withKey(
    'S2.P.limit-digits',
    'limit is a string of decimal digits.',
    async (context) => assert.equal(await limitOf(context, 'CONSUMABLE', { limit: 1500 }), '1500'),
  ),
  limits.withKey('G.TYPES.limit-zero', 'A limit of 0 is a limit, not the lack of one.', async (context) =>
    assert.equal(await limitOf(context, 'CONSUMABLE', { limit: 0 }), '0'),
  ),
  limits.withKey('G.TYPES.limit-largest', 'A limit goes up to 2^53-1 and is kept exactly.', async (context) =>
    assert.equal(await limitOf(context, 'CONSUMABLE', { limit: 2 ** 53 - 1 }), '9007199254740991'),
  ),
  limits.withKey('G.TYPES.limit-too-large', 'A limit of 2^53 is refused.', (context) =>
    refusesLimit(context, 'CONSUMABLE', 2 ** 53),
  ),
  limits.withKey('G.TYPES.limit-negative', 'A negative limit is refused.', (context) =>
    refusesLimit(context, 'CONSUMABLE', -1),
  ),
  section('spec §2 Entitlement').withKey(
    'S2.I.limit-integer',
    'A limit is an integer: half a unit is refused.',
    (context) => refusesLimit(context, 'CONSUMABLE', 1.5),
  ),
  limits.withKey(
    'G.TYPES.limit-absent',
    'A consumable without a limit is unlimited: limit is null.',
    async (context) => {
      assert.equal(await limitOf(context, 'CONSUMABLE'), null)
      assert.equal(await limitOf(context, 'CONSUMABLE', {}), null)
      assert.equal(await limitOf(context, 'CONSUMABLE', { limit: null }), null)
    },
  ),
  limits.withKey('G.TYPES.limit-binary', 'A binary feature has a null limit.', async (context) =>
    assert.equal(await limitOf(context, 'BINARY'), null),
  ),
  limits.withKey('G.TYPES.limit-binary-refused', 'A binary entry takes no limit.', (context) =>
    refusesLimit(context, 'BINARY', 1),
  ),
  packageEntries.withKey(
    'G.TYPES.features-list',
    'features is a list and keeps its order.',
    async ({ app, admin }) => {
      const made = [await app.makeFeature(), await app.makeFeature(), await app.makeFeature()].reverse()
      const input = { id: newId('package'), name: 'Pro', features: made.map((id) => ({ id })) }
      const { createPackage } = await admin.data(CREATE, { input })
      assert.deepEqual(
        createPackage.features.map((f: { id: string }) => f.id),
        made,
      )
    },
  ),
  packageEntries.withKey(
    'G.TYPES.features-one-entry',
    'One bare entry works as well as a list of one.',
    async ({ app, admin }) => {
      const id = await app.makeFeature()
      const input = { id: newId('package'), name: 'Pro', features: { id, entitlement: { limit: 3 } } }
      const { createPackage } = await admin.data(CREATE, { input })
      assert.deepEqual(createPackage.features, [{ id, limit: '3' }])
    },
  ),
  section('gap: unknown ids').withKey(
    'G.ERRORS.entry-feature-not-found',
    'An entry for an unknown feature fails with FEATURE_NOT_FOUND, and no package is made.',
    async ({ admin, app }) => {
      const id = newId('package')
      const input = { id, name: 'Pro', features: [{ id: newId('feature') }] }
      await refuses(admin, CREATE, { input }, FEATURE_NOT_FOUND)
      await app.makeDraft([], { id })
    },
  ),
  resetPeriods.withKey(
    'G.TYPES.reset-periods',
    'resetPeriod takes HOUR, DAY, WEEK, MONTH, YEAR and NEVER, and nothing else.',
    async ({ app, admin }) => {
      const id = await app.makeFeature()
      for (const resetPeriod of ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NEVER']) {
        await app.makeDraft([{ id, entitlement: { limit: 1, resetPeriod } }])
      }
      const features = [{ id, entitlement: { limit: 1, resetPeriod: 'DECADE' } }]
      await refuses(admin, CREATE, { input: { id: newId('package'), name: 'P', features } }, BAD_USER_INPUT)
    },
  ),
  resetPeriods.withOwner(
    'G.TYPES.reset-period-default',
    'resetPeriod is MONTH and overageEnabled false when left out.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 1 })
      const { current } = await own.showUsage(userId, featureId)
      const days = (Date.parse(current.periodEnd) - Date.parse(current.periodStart)) / 86_400_000
      assert.ok(days >= 28 && days <= 31, `a period of ${days} days`)
      assert.equal(current.consumption.overageEnabled, false)
    },
  ),
]
