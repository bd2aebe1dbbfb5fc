import assert from 'node:assert/strict'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, FEATURE_NOT_FOUND, refuses } from './expect.ts'

const feature = section('spec §2 Feature')

const FIELDS = 'id name type unitLabel unitLabelPlural metadata'
const CREATE = `mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { ${FIELDS} } }`
const UPDATE = `mutation ($id: String!, $input: UpdateFeatureInput!) {
  updateFeature(id: $id, input: $input) { ${FIELDS} }
}`
const READ = `query ($id: String!) { feature(id: $id) { ${FIELDS} } }`

const described = (id: string) => ({
  id,
  name: 'API calls',
  type: 'CONSUMABLE',
  unitLabel: 'call',
  unitLabelPlural: 'calls',
  metadata: { tier: 1, tags: ['a'] },
})

export const features: Audit[] = [
  feature.withKey(
    'S2.F.created-as-given',
    'createFeature returns the feature as given, and feature reads it back by its id.',
    async ({ admin }) => {
      const input = described(newId('feature'))
      assert.deepEqual((await admin.data(CREATE, { input })).createFeature, input)
      assert.deepEqual((await admin.data(READ, { id: input.id })).feature, input)
    },
  ),
  feature.withKey('S2.F.binary', 'A feature may be BINARY, without units.', async ({ admin }) => {
    const input = { id: newId('feature'), name: 'Export', type: 'BINARY' }
    const { createFeature } = await admin.data(CREATE, { input })
    assert.deepEqual(createFeature, { ...input, unitLabel: null, unitLabelPlural: null, metadata: {} })
  }),
  feature.withKey(
    'S2.F.packages',
    'packages of a feature are the packages that include it, and no others.',
    async ({ admin, app }) => {
      const [id, other] = [await app.makeFeature(), await app.makeFeature()]
      const including = [await app.makeDraft([{ id }, { id: other }]), await app.makeDraft([{ id }])]
      await app.makeDraft([{ id: other }])
      const { feature } = await admin.data('query ($id: String!) { feature(id: $id) { packages { id } } }', {
        id,
      })
      assert.deepEqual(
        feature.packages.map((p: { id: string }) => p.id),
        including,
      )
    },
  ),
  section('spec §4 queries table').withKey(
    'S4.Q0.features-all',
    'features returns all features, oldest first.',
    async ({ admin, app }) => {
      const made = [
        await app.makeFeature(),
        await app.makeFeature({ type: 'BINARY' }),
        await app.makeFeature(),
      ]
      const { features } = await admin.data('{ features { id } }')
      const ids = features.map((f: { id: string }) => f.id)
      assert.deepEqual(
        ids.filter((id: string) => made.includes(id)),
        made,
      )
    },
  ),
  section('spec §4 mutations table').withKey(
    'S4.M0.update-feature-changes',
    'updateFeature changes name, unitLabel, unitLabelPlural and metadata, and returns the feature.',
    async ({ admin }) => {
      const input = described(newId('feature'))
      await admin.data(CREATE, { input })
      const change = { name: 'Calls', unitLabel: 'c', unitLabelPlural: 'cs', metadata: { new: true } }
      const { updateFeature } = await admin.data(UPDATE, { id: input.id, input: change })
      assert.deepEqual(updateFeature, { ...input, ...change })
      assert.deepEqual((await admin.data(READ, { id: input.id })).feature, updateFeature)
    },
  ),
  section('gap: what an update changes').withKey(
    'G.INPUT.feature-update-carries',
    'updateFeature changes only the fields that its input carries; metadata is replaced whole.',
    async ({ admin }) => {
      const input = described(newId('feature'))
      await admin.data(CREATE, { input })
      const { updateFeature } = await admin.data(UPDATE, { id: input.id, input: { metadata: { tier: 2 } } })
      assert.deepEqual(updateFeature, { ...input, metadata: { tier: 2 } })
      const renamed = await admin.data(UPDATE, { id: input.id, input: { name: 'Calls' } })
      assert.deepEqual(renamed.updateFeature, { ...updateFeature, name: 'Calls' })
    },
  ),
  section('spec §2 PackageFeature').withKey(
    'S2.P.package-feature-follows',
    'A package shows its feature as it is now, with all seven fields.',
    async ({ admin, app }) => {
      const { id, ...given } = described(newId('feature'))
      await app.makeFeature({ id, ...given })
      const packageId = await app.makeDraft([{ id, entitlement: { limit: 500 } }])
      await admin.data(UPDATE, { id, input: { name: 'Calls' } })
      const read = await admin.data(
        'query ($id: String!) { package(id: $id) { features { id name limit type unitLabel unitLabelPlural metadata } } }',
        { id: packageId },
      )
      assert.deepEqual(read.package.features, [{ id, ...given, name: 'Calls', limit: '500' }])
    },
  ),
  section('gap: unknown ids').withKey(
    'G.ERRORS.feature-not-found',
    'feature and updateFeature on an unknown id fail with FEATURE_NOT_FOUND.',
    async ({ admin }) => {
      await refuses(admin, READ, { id: newId('feature') }, FEATURE_NOT_FOUND)
      await refuses(admin, UPDATE, { id: newId('feature'), input: { name: 'N' } }, FEATURE_NOT_FOUND)
    },
  ),
  section('gap: identifiers').withKey(
    'G.ERRORS.feature-id-taken',
    'createFeature with a taken id fails with BAD_USER_INPUT and changes nothing.',
    async ({ admin }) => {
      const input = described(newId('feature'))
      await admin.data(CREATE, { input })
      await refuses(admin, CREATE, { input: { ...input, name: 'Another' } }, BAD_USER_INPUT)
      assert.deepEqual((await admin.data(READ, { id: input.id })).feature, input)
    },
  ),
]
