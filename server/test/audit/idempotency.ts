import assert from 'node:assert/strict'
import type { Data, Variables } from '../harness/client.ts'
import { newId, type OwnApp } from './app.ts'
import { type Audit, section } from './audit.ts'
import { KEY_REUSED, refuses } from './expect.ts'

const header = section('gap: Idempotency-Key')
const field = section('gap: CreateUsageEventInput.idempotencyKey')

const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded reason consumption { used } }
}`

/** Each mutation, in a form that would fail or count twice if it ran a second time. */
const MUTATIONS: [name: string, query: string, variables: (app: OwnApp) => Promise<Variables>][] = [
  [
    'create-feature',
    'mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id name packages { id } } }',
    async () => ({ input: { id: newId('feature'), name: 'F', type: 'BINARY' } }),
  ],
  [
    'update-feature',
    `mutation ($id: String!, $input: UpdateFeatureInput!) {
      updateFeature(id: $id, input: $input) { id name packages { id features { id } } }
    }`,
    async (app) => {
      const id = await app.makeFeature()
      await app.makeDraft([{ id }])
      return { id, input: { name: 'Renamed' } }
    },
  ],
  [
    'create-package',
    'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id updatedAt features { id limit } } }',
    async (app) => {
      const features = [{ id: await app.makeFeature(), entitlement: { limit: 1 } }]
      return { input: { id: newId('package'), name: 'P', features } }
    },
  ],
  [
    'update-package',
    'mutation ($id: String!, $input: UpdatePackageInput!) { updatePackage(id: $id, input: $input) { metadata updatedAt } }',
    async (app) => ({ id: await app.makeDraft(), input: { metadata: { a: 1 } } }),
  ],
  [
    'create-user',
    'mutation ($input: CreateUserInput!) { createUser(input: $input) { id metadata } }',
    async () => ({ input: { id: newId('user'), metadata: { a: [1] } } }),
  ],
  [
    'update-user',
    'mutation ($id: String!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { id } }',
    async (app) => ({ id: await app.makeUser(), input: { id: newId('user') } }),
  ],
  [
    'subscribe',
    `mutation ($userId: String!, $packageIds: [String!]!) {
      subscribe(userId: $userId, packageIds: $packageIds) { id status startedAt package { id features { id } } }
    }`,
    async (app) => {
      const plan = await app.makePlan({ id: await app.makeFeature() })
      return { userId: await app.makeUser(), packageIds: [plan] }
    },
  ],
  [
    'record-usage',
    RECORD,
    async (app) => {
      const { userId, featureId } = await app.makeSubscriber({ limit: 5 })
      return { input: { userId, featureId, delta: 2 } }
    },
  ],
  [
    'generate-user-token',
    'mutation ($userId: String!) { generateUserToken(userId: $userId) { token } }',
    async (app) => ({ userId: await app.makeUser() }),
  ],
]

const replays = MUTATIONS.map(([name, query, variables]) =>
  header.withOwner(
    `G.IDEM.${name}`,
    `A second ${name} with the same key and request answers what the first one did, and does nothing.`,
    async ({ own }) => {
      const keyed = own.admin.with({ 'Idempotency-Key': newId('key') })
      const values = await variables(own)
      const first = await keyed.data(query, values)
      assert.deepEqual(await keyed.data(query, values), first)
    },
  ),
)

async function recorded(app: OwnApp, input: Variables): Promise<Data> {
  return (await app.admin.data(RECORD, { input })).recordUsage
}

export const idempotency: Audit[] = [
  ...replays,
  header.withOwner(
    'G.IDEM.counted-once',
    'Usage recorded three times with one key counts once, and with three keys three times.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 50 })
      const variables = { input: { userId, featureId, delta: 2 } }
      const keyed = own.admin.with({ 'Idempotency-Key': newId('key') })
      for (let i = 0; i < 3; i++) await keyed.data(RECORD, variables)
      assert.equal(await own.used(userId, featureId), 2)
      for (let i = 0; i < 3; i++) {
        await own.admin.with({ 'Idempotency-Key': newId('key') }).data(RECORD, variables)
      }
      assert.equal(await own.used(userId, featureId), 8)
    },
  ),
  header.withOwner(
    'G.IDEM.under-race',
    'Calls with one key at the same time count once and all get the same answer.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 50 })
      const keyed = own.admin.with({ 'Idempotency-Key': newId('key') })
      const calls = Array.from({ length: 8 }, () =>
        keyed.data(RECORD, { input: { userId, featureId, delta: 2 } }),
      )
      for (const { recordUsage } of await Promise.all(calls)) {
        assert.deepEqual(recordUsage, { recorded: true, reason: null, consumption: { used: 2 } })
      }
      assert.equal(await own.used(userId, featureId), 2)
    },
  ),
  header.withKey(
    'G.IDEM.another-request',
    'The same key with another request is refused with IDEMPOTENCY_KEY_REUSED, and nothing happens.',
    async ({ admin, app }) => {
      const create = 'mutation ($id: String!) { createUser(input: { id: $id }) { id } }'
      const keyed = admin.with({ 'Idempotency-Key': newId('key') })
      await keyed.data(create, { id: newId('user') })
      const id = newId('user')
      await refuses(keyed, create, { id }, KEY_REUSED)
      await app.makeUser({ id })
    },
  ),
  header.withKey(
    'G.IDEM.several-mutations',
    'A request of several mutations is told again whole.',
    async ({ admin }) => {
      const keyed = admin.with({ 'Idempotency-Key': newId('key') })
      const [a, b] = [newId('user'), newId('user')]
      const query = `mutation { a: createUser(input: { id: "${a}" }) { id } b: createUser(input: { id: "${b}" }) { id } }`
      const first = await keyed.data(query)
      assert.deepEqual(first, { a: { id: a }, b: { id: b } })
      assert.deepEqual(await keyed.data(query), first)
    },
  ),
  header.withOwner(
    'G.IDEM.per-app',
    'A key belongs to its app: another app may use the same.',
    async ({ own, freshApp }) => {
      const keyHeader = { 'Idempotency-Key': newId('key') }
      const other = await freshApp()
      for (const app of [own, other]) {
        const id = newId('user')
        const { createUser } = await app.admin
          .with(keyHeader)
          .data(`mutation { createUser(input: { id: "${id}" }) { id } }`)
        assert.equal(createUser.id, id)
      }
    },
  ),
  header.withKey(
    'G.IDEM.queries-unaffected',
    'A query with a key is answered from how things are now.',
    async ({ admin, app }) => {
      const keyed = admin.with({ 'Idempotency-Key': newId('key') })
      const id = await app.makeUser({ name: 'Ada' })
      const query = `{ user(id: "${id}") { name } }`
      assert.equal((await keyed.data(query)).user.name, 'Ada')
      await admin.data(`mutation { updateUser(id: "${id}", input: { name: "Bob" }) { id } }`)
      assert.equal((await keyed.data(query)).user.name, 'Bob')
    },
  ),
  field.withOwner(
    'G.IDEM.event-key',
    'Two events with one idempotencyKey count once, and answer the same.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 50 })
      const input = { userId, featureId, delta: 3, idempotencyKey: newId('key') }
      const first = await recorded(own, input)
      assert.deepEqual(first, { recorded: true, reason: null, consumption: { used: 3 } })
      assert.deepEqual(await recorded(own, input), first)
      assert.equal(await own.used(userId, featureId), 3)
    },
  ),
  field.withOwner(
    'G.IDEM.event-key-another-event',
    'One idempotencyKey on another event is refused with IDEMPOTENCY_KEY_REUSED.',
    async ({ own }) => {
      const { userId, featureId } = await own.makeSubscriber({ limit: 50 })
      const input = { userId, featureId, delta: 3, idempotencyKey: newId('key') }
      await recorded(own, input)
      await refuses(own.admin, RECORD, { input: { ...input, delta: 4 } }, KEY_REUSED)
      assert.equal(await own.used(userId, featureId), 3)
    },
  ),
]
