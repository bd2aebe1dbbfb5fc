import assert from 'node:assert/strict'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { BAD_USER_INPUT, refuses, refusesDocument, VALIDATION_FAILED } from './expect.ts'

const identifiers = section('gap: identifiers')
const metadataField = section('spec §2 metadata')
const stringEnum = section('gap: "String enum"')

const CREATE_USER = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id metadata } }'
const CREATE_FEATURE = 'mutation ($input: CreateFeatureInput!) { createFeature(input: $input) { id type } }'
const CREATE_PACKAGE = 'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id name } }'

/** What is required of each input: with all of it the mutation works, without any one of it it does not. */
const REQUIRED: [name: string, query: string, input: () => Record<string, unknown>][] = [
  ['create-user', CREATE_USER, () => ({ id: newId('user') })],
  ['create-feature', CREATE_FEATURE, () => ({ id: newId('feature'), name: 'F', type: 'BINARY' })],
  ['create-package', CREATE_PACKAGE, () => ({ id: newId('package'), name: 'P' })],
]

const required = REQUIRED.map(([name, query, input]) =>
  section('gap: required input fields').withKey(
    `G.INPUT.${name}-required`,
    `${name} needs ${Object.keys(input()).join(', ')} and nothing else.`,
    async ({ admin }) => {
      await admin.data(query, { input: input() })
      for (const field of Object.keys(input())) {
        const { [field]: _left, ...rest } = input()
        await refuses(admin, query, { input: rest }, BAD_USER_INPUT)
        await refuses(admin, query, { input: { ...rest, [field]: null } }, BAD_USER_INPUT)
      }
    },
  ),
)

const BAD_IDS: [name: string, what: string, id: string][] = [
  ['empty', 'An empty id', ''],
  ['too-long', 'An id of 256 characters', 'x'.repeat(256)],
  ['control-character', 'An id with a control character', 'a\nb'],
  ['nul', 'An id with a NUL', 'a\u0000b'],
]

const badIds = BAD_IDS.map(([name, what, id]) =>
  identifiers.withKey(
    `G.INPUT.id-${name}`,
    `${what} is refused for a user, a feature and a package.`,
    async ({ admin }) => {
      for (const [, query, input] of REQUIRED) {
        await refuses(admin, query, { input: { ...input(), id } }, BAD_USER_INPUT)
      }
    },
  ),
)

/** Objects of `levels` levels, the outermost counted. */
const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) })
/** An object of so many bytes as JSON. */
const sized = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })

const metadata = section('gap: metadata')

