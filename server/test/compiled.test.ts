import { buildSchema, type GraphQLResolveInfo, getIntrospectionQuery, parse } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../src/graphql/admin.ts'
import { dashboardSchema } from '../src/graphql/dashboard.ts'
import { Executable } from '../src/graphql/executable.ts'
import type { Answer, Client, Variables } from './harness/client.ts'
import { fourTimes, isCompiled, written } from './harness/differential.ts'
import { furnish } from './harness/furnished.ts'
import { OWNER, startTestServer, type TestServer } from './harness/server.ts'
import { operationNames, type Root, wholeOperation } from './harness/whole-operation.ts'

// Compiled or not, a document is answered alike: same data, same order of fields, same errors. graphql-js executes the
// first two uses of a document, compiled code the later ones: the second and the fourth answer are compared.

const admin = adminSchema()
const dashboard = dashboardSchema()

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await furnish(server)
  for (let turn = 1; turn <= 4; turn++) {
    await server.admin.data(`mutation { createUser(input: { id: "user turn${turn}", name: "Old" }) { id } }`)
    await server.admin.data(
      `mutation { createFeature(input: { id: "old turn${turn}", name: "Old", type: BINARY }) { id } }`,
    )
    await server.admin.data(
      `mutation { createPackage(input: { id: "old turn${turn}", name: "Old" }) { id } }`,
    )
  }
})
afterAll(() => server.stop())

/** What differs from one turn to the next for good reason, made the same. */
function alike(answer: Answer | undefined): string {
  return written(answer)
    .replaceAll(/turn\d/g, 'turn')
    .replaceAll(/\b(sub|key)_[0-9a-f-]{36}/g, '$1')
    .replaceAll(/\btg_[\w-]+/g, 'tg')
    .replaceAll(/\beyJ[\w.-]+/g, 'jwt')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
}

async function expectAlike(
  client: Client,
  query: string,
  variables: (turn: number) => Variables = () => ({}),
): Promise<Answer> {
  const answers = await fourTimes(client, query, variables)
  const [, second, , fourth] = answers.map(alike)
  expect(fourth).toBe(second)
  return answers[3] as Answer
}

describe('an executable document', () => {
  const schema = buildSchema('type Query { how(text: String): String }')
  const how = schema.getQueryType()?.getFields().how
  if (!how) throw new Error('no field')
  // Only graphql-js tells in a path which type each step belongs to.
  how.resolve = (_root, _args, _context, { path }: GraphQLResolveInfo) =>
    path.typename === undefined ? 'compiled' : 'interpreted'
  const usesOf = async (query: string, names: (string | null)[]) => {
    const executable = new Executable(schema, parse(query))
    const uses: unknown[] = []
    for (const name of names) uses.push((await executable.run({}, {}, name)).data?.how)
    return uses
  }

  const SOLE = ['interpreted', 'interpreted', 'compiled', 'compiled']
  const NEVER = ['interpreted', 'interpreted', 'interpreted', 'interpreted']
  const DOCUMENTS = [
    { query: '{ how }', name: null, uses: SOLE },
    { query: 'query ($text: String) { how(text: $text) }', name: null, uses: SOLE },
    { query: 'query A { how }', name: 'A', uses: SOLE },
    { query: 'query A { how } query B { how }', name: 'A', uses: NEVER },
    { query: '{ how(text: "written out") }', name: null, uses: NEVER },
  ]
  it.each(DOCUMENTS)('is compiled at its third use, if ever: $query', async ({ query, name, uses }) => {
    expect(await usesOf(query, [name, name, name, name])).toEqual(uses)
  })
})

interface Row {
  variables(turn: number): Variables
  /** where it fails for good reason */
  code?: string
}
type Rows = Record<string, Row>

const given = (variables: Variables, code?: string): Row => ({
  variables: () => variables,
  ...(code && { code }),
})

const ADMIN_QUERIES: Rows = {
  feature: given({ id: 'calls' }),
  features: given({ first: 3, after: 'calls' }),
  canUseFeature: given({ userId: 'ann', featureId: 'calls', delta: 3 }),
  canUseFeatures: given({ userId: 'ann', featureIds: ['calls', 'seats', 'storage', 'export', 'none'] }),
  showUsage: given({ userId: 'ann', featureId: 'calls' }),
  package: given({ id: 'plan', includeFeatures: true }),
  packages: given({ status: 'PUBLISHED' }),
  user: given({ id: 'ann' }),
  users: given({ first: 2 }),
  subscription: given({ id: 'none' }, 'SUBSCRIPTION_NOT_FOUND'),
  subscriptions: given({ userId: 'ann' }),
}

