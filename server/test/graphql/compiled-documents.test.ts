import { getIntrospectionQuery } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import type { Variables } from '../harness/client.ts'
import { expectAlike, fourTimes, isCompiled } from '../harness/differential.ts'
import { furnish } from '../harness/furnished.ts'
import { startTestServer, type TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const admin = adminSchema()

const server = shared(startTestServer)
beforeAll(async () => {
  await furnish(server)
})

const CHECK =
  'query ($userId: String!, $featureId: String!, $delta: Int) { canUseFeature(userId: $userId, featureId: $featureId, delta: $delta) { access reason consumption { used } } }'
/** Documents as people write them. `compiled` is stated so that a row cannot pass because it was not compiled. */
const FORMS: { what: string; compiled: boolean; query: string; variables?: Variables }[] = [
  {
    what: 'aliases',
    compiled: true,
    query:
      'query ($id: String!) { a: user(id: $id) { x: id y: id } then: user(id: $id) { constructor: name } }',
    variables: { id: 'ann' },
  },
  {
    what: 'an alias with an underscore',
    compiled: false,
    query: 'query ($id: String!) { id_user: users { id } user(id: $id) { id } }',
    variables: { id: 'ann' },
  },
  {
    what: 'the alias __proto__',
    compiled: false,
    query: 'query ($id: String!) { __proto__: user(id: $id) { __proto__: id name } }',
    variables: { id: 'ann' },
  },
  {
    what: 'a variable named __proto__',
    compiled: false,
    query: 'query ($__proto__: String!) { user(id: $__proto__) { id } }',
    variables: JSON.parse('{"__proto__":"ann"}'),
  },
  {
    what: 'a variable named constructor, left out',
    compiled: true,
    query: 'query ($constructor: String) { subscriptions(userId: $constructor) { userId } }',
  },
  {
    what: 'one field selected twice',
    compiled: true,
    query: 'query ($id: String!) { feature(id: $id) { packages { id } packages { id name } id } }',
    variables: { id: 'calls' },
  },
  {
    what: 'inline fragments',
    compiled: true,
    query: 'query ($id: String!) { ... on Query { user(id: $id) { ... { name } ... on User { id name } } } }',
    variables: { id: 'ann' },
  },
  {
    what: 'named fragments',
    compiled: false,
    query:
      'query ($id: String!) { user(id: $id) { ...name ...both } } fragment name on User { name } fragment both on User { id ...name }',
    variables: { id: 'ann' },
  },
  {
    what: '@include on one of two spreads',
    compiled: false,
    query:
      'query ($id: String!, $no: Boolean!) { a: user(id: $id) { ...f @include(if: $no) id } b: user(id: $id) { ...f } } fragment f on User { name }',
    variables: { id: 'ann', no: false },
  },
  {
    what: '@skip of one of two fields',
    compiled: false,
    query:
      'query ($id: String!, $yes: Boolean = true) { a: user(id: $id) @skip(if: $yes) { id } b: user(id: $id) { id name @skip(if: $yes) } }',
    variables: { id: 'ann' },
  },
  {
    what: '__typename of an object',
    compiled: true,
    query: 'query ($id: String!) { user(id: $id) { kind: __typename __typename } }',
    variables: { id: 'ann' },
  },
  { what: '__typename alone', compiled: true, query: '{ __typename }' },
  { what: 'introspection', compiled: false, query: getIntrospectionQuery() },
  {
    what: '__type beside data',
    compiled: false,
    query: 'query ($id: String!) { __type(name: "User") { kind fields { name } } user(id: $id) { id } }',
    variables: { id: 'ann' },
  },
  {
    what: 'a default of the schema',
    compiled: true,
    query: CHECK,
    variables: { userId: 'ann', featureId: 'calls' },
  },
  {
    what: 'null where there is a default',
    compiled: true,
    query: CHECK,
    variables: { userId: 'ann', featureId: 'calls', delta: null },
  },
  {
    what: 'a default of the operation',
    compiled: true,
    query: 'query ($n: Int = 2) { features(first: $n) { id } }',
  },
  {
    what: 'null instead of the default of the operation',
    compiled: true,
    query: 'query ($n: Int = 2) { features(first: $n) { id } }',
    variables: { n: null },
  },
  {
    what: 'a default with a string',
    compiled: false,
    query: 'query ($s: String = "DRAFT") { packages(status: $s) { id } }',
  },
  {
    what: 'numbers and enums written out',
    compiled: true,
    query:
      'mutation ($u: String!, $f: String!) { recordUsage(input: { userId: $u, featureId: $f, delta: 3, action: SET }) { recorded consumption { used } } }',
    variables: { u: 'ann', f: 'calls' },
  },
  {
    what: 'an Int variable for a SafeInt',
    compiled: true,
    query:
      'mutation ($u: String!, $f: String!, $d: Int!) { recordUsage(input: { userId: $u, featureId: $f, delta: $d, action: SET }) { recorded consumption { used } } }',
    variables: { u: 'ann', f: 'calls', d: 3 },
  },
  {
    what: 'a String variable for an enum',
    compiled: true,
    query:
      'mutation ($u: String!, $f: String!, $a: String!) { recordUsage(input: { userId: $u, featureId: $f, delta: 3, action: $a }) { recorded consumption { used } } }',
    variables: { u: 'ann', f: 'calls', a: 'SET' },
  },
  {
    what: 'a String variable that is no value of the enum',
    compiled: true,
    query:
      'mutation ($u: String!, $f: String!, $a: String!) { recordUsage(input: { userId: $u, featureId: $f, delta: 3, action: $a }) { recorded } }',
    variables: { u: 'ann', f: 'calls', a: 'PUT' },
  },
  {
    what: 'a quoted enum',
    compiled: false,
    query:
      'mutation ($u: String!, $f: String!) { recordUsage(input: { userId: $u, featureId: $f, delta: 3, action: "SET" }) { recorded consumption { used } } }',
    variables: { u: 'ann', f: 'calls' },
  },
  {
    what: 'variables in a list',
    compiled: true,
    query:
      'query ($u: String!, $a: String!, $b: String!) { canUseFeatures(userId: $u, featureIds: [$a, $b]) { featureId access } }',
    variables: { u: 'ann', a: 'calls', b: 'none' },
  },
  {
    what: 'a list of inputs with variables inside',
    compiled: true,
    query:
      'mutation ($u: String!, $f: String!) { recordUsages(inputs: [{ userId: $u, featureId: $f, delta: 3, action: SET }]) { recorded consumption { used } } }',
    variables: { u: 'ann', f: 'calls' },
  },
  {
    what: 'a nullable variable inside an input, left out',
    compiled: false,
    query:
      'mutation ($id: String!, $name: String, $metadata: JSON) { updateUser(id: $id, input: { name: $name, metadata: $metadata }) { name metadata } }',
    variables: { id: 'ann' },
  },
  {
    what: 'a nullable variable inside an input, null',
    compiled: false,
    query:
      'mutation ($id: String!, $label: String) { updateFeature(id: $id, input: { unitLabel: $label }) { unitLabel name } }',
    variables: { id: 'seats', label: null },
  },
  {
    what: 'a variable inside JSON',
    compiled: false,
    query:
      'mutation ($id: String!, $v: Int!) { updateUser(id: $id, input: { metadata: { v: $v, w: [$v] } }) { metadata } }',
    variables: { id: 'bob', v: 5 },
  },
  {
    what: '__proto__ inside JSON',
    compiled: false,
    query:
      'mutation ($id: String!) { updateUser(id: $id, input: { metadata: { __proto__: { a: 1 } } }) { metadata } }',
    variables: { id: 'bob' },
  },
  {
    what: 'an error in one of several fields',
    compiled: true,
    query:
      'query ($a: String!, $b: String!) { a: user(id: $a) { id } b: user(id: $b) { id } c: feature(id: $b) { id } }',
    variables: { a: 'ann', b: 'none' },
  },
  {
    what: 'an error of a non-null list',
    compiled: true,
    query: 'query ($n: Int) { features(first: $n) { id } }',
    variables: { n: -1 },
  },
  {
    what: 'errors of several mutations, one thrown before anything is asked',
    compiled: true,
    query:
      'mutation ($id: String!, $no: UpdateFeatureInput!, $yes: UpdateFeatureInput!) { a: updateFeature(id: $id, input: $no) { id } b: updateFeature(id: $id, input: $yes) { id unitLabel } c: generateUserToken(userId: $id) { token } d: updateFeature(id: $id, input: $no) { id } }',
    variables: { id: 'seats', no: { name: null }, yes: { unitLabel: 'seat' } },
  },
]

describe('a document that keeps coming', () => {
  it.each(FORMS)('spec §4: is answered as before: $what', async ({ query, variables, compiled }) => {
    expect(isCompiled(admin, query)).toBe(compiled)
    await expectAlike(server.admin, query, () => variables ?? {})
  })

  it('spec §4: a non-null list that fails takes the answer, whatever the fields beside it do', async () => {
    const query =
      'query ($status: String, $id: String!) { user(id: $id) { id } packages(status: $status) { id } }'
    expect(isCompiled(admin, query)).toBe(false)
    for (const answer of await fourTimes(server.admin, query, () => ({ status: 'NONE', id: 'none' }))) {
      expect(answer).toMatchObject({ status: 200, data: null })
      // The error of the other field is there if it came in time.
      expect(answer.errors?.map((error) => error.message)).toContain('status must be one of DRAFT, PUBLISHED')
    }
  })

  it('spec §5.3: is refused alike to a visitor who has not signed in', async () => {
    const visitor = server.dashboard.with({ Cookie: '' })
    await expectAlike(visitor, '{ apps { id } }')
    await expectAlike(
      visitor,
      'query ($id: String!) { package(appId: $id, id: $id) { id } me { email } }',
      () => ({ id: 'x' }),
    )
  })
})

describe('a document that is up to something', () => {
  // How the compiler marks values of its own in the source text that it writes.
  const DATE = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74d'
  const NAN = '__MAGIC_NAN__57f286b9_4c20_487f_b409_79804ddcb4f8'

  it('gap: hostile bodies: a string is never run as code', async () => {
    const text = `${DATE}globalThis.tollgateRanThis = true`
    await fourTimes(
      server.dashboard,
      `mutation { signIn(email: "${text}", password: "x") { email } }`,
      () => ({}),
    )
    await fourTimes(server.admin, `{ user(id: "${text}") { id } }`, () => ({}))
    await fourTimes(server.admin, `query ($id: String = "${text}") { user(id: $id) { id } }`, () => ({}))
    await fourTimes(server.admin, 'query ($id: String!) { user(id: $id) { id } }', () => ({ id: text }))
    expect('tollgateRanThis' in globalThis).toBe(false)
  })

  it('gap: hostile bodies: a word that the compiler uses for itself stays a word', async () => {
    const query = `mutation ($id: String!) { updateUser(id: $id, input: { metadata: { a: ${NAN}, b: ${DATE}x } }) { metadata } }`
    const { data } = await expectAlike(server.admin, query, () => ({ id: 'bob' }))
    expect(data?.updateUser.metadata).toEqual({ a: NAN, b: `${DATE}x` })
  })

  it('gap: hostile bodies: fragments that each spread the next one twice are answered', async () => {
    const chain = Array.from(
      { length: 80 },
      (_, i) => `fragment f${i} on Member { ...f${i + 1} ...f${i + 1} }`,
    )
    const query = `{ me { ...f0 } } ${chain.join(' ')} fragment f80 on Member { email }`
    const codes = async (client: TestServer['dashboard']) =>
      (await expectAlike(client, query)).errors?.map(({ extensions }) => extensions.code)
    expect(await codes(server.dashboard)).toEqual(['GRAPHQL_VALIDATION_FAILED'])
    expect(await codes(server.dashboard.with({ Cookie: '' }))).toEqual(['UNAUTHENTICATED'])
  })
})