export const inputs: Audit[] = [
  ...required,
  ...badIds,
  identifiers.withKey(
    'G.INPUT.id-longest',
    'An id of 255 characters works, whatever the script.',
    async ({ admin, app }) => {
      const id = newId('Łódź-東京-é').padEnd(255, 'ж')
      await app.makeUser({ id })
      assert.equal((await admin.data('query ($id: String!) { user(id: $id) { id } }', { id })).user.id, id)
    },
  ),
  identifiers.withKey(
    'G.INPUT.id-per-kind',
    'A user, a feature and a package may have the same id.',
    async ({ app }) => {
      const id = newId('shared')
      assert.deepEqual(
        [await app.makeUser({ id }), await app.makeFeature({ id }), await app.makeDraft([], { id })],
        [id, id, id],
      )
    },
  ),
  identifiers.withKey('G.INPUT.id-case', 'Ids that differ in case are different ids.', async ({ app }) => {
    const id = await app.makeUser()
    assert.notEqual(await app.makeUser({ id: id.toUpperCase() }), id)
  }),
  section('spec §2 input objects').withKey(
    'G.INPUT.unknown-field',
    'A field that an input does not have is refused, not ignored.',
    async ({ admin }) => {
      await refuses(admin, CREATE_USER, { input: { id: newId('user'), age: 7 } }, BAD_USER_INPUT)
      await refusesDocument(
        admin,
        `mutation { createUser(input: { id: "${newId('user')}", age: 7 }) { id } }`,
        VALIDATION_FAILED,
      )
    },
  ),
  metadataField.withKey(
    'S2.I.metadata-kept',
    'metadata is a free-form object and is kept as it came, inline or as a variable.',
    async ({ admin }) => {
      const given = {
        text: 'ŁÓ "quoted" \\ \u2028 🙂',
        numbers: [0, -1, 1.5, 1e-7, 2 ** 53 - 1],
        deep: { list: [{ a: null }, [true, false], []], empty: {} },
        '': 'empty key',
        constructor: 1,
      }
      const kept = await admin.data(CREATE_USER, { input: { id: newId('user'), metadata: given } })
      assert.deepEqual(kept.createUser.metadata, given)
      const inline = `{ a: [1, -2.5, "x", true, null], b: { c: {} } }`
      const { createUser } = await admin.data(
        `mutation { createUser(input: { id: "${newId('user')}", metadata: ${inline} }) { metadata } }`,
      )
      assert.deepEqual(createUser.metadata, { a: [1, -2.5, 'x', true, null], b: { c: {} } })
    },
  ),
  metadata.withKey(
    'G.INPUT.metadata-proto',
    '__proto__ in metadata is data like any other key, inline or as a variable, at any depth.',
    async ({ admin }) => {
      const json = '{"__proto__":{"admin":true},"in":{"__proto__":1}}'
      const [a, b] = [newId('user'), newId('user')]
      await admin.post(
        `{"query":${JSON.stringify(CREATE_USER)},"variables":{"input":{"id":"${a}","metadata":${json}}}}`,
      )
      await admin.data(
        `mutation { createUser(input: { id: "${b}", metadata: { __proto__: { admin: true }, in: { __proto__: 1 } } }) { id } }`,
      )
      for (const id of [a, b]) {
        const response = await admin.post(JSON.stringify({ query: `{ user(id: "${id}") { metadata } }` }))
        const text = await response.text()
        assert.match(text, /"__proto__":\{"admin":true\}/)
        assert.match(text, /"in":\{"__proto__":1\}/)
      }
    },
  ),
  metadata.withKey(
    'G.INPUT.metadata-odd-characters',
    'metadata keeps what PostgreSQL text cannot hold: NUL and half a surrogate pair.',
    async ({ admin }) => {
      const input = { id: newId('user'), metadata: { 'n\u0000l': '\u0000', half: '\ud800' } }
      assert.deepEqual((await admin.data(CREATE_USER, { input })).createUser, input)
      const { user } = await admin.data('query ($id: String!) { user(id: $id) { metadata } }', input)
      assert.deepEqual(user.metadata, input.metadata)
    },
  ),
  metadataField.withKey(
    'S2.I.metadata-object',
    'metadata must be an object: anything else is refused.',
    async ({ admin }) => {
      for (const metadata of ['text', 7, true, [], [{}]]) {
        await refuses(admin, CREATE_USER, { input: { id: newId('user'), metadata } }, BAD_USER_INPUT)
      }
    },
  ),
  metadata.withKey(
    'G.INPUT.metadata-default',
    'metadata is an empty object when left out or null.',
    async ({ admin }) => {
      for (const rest of [{}, { metadata: null }]) {
        const { createUser } = await admin.data(CREATE_USER, { input: { id: newId('user'), ...rest } })
        assert.deepEqual(createUser.metadata, {})
      }
    },
  ),
  metadata.withKey(
    'G.INPUT.metadata-size',
    'metadata may be 16 KiB, and not a byte more.',
    async ({ admin }) => {
      const largest = { id: newId('user'), metadata: sized(16 * 1024) }
      assert.deepEqual((await admin.data(CREATE_USER, { input: largest })).createUser, largest)
      const input = { id: newId('user'), metadata: sized(16 * 1024 + 1) }
      await refuses(admin, CREATE_USER, { input }, BAD_USER_INPUT)
    },
  ),
  metadata.withKey(
    'G.INPUT.metadata-depth',
    'metadata may be 32 levels deep, and not one more.',
    async ({ admin }) => {
      const deepest = { id: newId('user'), metadata: nested(32) }
      assert.deepEqual((await admin.data(CREATE_USER, { input: deepest })).createUser, deepest)
      await refuses(
        admin,
        CREATE_USER,
        { input: { id: newId('user'), metadata: nested(33) } },
        BAD_USER_INPUT,
      )
    },
  ),
  section('spec §2 enums').withKey(
    'S2.I.enum-bare',
    'An enum value may be written bare in the query.',
    async ({ admin }) => {
      const id = newId('feature')
      const { createFeature } = await admin.data(
        `mutation { createFeature(input: { id: "${id}", name: "F", type: CONSUMABLE }) { type } }`,
      )
      assert.equal(createFeature.type, 'CONSUMABLE')
    },
  ),
  stringEnum.withKey(
    'G.TYPES.enum-quoted',
    'An enum value may be written in quotes in the query.',
    async ({ admin }) => {
      const id = newId('feature')
      const { createFeature, recordUsage } = await admin.data(
        `mutation {
          createFeature(input: { id: "${id}", name: "F", type: "CONSUMABLE" }) { type }
          createPackage(input: { id: "${id}", name: "P", features: [
            { id: "${id}", entitlement: { limit: 1, resetPeriod: "MONTH" } }
          ] }) { id }
          recordUsage(input: { userId: "${id}", featureId: "${id}", delta: 1, action: "SET" }) { recorded }
        }`,
      )
      assert.deepEqual([createFeature.type, recordUsage.recorded], ['CONSUMABLE', false])
    },
  ),
  stringEnum.withKey(
    'G.TYPES.enum-string-variable',
    'An enum value may come in a variable of type String.',
    async ({ admin }) => {
      const { createFeature } = await admin.data(
        `mutation ($id: String!, $type: String!) {
          createFeature(input: { id: $id, name: "F", type: $type }) { type }
        }`,
        { id: newId('feature'), type: 'BINARY' },
      )
      assert.equal(createFeature.type, 'BINARY')
    },
  ),
  stringEnum.withKey(
    'G.TYPES.enum-unknown',
    'A value that the enum does not have is refused, bare, quoted or in a variable.',
    async ({ admin }) => {
      for (const type of ['COLOUR', '"COLOUR"', '"consumable"', '1']) {
        const query = `mutation { createFeature(input: { id: "${newId('f')}", name: "F", type: ${type} }) { id } }`
        await refusesDocument(admin, query, VALIDATION_FAILED)
      }
      const input = { id: newId('feature'), name: 'F', type: 'COLOUR' }
      await refuses(admin, CREATE_FEATURE, { input }, BAD_USER_INPUT)
    },
  ),
]