const ADMIN_MUTATIONS: Rows = {
  createFeature: {
    variables: (turn) => ({
      input: { id: `new turn${turn}`, name: 'New', type: 'BINARY', metadata: { a: [1] } },
    }),
  },
  updateFeature: { variables: (turn) => ({ id: `old turn${turn}`, input: { unitLabel: 'x' } }) },
  createPackage: {
    variables: (turn) => ({
      input: { id: `new turn${turn}`, name: 'New', features: { id: 'calls', entitlement: { limit: 7 } } },
    }),
  },
  updatePackage: { variables: (turn) => ({ id: `old turn${turn}`, input: { metadata: { b: null } } }) },
  createUser: { variables: (turn) => ({ input: { id: `new turn${turn}`, metadata: { c: 'd' } } }) },
  updateUser: { variables: (turn) => ({ id: `user turn${turn}`, input: { metadata: {} } }) },
  subscribe: { variables: (turn) => ({ userId: `user turn${turn}`, packageIds: ['extra', 'plan'] }) },
  recordUsage: given({ input: { userId: 'ann', featureId: 'calls', delta: 3, action: 'SET' } }),
  recordUsages: given({
    inputs: [
      { userId: 'ann', featureId: 'calls', delta: 3, action: 'SET' },
      { userId: 'ann', featureId: 'none', delta: 1 },
    ],
  }),
  generateSubscriptionLink: given(
    { userId: 'ann', templateId: 't', successUrl: 'https://a.example', cancelUrl: 'https://b.example' },
    'SUBSCRIPTION_LINK_ERROR',
  ),
  generateUserToken: given({ userId: 'ann' }),
}

const DASHBOARD_QUERIES: Rows = {
  me: given({}),
  apps: given({}),
  apiKeys: given({ appId: 'default' }),
  package: given({ appId: 'default', id: 'plan' }),
  packages: given({ appId: 'default' }),
}

const DASHBOARD_MUTATIONS: Rows = {
  signIn: given(OWNER),
  setOwner: given({ token: 'none', ...OWNER }, 'UNAUTHENTICATED'),
  createApp: { variables: (turn) => ({ id: `app turn${turn}`, name: 'App', testClock: true }) },
  advanceClock: { variables: (turn) => ({ appId: `app turn${turn}`, to: '2099-01-01T00:00:00Z' }) },
  createApiKey: given({ appId: 'default', name: 'another' }),
  revokeApiKey: given({ appId: 'default', id: 'none' }, 'API_KEY_NOT_FOUND'),
  editPackage: {
    variables: (turn) => ({
      appId: 'default',
      id: `old turn${turn}`,
      input: { features: [{ id: 'calls', entitlement: { resetPeriod: 'DAY' } }] },
    }),
  },
  publishPackage: { variables: (turn) => ({ appId: 'default', id: `old turn${turn}` }) },
  discardPackageDraft: given({ appId: 'default', id: 'extra' }),
  cancelSubscription: given({ appId: 'default', id: 'none', atPeriodEnd: false }, 'SUBSCRIPTION_NOT_FOUND'),
  // Last: it ends the session.
  signOut: given({}),
}

describe.each([
  { api: 'Admin' as const, schema: admin, root: 'query' as Root, rows: ADMIN_QUERIES },
  { api: 'Admin' as const, schema: admin, root: 'mutation' as Root, rows: ADMIN_MUTATIONS },
  { api: 'Dashboard' as const, schema: dashboard, root: 'query' as Root, rows: DASHBOARD_QUERIES },
  { api: 'Dashboard' as const, schema: dashboard, root: 'mutation' as Root, rows: DASHBOARD_MUTATIONS },
])('every $root of the $api API, with every field', ({ api, schema, root, rows }) => {
  it('spec §4: has a row here', () => {
    expect(Object.keys(rows).sort()).toEqual(operationNames(schema, root).sort())
  })

  it.each(Object.keys(rows))('spec §4: %s is compiled and answered as before', async (name) => {
    const { variables, code } = rows[name] as Row
    const query = wholeOperation(schema, root, name)
    expect(isCompiled(schema, query)).toBe(true)
    const client = api === 'Admin' ? server.admin : server.dashboard
    const { errors } = await expectAlike(client, query, variables)
    expect(errors?.map((error) => error.extensions.code)).toEqual(code && [code])
  })
})

const CHECK =
  'query ($userId: String!, $featureId: String!, $delta: Int) { canUseFeature(userId: $userId, featureId: $featureId, delta: $delta) { access reason consumption { used } } }'
const RECORD =
  'mutation ($input: CreateUsageEventInput!) { recordUsage(input: $input) { recorded reason consumption { used } } }'

/** Documents as people write them. `compiled` is stated so that a row cannot pass for want of being compiled. */
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
    what: '__typename everywhere',
    compiled: true,
    query: 'query ($id: String!) { __typename kind: __typename user(id: $id) { __typename } }',
    variables: { id: 'ann' },
  },
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
    what: 'an error of a non-null list beside another field',
    compiled: false,
    query: 'query ($n: Int, $id: String!) { user(id: $id) { id } features(first: $n) { id } }',
    variables: { n: -1, id: 'ann' },
  },
  {
    what: 'errors of several mutations, one thrown before anything is asked',
    compiled: true,
    query:
      'mutation ($id: String!, $no: UpdateFeatureInput!, $yes: UpdateFeatureInput!) { a: updateFeature(id: $id, input: $no) { id } b: updateFeature(id: $id, input: $yes) { id unitLabel } c: generateUserToken(userId: $id) { token } d: updateFeature(id: $id, input: $no) { id } }',
    variables: { id: 'seats', no: { name: null }, yes: { unitLabel: 'seat' } },
  },
]

