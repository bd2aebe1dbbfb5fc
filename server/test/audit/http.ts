import assert from 'node:assert/strict'
import { type Audit, section } from './audit.ts'
import { answerOf, BAD_REQUEST, type Extensions, errorOf, PARSE_FAILED } from './expect.ts'

const always200 = section('gap: every POST answers 200')
const selections = section('spec §2')

const endpoint = section('spec §4 the endpoint')

const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']

const methods = METHODS.map((method) =>
  section('spec §8 limit 3').withKey(
    `S8.L3.${method.toLowerCase()}-refused`,
    `${method} is answered with 405, Allow: POST and an error.`,
    async ({ url, key }) => {
      const response = await fetch(`${url}/graphql?query={__typename}`, {
        method,
        headers: { Authorization: key },
      })
      const text = await response.text()
      assert.equal(response.status, 405)
      assert.equal(response.headers.get('allow'), 'POST')
      if (method === 'HEAD') return
      const { data, errors } = JSON.parse(text)
      assert.equal(data, undefined)
      assert.equal(errors.length, 1)
      assert.deepEqual(Object.keys(errors[0]).sort(), ['extensions', 'locations', 'message', 'path'])
      assert.equal(errors[0].extensions.status, 405)
    },
  ),
)

const BAD_BODIES: [name: string, what: string, body: string | Uint8Array<ArrayBuffer>, Extensions][] = [
  ['bad-json', 'Bad JSON', '{"query": ', BAD_REQUEST],
  ['not-utf8', 'A body that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), BAD_REQUEST],
  ['empty-body', 'An empty body', '', BAD_REQUEST],
  ['json-null', 'A body of null', 'null', BAD_REQUEST],
  ['json-string', 'A body that is a string', '"{ __typename }"', BAD_REQUEST],
  ['no-query', 'A body without query', '{"variables": {}}', BAD_REQUEST],
  ['empty-query', 'An empty query', '{"query": ""}', BAD_REQUEST],
  ['query-not-string', 'A query that is no string', '{"query": {"a": 1}}', BAD_REQUEST],
  [
    'variables-not-json',
    'variables that are no JSON',
    '{"query": "{__typename}", "variables": "{"}',
    BAD_REQUEST,
  ],
  ['variables-list', 'variables that are a list', '{"query": "{__typename}", "variables": []}', BAD_REQUEST],
  [
    'variables-number',
    'variables that are a number',
    '{"query": "{__typename}", "variables": "1"}',
    BAD_REQUEST,
  ],
  ['batch', 'A list of operations', '[{"query": "{__typename}"}]', BAD_REQUEST],
  ['syntax-error', 'A syntax error', '{"query": "query { features { id }"}', PARSE_FAILED],
]

const badBodies = BAD_BODIES.map(([name, what, body, extensions]) =>
  always200.withKey(
    `G.HTTP.${name}`,
    `${what} is answered with 200 and ${extensions.code}.`,
    async ({ admin }) => {
      assert.deepEqual((await errorOf(await admin.post(body))).extensions, extensions)
    },
  ),
)

const ECHO = 'query ($id: String!) { canUseFeature(userId: $id, featureId: "f") { reasonCode } }'
const ANSWER = { canUseFeature: { reasonCode: 'USER_NOT_FOUND' } }

const VARIABLES: [name: string, what: string, query: string, variables: unknown, data: object][] = [
  ['string', 'a JSON object in a string', ECHO, '{"id": "audit-nobody"}', ANSWER],
  ['object', 'a plain object', ECHO, { id: 'audit-nobody' }, ANSWER],
  ['null', 'null, which means none', '{ __typename }', null, { __typename: 'Query' }],
  ['empty-string', 'an empty string, which means none', '{ __typename }', '', { __typename: 'Query' }],
  ['absent', 'absent, which means none', '{ __typename }', undefined, { __typename: 'Query' }],
]

const variables = VARIABLES.map(([name, what, query, value, data]) =>
  endpoint.withKey(`S4.E.variables-${name}`, `variables may be ${what}.`, async ({ admin }) => {
    const answer = await answerOf(await admin.post(JSON.stringify({ query, variables: value })))
    assert.deepEqual(answer, { status: 200, data })
  }),
)

export const http: Audit[] = [
  ...methods,
  ...badBodies,
  ...variables,
  endpoint.withKey(
    'S4.E.variables-inline',
    'Values may be written inline in the query.',
    async ({ admin }) => {
      const query = 'query { canUseFeature(userId: "audit-nobody", featureId: "f", delta: 2) { reasonCode } }'
      assert.deepEqual(await admin.data(query), ANSWER)
    },
  ),
  endpoint.withKey(
    'S4.E.entry-per-field',
    'data holds one entry per top-level field, named like it, in the order requested.',
    async ({ admin }) => {
      const query = '{ users(first: 0) { id } again: features(first: 0) { id } features(first: 0) { id } }'
      const response = await admin.post(JSON.stringify({ query }))
      assert.equal(await response.text(), '{"data":{"users":[],"again":[],"features":[]}}')
    },
  ),
  endpoint.withKey(
    'S4.E.fields-mirrored',
    'The selected fields, and only those, come in the order requested.',
    async ({ admin, app }) => {
      const id = await app.makeUser({ name: 'Ada', email: 'ada@example.com' })
      const query = `{ user(id: "${id}") { email metadata id } }`
      const response = await admin.post(JSON.stringify({ query }))
      assert.equal(
        await response.text(),
        `{"data":{"user":{"email":"ada@example.com","metadata":{},"id":"${id}"}}}`,
      )
    },
  ),
  selections.withKey(
    'S2.E.object-needs-selection',
    'When an operation returns an object, fields of it must be selected.',
    async ({ admin }) => {
      const { errors } = await admin.ask('{ features }')
      assert.equal(errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED')
    },
  ),
  selections.withKey(
    'S2.E.ends-in-scalars',
    'The selection must end in scalars: objects need fields, scalars have none.',
    async ({ admin }) => {
      for (const query of ['{ features { packages } }', '{ features { id { length } } }']) {
        const { errors } = await admin.ask(query)
        assert.equal(errors?.[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED')
      }
    },
  ),
  always200.withKey(
    'G.HTTP.unknown-field',
    'An unknown field or operation is answered with 200 and GRAPHQL_VALIDATION_FAILED.',
    async ({ admin }) => {
      for (const query of ['{ features { colour } }', '{ colours { id } }', 'mutation { publish { id } }']) {
        const { status, errors } = await admin.ask(query)
        assert.deepEqual([status, errors?.[0]?.extensions.code], [200, 'GRAPHQL_VALIDATION_FAILED'])
      }
    },
  ),
  always200.withKey(
    'G.HTTP.variable-missing',
    'A variable that is missing or of another type is answered with 200 and BAD_USER_INPUT.',
    async ({ admin }) => {
      for (const variables of [{}, { id: null }, { id: 7 }, { id: ['a'] }]) {
        const { status, errors } = await admin.ask(ECHO, variables)
        assert.deepEqual([status, errors?.[0]?.extensions.code], [200, 'BAD_USER_INPUT'])
      }
    },
  ),
  section('gap: operationName').withKey(
    'G.HTTP.operation-name',
    'operationName chooses one of several operations; without it, or with another name, the request fails.',
    async ({ admin }) => {
      const query = 'query A { a: __typename } query B { b: __typename }'
      const ask = async (operationName?: string) =>
        answerOf(await admin.post(JSON.stringify({ query, operationName })))
      assert.deepEqual((await ask('B')).data, { b: 'Query' })
      assert.ok((await ask()).errors)
      assert.ok((await ask('C')).errors)
    },
  ),
  section('gap: introspection').withKey(
    'G.HTTP.introspection',
    'With a valid key, introspection works.',
    async ({ admin }) => {
      const { __schema } = await admin.data('{ __schema { queryType { name } mutationType { name } } }')
      assert.deepEqual(__schema, { queryType: { name: 'Query' }, mutationType: { name: 'Mutation' } })
    },
  ),
  section('spec §9').withKey(
    'S9.V.no-version',
    'The endpoint is at /graphql, without a version, and nowhere else.',
    async ({ url, key }) => {
      const statuses = ['/graphql', '/v1/graphql', '/graphql/v1'].map(async (path) => {
        const response = await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: key },
          body: '{"query":"{ __typename }"}',
        })
        await response.arrayBuffer()
        return response.status
      })
      assert.deepEqual(await Promise.all(statuses), [200, 404, 404])
    },
  ),
  section('gap: running it').withKey(
    'G.HTTP.health',
    'GET /healthz and GET /readyz answer 200.',
    async ({ url }) => {
      for (const path of ['/healthz', '/readyz']) {
        const response = await fetch(`${url}${path}`)
        await response.arrayBuffer()
        assert.equal(response.status, 200, path)
      }
    },
  ),
]
