import assert from 'node:assert/strict'
import type { Answer, Client } from '../harness/client.ts'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import type { Context } from './context.ts'
import {
  answerOf,
  BAD_REQUEST,
  BAD_USER_INPUT,
  type Extensions,
  FEATURE_NOT_FOUND,
  hasExtensions,
  KEY_REUSED,
  LINK_ERROR,
  PACKAGE_NOT_FOUND,
  PARSE_FAILED,
  SUBSCRIPTION_ERROR,
  SUBSCRIPTION_NOT_FOUND,
  UNAUTHENTICATED,
  USER_NOT_FOUND,
  VALIDATION_FAILED,
} from './expect.ts'

const unknownIds = section('gap: unknown ids')

/** A failure of each kind, its extensions, and the operation that its path names: none when it never began. */
const FAILURES: [name: string, Extensions, path: string[], fail: (context: Context) => Promise<Answer>][] = [
  ['no-key', UNAUTHENTICATED, [], ({ visitor }) => visitor.ask('{ features { id } }')],
  ['bad-request', BAD_REQUEST, [], async ({ admin }) => answerOf(await admin.post('{'))],
  ['parse-failed', PARSE_FAILED, [], ({ admin }) => admin.ask('query { features {')],
  ['validation-failed', VALIDATION_FAILED, [], ({ admin }) => admin.ask('{ features { nonsense } }')],
  ['feature', FEATURE_NOT_FOUND, ['feature'], ({ admin }) => byId(admin, 'feature')],
  ['package', PACKAGE_NOT_FOUND, ['package'], ({ admin }) => byId(admin, 'package')],
  ['user', USER_NOT_FOUND, ['user'], ({ admin }) => byId(admin, 'user')],
  ['subscription', SUBSCRIPTION_NOT_FOUND, ['subscription'], ({ admin }) => byId(admin, 'subscription')],
  [
    'bad-user-input',
    BAD_USER_INPUT,
    ['createUser'],
    ({ admin }) => admin.ask('mutation { createUser(input: { id: "" }) { id } }'),
  ],
  [
    'subscription-error',
    SUBSCRIPTION_ERROR,
    ['subscribe'],
    async ({ admin, app }) =>
      admin.ask(
        `mutation { subscribe(userId: "${await app.makeUser()}", packageIds: ["${newId('p')}"]) { id } }`,
      ),
  ],
  [
    'subscription-link-error',
    LINK_ERROR,
    ['generateSubscriptionLink'],
    ({ admin }) =>
      admin.ask(`mutation {
        generateSubscriptionLink(templateId: "${newId('t')}", successUrl: "https://a.example", cancelUrl: "https://a.example") { url }
      }`),
  ],
  [
    'idempotency-key-reused',
    KEY_REUSED,
    ['createUser'],
    async ({ admin }) => {
      const keyed = admin.with({ 'Idempotency-Key': newId('key') })
      const create = () => keyed.ask(`mutation { createUser(input: { id: "${newId('user')}" }) { id } }`)
      await create()
      return create()
    },
  ],
]

const byId = (admin: Client, field: string) => admin.ask(`{ ${field}(id: "${newId('x')}") { id } }`)

const shapes = FAILURES.map(([name, extensions, path, fail]) =>
  section('spec §7 error rules 1 to 3').withKey(
    `S7.E3.${name}`,
    `A failure with ${extensions.code} (${name}) comes with status 200 as an error of exactly the spec's shape.`,
    async (context) => {
      const { status, errors } = await fail(context)
      assert.equal(status, 200)
      assert.equal(errors?.length, 1)
      const [error] = errors ?? []
      assert.ok(error)
      assert.deepEqual(Object.keys(error).sort(), ['extensions', 'locations', 'message', 'path'])
      assert.ok(error.message.length > 0)
      hasExtensions(error, extensions)
      assert.deepEqual(error.path, path)
      const located = path.length > 0 || /PARSE|VALIDATION/.test(extensions.code)
      assert.equal(error.locations.length > 0, located)
      for (const { line, column } of error.locations) assert.ok(line > 0 && column > 0)
    },
  ),
)

export const errors: Audit[] = [
  ...shapes,
  section('spec §7 error rule 2').withKey(
    'S7.E2.errors-array',
    'A failed call returns errors, an array, and no key error; a successful one returns no errors.',
    async ({ admin }) => {
      const failed = await byId(admin, 'user')
      assert.ok(Array.isArray(failed.errors))
      assert.ok(!('error' in failed))
      assert.ok(!('errors' in (await admin.ask('{ __typename }'))))
    },
  ),
  section('spec §7 error rule 3').withKey(
    'S7.E3.location',
    'locations tells the line and column of the operation that failed.',
    async ({ admin }) => {
      const { errors } = await admin.ask(`query {\n  user(id: "${newId('user')}") { id }\n}`)
      assert.deepEqual(errors?.[0]?.locations, [{ line: 2, column: 3 }])
    },
  ),
  section('gap: error codes').withKey(
    'G.ERRORS.refused-field',
    'An error about the value of one input names it in extensions.field, also when it is told again; others name none.',
    async ({ admin, app }) => {
      const id = await app.makeUser()
      const REFUSED: [mutation: string, field: string | undefined][] = [
        [`createUser(input: { id: "" }) { id }`, 'id'],
        [`createUser(input: { id: "${id}" }) { id }`, 'id'],
        [`createUser(input: { id: "${newId('user')}", billingId: "" }) { id }`, 'billingId'],
        [`updateUser(id: "${id}", input: { name: "${'x'.repeat(1_025)}" }) { id }`, 'name'],
        [`updateUser(id: "${newId('user')}", input: {}) { id }`, undefined],
        [`subscribe(userId: "${id}", packageIds: ["${newId('p')}"]) { id }`, 'packageIds'],
      ]
      for (const [mutation, field] of REFUSED) {
        const keyed = admin.with({ 'Idempotency-Key': newId('key') })
        const first = await keyed.error(`mutation { ${mutation} }`)
        assert.equal(first.extensions.field, field, mutation)
        assert.deepEqual(await keyed.error(`mutation { ${mutation} }`), first)
      }
    },
  ),
  unknownIds.withKey(
    'G.ERRORS.field-is-null',
    'The field that failed is null, and the others are answered.',
    async ({ admin, app }) => {
      const id = await app.makeUser()
      const { data, errors } = await admin.ask(
        `{ found: user(id: "${id}") { id } user(id: "${newId('user')}") { id } feature(id: "${newId('f')}") { id } }`,
      )
      assert.deepEqual(data, { found: { id }, user: null, feature: null })
      assert.equal(errors?.length, 2)
    },
  ),
  unknownIds.withKey(
    'G.ERRORS.mutation-is-null',
    'A mutation that failed is null, and leaves those beside it standing.',
    async ({ admin }) => {
      const id = newId('user')
      const { data, errors } = await admin.ask(
        `mutation { updateUser(id: "${newId('user')}", input: {}) { id } createUser(input: { id: "${id}" }) { id } }`,
      )
      assert.deepEqual(data, { updateUser: null, createUser: { id } })
      assert.deepEqual(errors?.[0]?.path, ['updateUser'])
    },
  ),
  section('gap: identifiers').withKey(
    'G.ERRORS.long-ids',
    'An id that nothing could have is simply not found.',
    async ({ admin }) => {
      for (const id of ['', 'x'.repeat(10_000), 'a\u0000b', '\ud800']) {
        const error = await admin.error('query ($id: String!) { user(id: $id) { id } }', { id })
        assert.deepEqual(error.extensions, USER_NOT_FOUND)
      }
    },
  ),
]
