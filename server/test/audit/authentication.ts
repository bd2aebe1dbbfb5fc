import assert from 'node:assert/strict'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { errorOf, UNAUTHENTICATED } from './expect.ts'

const rule3 = section('spec §5 authentication rule 3')
const rule1 = section('spec §5 authentication rule 1')
const wrongKey = section('gap: the error for a missing or invalid key')

const ASK = '{"query":"{ features(first: 0) { id } }"}'

/** Headers that are not a valid key; null: no header at all. */
const INVALID: [name: string, what: string, header: (key: string) => string | null][] = [
  ['missing', 'no key', () => null],
  ['wrong', 'a wrong key', () => 'tg_not_a_key_of_anybody'],
  ['empty', 'an empty header', () => ''],
  ['bearer-alone', 'Bearer without a key', () => 'Bearer'],
  ['prefix', 'the beginning of a key', (key) => key.slice(0, -1)],
  ['longer', 'a key with something after it', (key) => `${key}x`],
  ['basic', 'a key under another scheme', (key) => `Basic ${key}`],
  ['case', 'a key in other letters', (key) => swapCase(key)],
]

const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )

const invalid = INVALID.map(([name, what, header]) =>
  rule3.withKey(
    `S5.A3.${name}`,
    `A request with ${what} fails with UNAUTHENTICATED.`,
    async ({ visitor, key }) => {
      const value = header(key)
      const client = value === null ? visitor : visitor.with({ Authorization: value })
      assert.deepEqual((await errorOf(await client.post(ASK))).extensions, UNAUTHENTICATED)
    },
  ),
)

export const authentication: Audit[] = [
  ...invalid,
  rule1.withKey(
    'S5.A1.bare-key',
    'The key stands in the Authorization header as it is.',
    async ({ visitor, key }) => {
      const client = visitor.with({ Authorization: key })
      assert.deepEqual(await client.data('{ features(first: 0) { id } }'), { features: [] })
    },
  ),
  section('spec §5 authentication rule 2').withKey(
    'S5.A2.bearer',
    'The word Bearer before the key is not required, and does no harm.',
    async ({ visitor, key }) => {
      const client = visitor.with({ Authorization: `Bearer ${key}` })
      assert.deepEqual(await client.data('{ features(first: 0) { id } }'), { features: [] })
    },
  ),
  rule1.withKey(
    'S5.A1.every-request',
    'Every request carries the key: one on the same connection as a good one is refused without it.',
    async ({ admin, visitor }) => {
      await admin.data('{ __typename }')
      assert.deepEqual((await errorOf(await visitor.post(ASK))).extensions, UNAUTHENTICATED)
    },
  ),
  wrongKey.withKey(
    'G.AUTH.uniform-message',
    'The error is the same whether the key is missing or wrong.',
    async ({ visitor }) => {
      const missing = await errorOf(await visitor.post(ASK))
      const wrong = await errorOf(await visitor.with({ Authorization: 'tg_wrong' }).post(ASK))
      assert.deepEqual(wrong, missing)
    },
  ),
  wrongKey.withKey(
    'G.AUTH.before-parsing',
    'Authentication comes before parsing: whatever the body, nothing else is learned without a key.',
    async ({ visitor }) => {
      const expected = await errorOf(await visitor.post(ASK))
      const bodies = [
        '',
        '{',
        '[]',
        '{"query":"{"}',
        '{"query":"{ nonsense }"}',
        '{"query":"{ __typename }"}',
      ]
      for (const body of bodies) assert.deepEqual(await errorOf(await visitor.post(body)), expected)
    },
  ),
  section('gap: introspection').withKey(
    'G.AUTH.no-introspection',
    'Without a valid key there is no introspection.',
    async ({ visitor }) => {
      const { data, errors } = await visitor.ask('{ __schema { types { name } } }')
      assert.equal(data, undefined)
      assert.deepEqual(errors?.[0]?.extensions, UNAUTHENTICATED)
    },
  ),
  rule3.withKey(
    'G.AUTH.no-effect',
    'A mutation without a valid key has no effect.',
    async ({ visitor, app }) => {
      const id = newId('user')
      await visitor.ask(`mutation { createUser(input: { id: "${id}" }) { id } }`)
      await app.makeUser({ id })
    },
  ),
  section('gap: identifiers are unique within an app').withOwner(
    'G.AUTH.apps-apart',
    'Two apps may use the same ids, and neither sees what is the other’s.',
    async ({ freshApp }) => {
      const [one, other] = [await freshApp(), await freshApp()]
      const [featureId, packageId, userId] = [newId('feature'), newId('package'), newId('user')]
      for (const [app, name] of [
        [one, 'one'],
        [other, 'other'],
      ] as const) {
        await app.makeFeature({ id: featureId, name })
        await app.makeDraft([{ id: featureId, entitlement: { limit: 5 } }], { id: packageId, name })
        await app.makeUser({ id: userId, name })
      }
      await one.publish(packageId)
      const [subscription] = await one.subscribe(userId, packageId)
      await one.recordUsage(userId, featureId, 2)

      assert.deepEqual(
        await other.admin.data('{ features { name } packages(status: "DRAFT") { name } users { name } }'),
        { features: [{ name: 'other' }], packages: [{ name: 'other' }], users: [{ name: 'other' }] },
      )
      assert.deepEqual((await other.admin.data('{ subscriptions { id } }')).subscriptions, [])
      assert.equal((await other.canUseFeature(userId, featureId)).reasonCode, 'NO_SUBSCRIPTION')
      const { extensions } = await other.admin.error(`{ subscription(id: "${subscription?.id}") { id } }`)
      assert.equal(extensions.code, 'SUBSCRIPTION_NOT_FOUND')
    },
  ),
]
