import assert from 'node:assert/strict'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, refuses, refusesDocument, USER_NOT_FOUND, VALIDATION_FAILED } from './expect.ts'

const updateInput = section('spec §2 UpdateUserInput')
const lifecycle = section('gap: users to the end')

const FIELDS = 'id billingId name email metadata'
const CREATE = `mutation ($input: CreateUserInput!) { createUser(input: $input) { ${FIELDS} } }`
const UPDATE = `mutation ($id: String!, $input: UpdateUserInput!) {
  updateUser(id: $id, input: $input) { ${FIELDS} }
}`
const MEMBER_UPDATE = `mutation ($appId: String!, $id: String!, $input: UpdateUserInput!) {
  updateUser(appId: $appId, id: $id, input: $input) { ${FIELDS} }
}`
const READ = `query ($id: String!) { user(id: $id) { ${FIELDS} } }`

const DELETE = 'mutation ($id: String!) { deleteUser(id: $id) { id } }'
const EXPORT = 'query ($id: String!) { exportUser(id: $id) }'

const described = () => ({
  id: newId('user'),
  billingId: newId('billing'),
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  metadata: { plan: 'pro', seats: 3 },
})

export const users: Audit[] = [
  section('spec §2 User').withKey(
    'S2.U.created-as-given',
    'createUser returns the user as given, and user reads it back.',
    async ({ admin }) => {
      const input = described()
      assert.deepEqual((await admin.data(CREATE, { input })).createUser, input)
      assert.deepEqual((await admin.data(READ, { id: input.id })).user, input)
    },
  ),
  section('spec §2 input objects').withKey(
    'S2.I.quick-user',
    'createUser works with id, name and email, as in the quick example.',
    async ({ admin }) => {
      const input = { id: newId('user'), name: 'Ada', email: 'ada@example.com' }
      const { createUser } = await admin.data(CREATE, { input })
      assert.deepEqual(createUser, { ...input, billingId: null, metadata: {} })
    },
  ),
  section('spec §4 queries table').withKey(
    'S4.Q0.users-all',
    'users returns all users, oldest first.',
    async ({ admin, app }) => {
      const made = [await app.makeUser(), await app.makeUser(), await app.makeUser()]
      const { users } = await admin.data('{ users { id } }')
      const ids = users.map((u: { id: string }) => u.id)
      assert.deepEqual(
        ids.filter((id: string) => made.includes(id)),
        made,
      )
    },
  ),
  section('spec §4 mutations table').withKey(
    'S4.M0.update-user-changes',
    'updateUser changes name and metadata; email and billingId stay.',
    async ({ admin }) => {
      const input = described()
      await admin.data(CREATE, { input })
      const change = { name: 'Ada King', metadata: { seats: 4 } }
      const { updateUser } = await admin.data(UPDATE, { id: input.id, input: change })
      assert.deepEqual(updateUser, { ...input, ...change })
      assert.deepEqual((await admin.data(READ, { id: input.id })).user, updateUser)
    },
  ),
  section('gap: what an update changes').withKey(
    'G.INPUT.user-update-carries',
    'updateUser changes only the fields that its input carries.',
    async ({ admin }) => {
      const input = described()
      await admin.data(CREATE, { input })
      const { updateUser } = await admin.data(UPDATE, { id: input.id, input: { name: 'Ada King' } })
      assert.deepEqual(updateUser, { ...input, name: 'Ada King' })
    },
  ),
  updateInput.withKey(
    'S2.I.user-id-changes',
    "updateUser can change the user's id: the new one answers, the old one is free.",
    async ({ admin, app }) => {
      const input = described()
      await admin.data(CREATE, { input })
      const id = newId('user')
      assert.deepEqual((await admin.data(UPDATE, { id: input.id, input: { id } })).updateUser, {
        ...input,
        id,
      })
      assert.deepEqual((await admin.data(READ, { id })).user, { ...input, id })
      await refuses(admin, READ, { id: input.id }, USER_NOT_FOUND)
      await app.makeUser({ id: input.id })
    },
  ),
  section('spec §2 PackageSubscription').withOwner(
    'S2.S.user-id-follows',
    "userId maps to User.id: after a change of id, the user's subscriptions and usage are under the new one.",
    async ({ own }) => {
      const { userId, featureId, subscriptionId } = await own.makeSubscriber({ limit: 5 })
      await own.recordUsage(userId, featureId, 2)
      const id = newId('user')
      await own.admin.data(UPDATE, { id: userId, input: { id } })
      assert.equal((await own.subscription(subscriptionId)).userId, id)
      assert.equal(await own.used(id, featureId), 2)
      assert.equal((await own.canUseFeature(userId, featureId)).reasonCode, 'USER_NOT_FOUND')
    },
  ),
  updateInput.withKey(
    'S2.I.email-fixed',
    'email cannot be changed through the API.',
    async ({ admin, app }) => {
      const id = await app.makeUser()
      const document = `mutation { updateUser(id: "${id}", input: { email: "b@example.com" }) { id } }`
      await refusesDocument(admin, document, VALIDATION_FAILED)
    },
  ),
  updateInput.withKey(
    'S2.I.billing-id-fixed',
    'billingId cannot be changed through the API.',
    async ({ admin, app }) => {
      const id = await app.makeUser()
      const document = `mutation { updateUser(id: "${id}", input: { billingId: "b" }) { id } }`
      await refusesDocument(admin, document, VALIDATION_FAILED)
    },
  ),
  lifecycle.withOwner(
    'G.LIFE.user-contact',
    'A member changes email and billingId in the dashboard; null clears them.',
    async ({ own, dashboard }) => {
      const input = described()
      await own.admin.data(CREATE, { input })
      const change = { email: 'ada@elsewhere.example', billingId: newId('billing') }
      const variables = { appId: own.id, id: input.id }
      const { updateUser } = await dashboard.data(MEMBER_UPDATE, { ...variables, input: change })
      assert.deepEqual(updateUser, { ...input, ...change })
      const cleared = { email: null, billingId: null }
      await dashboard.data(MEMBER_UPDATE, { ...variables, input: cleared })
      assert.deepEqual((await own.admin.data(READ, { id: input.id })).user, { ...input, ...cleared })
    },
  ),
  lifecycle.withOwner(
    'G.LIFE.billing-id-taken',
    "A member's change to another user's billingId fails with BAD_USER_INPUT and changes nothing.",
    async ({ own, dashboard }) => {
      const [ada, bob] = [described(), described()]
      for (const input of [ada, bob]) await own.admin.data(CREATE, { input })
      for (const input of [{ billingId: ada.billingId, email: 'new@example.com' }, { billingId: '' }]) {
        await refuses(dashboard, MEMBER_UPDATE, { appId: own.id, id: bob.id, input }, BAD_USER_INPUT)
      }
      assert.deepEqual((await own.admin.data(READ, { id: bob.id })).user, bob)
    },
  ),
  lifecycle.withOwner(
    'G.LIFE.delete-user',
    'deleteUser erases a user with subscriptions and usage; the id is free, and a repeat is USER_NOT_FOUND.',
    async ({ own }) => {
      const { admin } = own
      const { userId: id, featureId } = await own.makeSubscriber({ limit: 5 })
      await own.recordUsage(id, featureId, 2)
      assert.deepEqual((await admin.data(DELETE, { id })).deleteUser, { id })
      await refuses(admin, READ, { id }, USER_NOT_FOUND)
      await refuses(admin, DELETE, { id }, USER_NOT_FOUND)
      await own.makeUser({ id })
      assert.equal((await own.canUseFeature(id, featureId)).reasonCode, 'NO_SUBSCRIPTION')
    },
  ),
  lifecycle.withKey(
    'G.LIFE.delete-user-keyed',
    'deleteUser with the same Idempotency-Key has the same answer again.',
    async ({ admin, app }) => {
      const id = await app.makeUser()
      const keyed = admin.with({ 'Idempotency-Key': newId('key') })
      for (let use = 0; use < 2; use++) {
        assert.deepEqual((await keyed.data(DELETE, { id })).deleteUser, { id })
      }
    },
  ),
  lifecycle.withOwner(
    'G.LIFE.export-user',
    'exportUser has the profile, the subscriptions and the usage of a user.',
    async ({ own }) => {
      const { userId: id, featureId, subscriptionId } = await own.makeSubscriber({ limit: 5 })
      await own.recordUsage(id, featureId, 2)
      const { exportUser } = await own.admin.data(EXPORT, { id })
      assert.equal(exportUser.user.id, id)
      assert.deepEqual(
        exportUser.subscriptions.map((s: { id: string }) => s.id),
        [subscriptionId],
      )
      const used = ({ featureId, used }: { featureId: string; used: number }) => ({ featureId, used })
      assert.deepEqual(exportUser.usageCounters.map(used), [{ featureId, used: 2 }])
      assert.deepEqual(exportUser.usageLedger.map(used), [{ featureId, used: 2 }])
      assert.equal(exportUser.next, null)
      await refuses(own.admin, EXPORT, { id: newId('user') }, USER_NOT_FOUND)
    },
  ),
  section('gap: unknown ids').withKey(
    'G.ERRORS.user-not-found',
    'user and updateUser on an unknown id fail with USER_NOT_FOUND.',
    async ({ admin }) => {
      await refuses(admin, READ, { id: newId('user') }, USER_NOT_FOUND)
      await refuses(admin, UPDATE, { id: newId('user'), input: { name: 'N' } }, USER_NOT_FOUND)
    },
  ),
  section('gap: identifiers').withKey(
    'G.ERRORS.user-id-taken',
    'createUser and updateUser to a taken id fail with BAD_USER_INPUT and change nothing.',
    async ({ admin, app }) => {
      const input = described()
      await admin.data(CREATE, { input })
      const other = await app.makeUser()
      await refuses(admin, CREATE, { input: { id: input.id } }, BAD_USER_INPUT)
      await refuses(admin, UPDATE, { id: other, input: { id: input.id, name: 'N' } }, BAD_USER_INPUT)
      assert.deepEqual((await admin.data(READ, { id: input.id })).user, input)
      assert.equal((await admin.data(READ, { id: other })).user.name, null)
    },
  ),
]
