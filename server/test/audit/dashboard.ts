import assert from 'node:assert/strict'
import { Client } from '../harness/client.ts'
import { newId } from './app.ts'
import { type Audit, section } from './audit.ts'
import { adminClient } from './context.ts'
import { errorOf, UNAUTHENTICATED } from './expect.ts'

const unknownIds = section('gap: unknown ids')

const SIGN_IN = `mutation ($email: String!, $password: String!) {
  signIn(email: $email, password: $password) { email }
}`
const CREATE_KEY = `mutation ($appId: String!) { createApiKey(appId: $appId, name: "Audit") { id secret } }`
const REVOKE = `mutation ($appId: String!, $id: String!) { revokeApiKey(appId: $appId, id: $id) { id } }`

const visitorOf = (url: string) => new Client(`${url}/dashboard/graphql`, {})

/** Every operation on an app, with the arguments it needs beside the app. */
const ON_AN_APP: [name: string, call: (appId: string) => string][] = [
  ['advanceClock', (app) => `advanceClock(appId: "${app}", to: "2200-01-01T00:00:00Z") { id }`],
  ['createApiKey', (app) => `createApiKey(appId: "${app}", name: "Audit") { id secret }`],
  ['revokeApiKey', (app) => `revokeApiKey(appId: "${app}", id: "k") { id }`],
  ['publishPackage', (app) => `publishPackage(appId: "${app}", id: "p") { id status }`],
  ['cancelSubscription', (app) => `cancelSubscription(appId: "${app}", id: "s") { id status cancelAt }`],
]

const session = section('gap: the dashboard session')
const keys = section('gap: API keys')

