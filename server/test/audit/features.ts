import assert from 'node:assert/strict'
import { newId } from './app.ts'
import type { Audit } from './audit.ts'
import { BAD_USER_INPUT, FEATURE_NOT_FOUND, refuses } from './expect.ts'

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
  {
    id: 'S2.F.created-as-given',
    section: 'spec §2 Feature',
    says: 'createFeature returns the feature as given, and feature reads it back by its id.',
    needs: 'key',
    async run({ admin }) {
      const input = described(newId('feature'))
      assert.deepEqual((await admin.data(CREATE, { input })).createFeature, input)
      assert.deepEqual((await admin.data(READ, { id: input.id })).feature, input)
    },
  },
  {
    id: 'S2.F.binary',
    section: 'spec §2 Feature',
    says: 'A feature may be BINARY, without units.',
    needs: 'key',
    async run({ admin }) {
      const input = { id: newId('feature'), name: 'Export', type: 'BINARY' }
      const { createFeature } = await admin.data(CREATE, { input })
      assert.deepEqual(createFeature, { ...input, unitLabel: null, unitLabelPlural: null, metadata: {} })
    },
  },
  {
    id: 'S2.F.packages',
    section: 'spec §2 Feature',
    says: 'packages of a feature are the packages that include it, and no others.',
    needs: 'key',
    async run({ admin, app }) {
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
  },
  {
    id: 'S4.Q0.features-all',
    section: 'spec §4 queries table',
    says: 'features returns all features, oldest first.',
    needs: 'key',
    async run({ admin, app }) {
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
  },
  {
    id: 'S4.M0.update-feature-changes',
    section: 'spec §4 mutations table',
    says: 'updateFeature changes name, unitLabel, unitLabelPlural and metadata, and returns the feature.',
    needs: 'key',
    async run({ admin }) {
      const input = described(newId('feature'))
      await admin.data(CREATE, { input })
      const change = { name: 'Calls', unitLabel: 'c', unitLabelPlural: 'cs', metadata: { new: true } }
      const { updateFeature } = await admin.data(UPDATE, { id: input.id, input: change })
      assert.deepEqual(updateFeature, { ...input, ...change })
      assert.deepEqual((await admin.data(READ, { id: input.id })).feature, updateFeature)
    },
  },
  {
    id: 'G.INPUT.feature-update-carries',
    section: 'gap: what an update changes',
    says: 'updateFeature changes only the fields that its input carries; metadata is replaced whole.',
    needs: 'key',
    async run({ admin }) {
      const input = described(newId('feature'))
      await admin.data(CREATE, { input })
      const { updateFeature } = await admin.data(UPDATE, { id: input.id, input: { metadata: { tier: 2 } } })
      assert.deepEqual(updateFeature, { ...input, metadata: { tier: 2 } })
      const renamed = await admin.data(UPDATE, { id: input.id, input: { name: 'Calls' } })
      assert.deepEqual(renamed.updateFeature, { ...updateFeature, name: 'Calls' })
    },
  },
  {
    id: 'S2.P.package-feature-follows',
    section: 'spec §2 PackageFeature',
    says: 'A package shows its feature as it is now, with all seven fields.',
    needs: 'key',
    async run({ admin, app }) {
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
  },
  {
    id: 'G.ERRORS.feature-not-found',
    section: 'gap: unknown ids',
    says: 'feature and updateFeature on an unknown id fail with FEATURE_NOT_FOUND.',
    needs: 'key',
    async run({ admin }) {
      await refuses(admin, READ, { id: newId('feature') }, FEATURE_NOT_FOUND)
      await refuses(admin, UPDATE, { id: newId('feature'), input: { name: 'N' } }, FEATURE_NOT_FOUND)
    },
  },
  {
    id: 'G.ERRORS.feature-id-taken',
    section: 'gap: identifiers',
    says: 'createFeature with a taken id fails with BAD_USER_INPUT and changes nothing.',
    needs: 'key',
    async run({ admin }) {
      const input = described(newId('feature'))
      await admin.data(CREATE, { input })
      await refuses(admin, CREATE, { input: { ...input, name: 'Another' } }, BAD_USER_INPUT)
      assert.deepEqual((await admin.data(READ, { id: input.id })).feature, input)
    },
  },
]
