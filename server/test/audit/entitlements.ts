import assert from 'node:assert/strict'
import { type Entitlement, newId } from './app.ts'
import type { Audit } from './audit.ts'
import type { Context } from './context.ts'
import { BAD_USER_INPUT, FEATURE_NOT_FOUND, refuses } from './expect.ts'

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
  {
    id: 'S2.P.limit-digits',
    section: 'spec §2 PackageFeature',
    says: 'limit is a string of decimal digits.',
    needs: 'key',
    run: async (context) => assert.equal(await limitOf(context, 'CONSUMABLE', { limit: 1500 }), '1500'),
  },
  {
    id: 'G.TYPES.limit-zero',
    section: 'gap: limits',
    says: 'A limit of 0 is a limit, not the lack of one.',
    needs: 'key',
    run: async (context) => assert.equal(await limitOf(context, 'CONSUMABLE', { limit: 0 }), '0'),
  },
  {
    id: 'G.TYPES.limit-largest',
    section: 'gap: limits',
    says: 'A limit goes up to 2^53-1 and is kept exactly.',
    needs: 'key',
    run: async (context) =>
      assert.equal(await limitOf(context, 'CONSUMABLE', { limit: 2 ** 53 - 1 }), '9007199254740991'),
  },
  {
    id: 'G.TYPES.limit-too-large',
    section: 'gap: limits',
    says: 'A limit of 2^53 is refused.',
    needs: 'key',
    run: (context) => refusesLimit(context, 'CONSUMABLE', 2 ** 53),
  },
  {
    id: 'G.TYPES.limit-negative',
    section: 'gap: limits',
    says: 'A negative limit is refused.',
    needs: 'key',
    run: (context) => refusesLimit(context, 'CONSUMABLE', -1),
  },
  {
    id: 'S2.I.limit-integer',
    section: 'spec §2 Entitlement',
    says: 'A limit is an integer: half a unit is refused.',
    needs: 'key',
    run: (context) => refusesLimit(context, 'CONSUMABLE', 1.5),
  },
  {
    id: 'G.TYPES.limit-absent',
    section: 'gap: limits',
    says: 'A consumable without a limit is unlimited: limit is null.',
    needs: 'key',
    async run(context) {
      assert.equal(await limitOf(context, 'CONSUMABLE'), null)
      assert.equal(await limitOf(context, 'CONSUMABLE', {}), null)
      assert.equal(await limitOf(context, 'CONSUMABLE', { limit: null }), null)
    },
  },
  {
    id: 'G.TYPES.limit-binary',
    section: 'gap: limits',
    says: 'A binary feature has a null limit.',
    needs: 'key',
    run: async (context) => assert.equal(await limitOf(context, 'BINARY'), null),
  },
  {
    id: 'G.TYPES.limit-binary-refused',
    section: 'gap: limits',
    says: 'A binary entry takes no limit.',
    needs: 'key',
    run: (context) => refusesLimit(context, 'BINARY', 1),
  },
  {
    id: 'G.TYPES.features-list',
    section: 'gap: CreatePackageInput.features',
    says: 'features is a list and keeps its order.',
    needs: 'key',
    async run({ app, admin }) {
      const made = [await app.makeFeature(), await app.makeFeature(), await app.makeFeature()].reverse()
      const input = { id: newId('package'), name: 'Pro', features: made.map((id) => ({ id })) }
      const { createPackage } = await admin.data(CREATE, { input })
      assert.deepEqual(
        createPackage.features.map((f: { id: string }) => f.id),
        made,
      )
    },
  },
  {
    id: 'G.TYPES.features-one-entry',
    section: 'gap: CreatePackageInput.features',
    says: 'One bare entry works as well as a list of one.',
    needs: 'key',
    async run({ app, admin }) {
      const id = await app.makeFeature()
      const input = { id: newId('package'), name: 'Pro', features: { id, entitlement: { limit: 3 } } }
      const { createPackage } = await admin.data(CREATE, { input })
      assert.deepEqual(createPackage.features, [{ id, limit: '3' }])
    },
  },
  {
    id: 'G.ERRORS.entry-feature-not-found',
    section: 'gap: unknown ids',
    says: 'An entry for an unknown feature fails with FEATURE_NOT_FOUND, and no package is made.',
    needs: 'key',
    async run({ admin, app }) {
      const id = newId('package')
      const input = { id, name: 'Pro', features: [{ id: newId('feature') }] }
      await refuses(admin, CREATE, { input }, FEATURE_NOT_FOUND)
      await app.makeDraft([], { id })
    },
  },
  {
    id: 'G.TYPES.reset-periods',
    section: 'gap: values of resetPeriod',
    says: 'resetPeriod takes HOUR, DAY, WEEK, MONTH, YEAR and NEVER, and nothing else.',
    needs: 'key',
    async run({ app, admin }) {
      const id = await app.makeFeature()
      for (const resetPeriod of ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NEVER']) {
        await app.makeDraft([{ id, entitlement: { limit: 1, resetPeriod } }])
      }
      const features = [{ id, entitlement: { limit: 1, resetPeriod: 'DECADE' } }]
      await refuses(admin, CREATE, { input: { id: newId('package'), name: 'P', features } }, BAD_USER_INPUT)
    },
  },
  {
    id: 'G.TYPES.reset-period-default',
    section: 'gap: values of resetPeriod',
    says: 'resetPeriod is MONTH and overageEnabled false when left out.',
    needs: 'dashboard',
    async run({ own }) {
      const { userId, featureId } = await own.makeSubscriber({ limit: 1 })
      const { current } = await own.showUsage(userId, featureId)
      const days = (Date.parse(current.periodEnd) - Date.parse(current.periodStart)) / 86_400_000
      assert.ok(days >= 28 && days <= 31, `a period of ${days} days`)
      assert.equal(current.consumption.overageEnabled, false)
    },
  },
]