export const dashboard: Audit[] = [
  session.withOwner(
    'G.DASH.sign-in',
    'signIn returns the email and sets a cookie that is HttpOnly and SameSite=Strict, and Secure behind TLS.',
    async ({ url, owner }) => {
      const response = await visitorOf(url).post(JSON.stringify({ query: SIGN_IN, variables: owner }))
      assert.equal(response.status, 200)
      assert.deepEqual(await response.json(), { data: { signIn: { email: owner.email.toLowerCase() } } })
      const cookie = response.headers.get('set-cookie') ?? ''
      assert.match(cookie, /^\w+=[^;]{32,};/)
      assert.match(cookie, /; *HttpOnly\b/i)
      assert.match(cookie, /; *SameSite=Strict\b/i)
      assert.equal(/; *Secure\b/i.test(cookie), url.startsWith('https:'))
    },
  ),
  session.withOwner(
    'G.DASH.sign-in-refused',
    'signIn with an unknown email fails with UNAUTHENTICATED and sets no cookie.',
    async ({ url }) => {
      const variables = { email: `${newId('nobody')}@example.com`, password: 'correct horse' }
      const response = await visitorOf(url).post(JSON.stringify({ query: SIGN_IN, variables }))
      assert.equal(response.headers.get('set-cookie'), null)
      const { data, errors } = (await response.json()) as { data: unknown; errors: { extensions: object }[] }
      assert.deepEqual(data, { signIn: null })
      assert.deepEqual(errors[0]?.extensions, UNAUTHENTICATED)
    },
  ),
  session.withOwner(
    'G.DASH.sign-in-slowed',
    'Too many wrong passwords for one account from one address are answered with RATE_LIMITED, and when to come back.',
    async ({ url }) => {
      const variables = { email: `${newId('nobody')}@example.com`, password: 'correct horse' }
      let refusal = UNAUTHENTICATED
      // Each process of the service may keep a count of its own.
      for (let tries = 0; tries < 100 && refusal.code === 'UNAUTHENTICATED'; tries++) {
        refusal = (await visitorOf(url).error(SIGN_IN, variables)).extensions
      }
      const { retryAfter, ...rest } = refusal as typeof refusal & { retryAfter: number }
      assert.deepEqual(rest, { code: 'RATE_LIMITED', type: 'Error', status: 429 })
      assert.ok(retryAfter > 0)
    },
  ),
  session.withOwner(
    'G.DASH.session-required',
    'Without a session every operation fails with UNAUTHENTICATED; an Admin key is no session.',
    async ({ url, own, key }) => {
      const appId = newId('app')
      const calls = [
        `createApp(id: "${appId}", name: "A") { id }`,
        ...ON_AN_APP.map(([, call]) => call(own.id)),
      ]
      for (const client of [visitorOf(url), visitorOf(url).with({ Authorization: key })]) {
        for (const call of calls) {
          const { extensions } = await client.error(`mutation { ${call} }`)
          assert.deepEqual(extensions, UNAUTHENTICATED, call)
        }
      }
    },
  ),
  session.withOwner(
    'G.DASH.false-cookie',
    'A cookie that signIn did not set is no session.',
    async ({ url, owner }) => {
      const response = await visitorOf(url).post(JSON.stringify({ query: SIGN_IN, variables: owner }))
      const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
      await response.arrayBuffer()
      const create = (value: string) =>
        visitorOf(url)
          .with({ Cookie: value })
          .ask(`mutation { createApp(id: "${newId('app')}", name: "A") { id } }`)
      assert.ok((await create(cookie)).data?.createApp)
      assert.deepEqual((await create(`${cookie}x`)).errors?.[0]?.extensions, UNAUTHENTICATED)
    },
  ),
  session.withOwner(
    'G.DASH.same-origin',
    'A request from the page of another origin is refused, cookie or not.',
    async ({ dashboard }) => {
      const id = newId('app')
      const query = `mutation { createApp(id: "${id}", name: "A") { id } }`
      const foreign = dashboard.with({ Origin: 'https://evil.example' })
      await errorOf(await foreign.post(JSON.stringify({ query })))
      assert.deepEqual(await dashboard.data(query), { createApp: { id } })
    },
  ),
  section('gap: apps').withOwner(
    'G.DASH.create-app',
    'createApp makes an app with the given id, empty; a taken id is refused.',
    async ({ dashboard, freshApp }) => {
      const app = await freshApp()
      assert.deepEqual(
        await app.admin.data(
          '{ features { id } packages(status: "DRAFT") { id } users { id } subscriptions { id } }',
        ),
        { features: [], packages: [], users: [], subscriptions: [] },
      )
      const error = await dashboard.error(`mutation { createApp(id: "${app.id}", name: "Again") { id } }`)
      assert.equal(error.extensions.code, 'BAD_USER_INPUT')
    },
  ),
  keys.withOwner(
    'G.DASH.create-api-key',
    'createApiKey returns an id and a secret; the secret opens the Admin API of that app.',
    async ({ url, dashboard, own }) => {
      const { createApiKey } = await dashboard.data(CREATE_KEY, { appId: own.id })
      const userId = await own.makeUser()
      const { user } = await adminClient(url, createApiKey.secret).data(`{ user(id: "${userId}") { id } }`)
      assert.equal(user.id, userId)
      assert.notEqual(createApiKey.id, createApiKey.secret)
    },
  ),
  keys.withOwner(
    'G.DASH.api-key-shown-once',
    'The secret is shown once: no list of keys has it, nor a field for it.',
    async ({ dashboard, own }) => {
      const { createApiKey } = await dashboard.data(CREATE_KEY, { appId: own.id })
      const { apiKeys, __type } = await dashboard.data(
        `query ($appId: String!) {
          apiKeys(appId: $appId) { id name prefix }
          __type(name: "ApiKey") { fields { name } }
        }`,
        { appId: own.id },
      )
      assert.ok(apiKeys.some((key: { id: string }) => key.id === createApiKey.id))
      assert.ok(!JSON.stringify(apiKeys).includes(createApiKey.secret))
      assert.ok(__type.fields.every((field: { name: string }) => !/secret|hash/i.test(field.name)))
    },
  ),
  keys.withOwner(
    'G.DASH.revoke-api-key',
    'A revoked key opens nothing from then on; the other keys of the app go on working.',
    async ({ url, dashboard, freshApp }) => {
      const app = await freshApp()
      const { createApiKey } = await dashboard.data(CREATE_KEY, { appId: app.id })
      const second = adminClient(url, createApiKey.secret)
      await second.data('{ users { id } }')
      const { revokeApiKey } = await dashboard.data(REVOKE, { appId: app.id, id: createApiKey.id })
      assert.deepEqual(revokeApiKey, { id: createApiKey.id })

      for (const query of [
        '{ users { id } }',
        '{ canUseFeature(userId: "u", featureId: "f") { access } }',
        `mutation { createUser(input: { id: "${newId('user')}" }) { id } }`,
        'mutation { recordUsage(input: { userId: "u", featureId: "f", delta: 1 }) { recorded } }',
      ]) {
        assert.deepEqual((await second.error(query)).extensions, UNAUTHENTICATED, query)
      }
      assert.deepEqual(await app.admin.data('{ users { id } }'), { users: [] })
    },
  ),
  keys.withOwner(
    'G.DASH.revoke-own-app-only',
    'A key is revoked through its own app only; an unknown one fails with status 404.',
    async ({ url, dashboard, own, freshApp }) => {
      const other = await freshApp()
      const { createApiKey } = await dashboard.data(CREATE_KEY, { appId: other.id })
      const { extensions } = await dashboard.error(REVOKE, { appId: own.id, id: createApiKey.id })
      assert.equal(extensions.status, 404)
      await adminClient(url, createApiKey.secret).data('{ users { id } }')
    },
  ),
  section('spec §3 package status').withOwner(
    'G.DASH.publish-again',
    'Publishing a published package leaves it published; an unknown one is PACKAGE_NOT_FOUND.',
    async ({ dashboard, own }) => {
      const id = await own.makePlan()
      assert.deepEqual(await own.publish(id), { id, status: 'PUBLISHED' })
      const error = await dashboard.error(
        `mutation { publishPackage(appId: "${own.id}", id: "${newId('package')}") { id } }`,
      )
      assert.equal(error.extensions.code, 'PACKAGE_NOT_FOUND')
    },
  ),
  unknownIds.withOwner(
    'G.DASH.cancel-unknown',
    'cancelSubscription on an unknown id is SUBSCRIPTION_NOT_FOUND.',
    async ({ dashboard, own }) => {
      const error = await dashboard.error(
        `mutation { cancelSubscription(appId: "${own.id}", id: "${newId('subscription')}") { id } }`,
      )
      assert.equal(error.extensions.code, 'SUBSCRIPTION_NOT_FOUND')
    },
  ),
  unknownIds.withOwner(
    'G.DASH.unknown-app',
    'Every operation on an unknown app fails with status 404.',
    async ({ dashboard }) => {
      for (const [name, call] of ON_AN_APP) {
        const { extensions } = await dashboard.error(`mutation { ${call(newId('app'))} }`)
        assert.equal(extensions.status, 404, name)
      }
    },
  ),
]