/** Variables that do not fit, and some that just do. */
const VARIABLES: { what: string; query: string; variables: Variables }[] = [
  ...[null, '1', 1.5, 2 ** 31, -1, true, [1], [], {}].map((delta) => ({
    what: `delta ${JSON.stringify(delta)}`,
    query: CHECK,
    variables: { userId: 'ann', featureId: 'calls', delta },
  })),
  ...[undefined, null, 7, ['ann'], { id: 'ann' }, '', 'a\u0000b', 'x'.repeat(300)].map((userId) => ({
    what: `userId ${JSON.stringify(userId)?.slice(0, 40)}`,
    query: CHECK,
    variables: { featureId: 'calls', ...(userId !== undefined && { userId }) },
  })),
  ...[undefined, null, 'calls', [], ['calls'], [null], [['calls']], ['calls', 7], {}].map((featureIds) => ({
    what: `featureIds ${JSON.stringify(featureIds)}`,
    query:
      'query ($userId: String!, $featureIds: [String!]!) { canUseFeatures(userId: $userId, featureIds: $featureIds) { featureId access } }',
    variables: { userId: 'ann', ...(featureIds !== undefined && { featureIds }) },
  })),
  ...[
    undefined,
    null,
    'text',
    7,
    [],
    ['x'],
    {},
    { userId: 'ann' },
    ...[null, '3', 1.5, 2 ** 53, -(2 ** 53), 2 ** 53 - 1].map((delta) => ({
      userId: 'ann',
      featureId: 'export',
      delta,
    })),
    ...[null, 'set', 7, 'ADD'].map((action) => ({ userId: 'ann', featureId: 'export', delta: 1, action })),
    { userId: 'ann', featureId: 'export', delta: 1, more: true },
    JSON.parse('{"userId":"ann","featureId":"export","delta":1,"__proto__":{"action":"SET"}}'),
    { userId: 'ann', featureId: 'export', delta: 1, idempotencyKey: '' },
  ].map((input) => ({
    what: `input ${JSON.stringify(input)}`,
    query: RECORD,
    variables: input === undefined ? {} : { input },
  })),
  ...[null, 'text', 7, [], { a: 1 }, JSON.parse('{"__proto__":{"a":1}}'), { a: 'x'.repeat(17_000) }].map(
    (metadata) => ({
      what: `metadata ${JSON.stringify(metadata).slice(0, 40)}`,
      query: 'mutation ($metadata: JSON) { updateUser(id: $id, input: $input) { metadata } }'.replace(
        '($metadata: JSON)',
        '($id: String!, $input: UpdateUserInput!)',
      ),
      variables: { id: 'bob', input: { metadata } },
    }),
  ),
  ...['MONTH', 'month', null, 7].map((resetPeriod) => ({
    what: `resetPeriod ${resetPeriod}`,
    query: 'mutation ($input: CreatePackageInput!) { createPackage(input: $input) { id } }',
    variables: {
      input: { id: 'plan', name: 'Taken', features: [{ id: 'calls', entitlement: { resetPeriod } }] },
    },
  })),
]

describe('a document that keeps coming', () => {
  it.each(FORMS)('spec §4: is answered as before: $what', async ({ query, variables, compiled }) => {
    expect(isCompiled(admin, query)).toBe(compiled)
    await expectAlike(server.admin, query, () => variables ?? {})
  })

  it.each(VARIABLES)('spec §4: is answered as before with $what', async ({ query, variables }) => {
    expect(isCompiled(admin, query)).toBe(true)
    await expectAlike(server.admin, query, () => variables)
  })

  it('gap: idempotency: tells again what it came to, in the words of the first time', async () => {
    const variables = { input: { userId: 'ann', featureId: 'calls', delta: 1 } }
    const keyed = server.admin.with({ 'Idempotency-Key': 'compiled' })
    const answers = await fourTimes(keyed, RECORD, () => variables)
    expect(new Set(answers.map(written)).size).toBe(1)
    expect(answers[0]?.data?.recordUsage.recorded).toBe(true)
    const reused = await fourTimes(keyed, RECORD, () => ({ input: { ...variables.input, delta: 2 } }))
    expect(new Set(reused.map(written)).size).toBe(1)
    expect(reused[0]?.errors?.[0]?.extensions.code).toBe('IDEMPOTENCY_KEY_REUSED')
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
    expect((await expectAlike(server.dashboard.with({ Cookie: '' }), query)).data).toEqual({ me: null })
  })
})
