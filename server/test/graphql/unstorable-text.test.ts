import type { GraphQLSchema } from 'graphql'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { clientSchema } from '../../src/graphql/client/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { wireError } from '../../src/graphql/engine/errors.ts'
import { Client, type Variables } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { type ExampleCall, exampleCalls, replacements } from '../harness/example-calls.ts'
import { furnish } from '../harness/furnished.ts'
import { sessionCookie } from '../harness/import.ts'
import { OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { watchStatements } from '../harness/statements.ts'

// PostgreSQL cannot store NUL in text. Every string that a caller can send is replaced by one that contains it, in calls
// about things that exist, so that nothing else is refused before: no statement may carry it, and no call may fail with
// an internal error. Metadata is JSON, keeps NUL, and is left out here.

const NUL = 'a\u0000b'

const server = shared(startTestServer)
let subscription: string
let user: Client
let cookie: string
const carried: string[] = []
let stopWatching = () => {}
beforeAll(async () => {
  await furnish(server)
  const { subscriptions } = await server.admin.data('{ subscriptions(first: 1) { id } }')
  subscription = subscriptions[0].id
  const generateUserToken = await server.admin.call('generateUserToken { token }', { userId: 'ann' })
  user = new Client(`${server.url}/client/graphql`, { Authorization: generateUserToken.token })
  cookie = await sessionCookie(server)
  stopWatching = watchStatements(({ text, values }) => {
    if (JSON.stringify(values).includes('a\\u0000b')) carried.push(text)
    return undefined
  })
})
afterAll(async () => {
  stopWatching()
})

/** What was sent to PostgreSQL with NUL in it since the last time. */
const taken = () => carried.splice(0)
beforeEach(() => void taken())

const VALUES = {
  appId: 'default',
  fromAppId: 'default',
  userId: 'ann',
  featureId: 'calls',
  featureIds: ['calls'],
  packageId: 'plan',
  packageIds: ['plan'],
  templateId: 'plan',
  provider: 'sandbox',
  currency: 'usd',
  interval: 'month',
  successUrl: 'https://a.example/',
  cancelUrl: 'https://a.example/',
  email: 'new@example.com',
  current: OWNER.password,
  password: OWNER.password,
  from: '2026-01-01T00:00:00Z',
  to: '2026-02-01T00:00:00Z',
  until: '2099-01-01T00:00:00Z',
  expiresAt: '2099-01-01T00:00:00Z',
  metadata: {},
}
const IDS = [
  ['subscription', () => subscription],
  ['template', () => 'plan'],
  ['package', () => 'plan'],
  ['feature', () => 'calls'],
  ['price', () => 'price_plan'],
  ['user', () => 'ann'],
] as const

/** The variables with NUL in one string at a time, beside all other arguments and beside the required ones only. */
function variants(variables: Variables, optional: readonly string[]): Variables[] {
  return replacements(variables, NUL).flatMap((replaced) => {
    const others = optional.filter((name) => !JSON.stringify(replaced[name])?.includes('\\u0000'))
    const least = Object.fromEntries(Object.entries(replaced).filter(([name]) => !others.includes(name)))
    return [replaced, least]
  })
}

/** Arguments of which a call takes some. With all of them it is refused before their text is looked at. */
const OF = { list: 'USERS', search: 'x', packageId: 'plan', provider: 'sandbox' }
const ALTERNATIVES: Record<string, Variables[]> = {
  startBulkChange: [
    { input: { of: { list: 'USERS', ids: ['ann'] }, changePlan: { packageId: 'plan' } } },
    { input: { of: OF, startTrial: { packageId: 'plan', days: 7 } } },
    { input: { of: OF, cancel: { atPeriodEnd: true } } },
    { input: { of: OF, setOverride: { featureId: 'calls', mode: 'ADD', limit: 1, reason: 'x' } } },
  ],
  createPrice: [
    { packageId: null, input: { amount: 1, currency: 'usd', credits: { featureId: 'calls', units: 1 } } },
  ],
}

const alternatives = (call: ExampleCall): ExampleCall[] => [
  call,
  ...(ALTERNATIVES[call.name] ?? []).map((other) => ({
    ...call,
    variables: { ...call.variables, ...other },
  })),
]

describe('gap: text that cannot be stored', () => {
  const APIS: [api: string, schema: GraphQLSchema, client: () => Client][] = [
    ['Admin', adminSchema(), () => server.admin],
    ['client', clientSchema(), () => user],
    ['dashboard', dashboardSchema(), () => server.dashboard],
  ]
  const calls = APIS.flatMap(([api, schema, client]) =>
    exampleCalls(schema, VALUES)
      .flatMap((call) => alternatives(call))
      .map((call) => ({ api, client, ...call })),
  ).filter(({ variables }) => replacements(variables, NUL).length > 0)

  it.for(calls)('$api API, $name: NUL in any string is refused before it is stored', async (call) => {
    const { client, name, query, optional } = call
    const [, idOf] = IDS.find(([noun]) => name.toLowerCase().includes(noun)) ?? []
    const variables = { ...call.variables, ...(idOf && 'id' in call.variables && { id: idOf() }) }
    for (const sent of variants(variables, optional)) {
      const { status, errors } = await client().ask(query, sent)
      expect(status).toBe(200)
      expect([sent, errors?.map(({ extensions }) => extensions.code) ?? []]).not.toContainEqual(
        expect.arrayContaining(['INTERNAL_SERVER_ERROR']),
      )
      expect([sent, taken()]).toEqual([sent, []])
    }
  })

  const FILES: [path: string, parameters: string[]][] = [
    ['/dashboard/import/report', ['app', 'import']],
    ['/dashboard/audit', ['app', 'who', 'operation', 'subject', 'from', 'to', 'kind', 'format']],
    ['/dashboard/export/users', ['app', 'search', 'packageId', 'state', 'order']],
    ['/dashboard/export/subscriptions', ['app', 'search', 'packageId', 'state', 'provider', 'order']],
    ['/dashboard/export/ledger', ['app', 'userId', 'featureId']],
    ['/dashboard/export/payments', ['app', 'state', 'days']],
    ['/dashboard/export/revenue', ['app', 'list', 'days']],
    ['/dashboard/export/mrr', ['app']],
    ['/dashboard/export/webhook-events', ['app', 'provider', 'state']],
    ['/dashboard/export/deliveries', ['app', 'endpointId', 'state']],
    ['/.well-known/jwks.json', ['app']],
    ['/checkout/thanks', ['app', 'session']],
    ['/checkout/no%00ne', ['app', 'session']],
  ]
  const PARAMETERS = { app: 'default', import: 'none', userId: 'ann', endpointId: 'none', session: 'none' }
  it.for(FILES)('%s: NUL in any parameter is refused before it is stored', async ([path, parameters]) => {
    for (const name of parameters) {
      const query = new URLSearchParams({ ...PARAMETERS, [name]: NUL })
      const { status } = await fetch(`${server.url}${path}?${query}`, { headers: { Cookie: cookie } })
      expect([name, status]).toEqual([name, expect.toSatisfy((code: number) => code < 500)])
      expect([name, taken()]).toEqual([name, []])
    }
  })

  it.for([
    'app',
    'import',
    'id',
    'email',
    'billingId',
    'name',
    'plan',
    'metadata',
    'create',
    'empty',
  ])('an import: NUL in the parameter %s is refused before it is stored', async (name) => {
    const query = new URLSearchParams({ app: 'default', [name]: NUL })
    const { status } = await fetch(`${server.url}/dashboard/import/users?${query}`, {
      method: 'POST',
      headers: { Cookie: cookie, 'Content-Type': 'text/csv' },
      body: 'id,email,billingId\nann,ann@example.com,cus_1\n',
    })
    expect(status).toBeLessThan(500)
    expect(taken()).toEqual([])
  })

  it('a made-up user token: NUL in the app it names', async () => {
    const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
    const token = `${part({ alg: 'HS256', kid: '0123456789abcdef' })}.${part({ app: NUL, sub: '1' })}.AAAA`
    const forged = new Client(`${server.url}/client/graphql`, { Authorization: token })
    expect((await forged.error('{ me { id } }')).extensions.code).toBe('UNAUTHENTICATED')
    expect(taken()).toEqual([])
  })

  it('the app that a member’s GraphiQL names', async () => {
    const graphiql = new Client(`${server.url}/dashboard/admin/graphql`, {
      Cookie: cookie,
      'Tollgate-App': encodeURIComponent(NUL),
    })
    expect((await graphiql.error('{ features { id } }')).extensions.code).toBe('APP_NOT_FOUND')
    expect(taken()).toEqual([])
  })

  it('what no operation refuses is bad input all the same, and is logged', async () => {
    const statement = rowsOf({ connectionString: server.databaseUrl }, 'select $1::text', [NUL])
    const refused = await statement.catch((error: unknown) => error)
    const logged: unknown[] = []
    const wire = wireError(refused, 'BAD_REQUEST', (error) => `logged as ${logged.push(error)}`)
    expect(wire).toMatchObject({
      message: 'Text must not contain NUL characters',
      extensions: { code: 'BAD_USER_INPUT', status: 400 },
    })
    expect(logged).toEqual([refused])
  })
})
