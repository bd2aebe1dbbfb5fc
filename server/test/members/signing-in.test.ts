import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { SESSION_SECONDS, SIGN_IN_TRIES } from '../../src/domain/limits.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { Client, dashboardClient, signedIn } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { exampleCalls } from '../harness/example-calls.ts'
import { freePort } from '../harness/free-port.ts'
import { API_KEY, adminClient, createApp, OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const server = shared(startTestServer)
let visitor: Client
beforeAll(async () => {
  visitor = dashboardClient(server.url)
})

const SIGN_IN =
  'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { email } }'
const CALLS = exampleCalls(dashboardSchema(), {
  to: '2030-01-01T00:00:00Z',
  expiresAt: '2099-01-01T00:00:00Z',
  origins: ['https://www.example.com'],
  id: '1',
  email: 'somebody@example.com',
  provider: 'stripe',
  currency: 'usd',
  interval: 'month',
  secretKey: 'sk_test_1234567890',
  webhookSecret: 'whsec_1234567890',
  successUrl: 'https://www.example.com',
  cancelUrl: 'https://www.example.com',
})
const CREATE_KEY = `mutation ($appId: String!) {
  createApiKey(appId: $appId, name: "key") { id prefix secret }
}`

/** The cookie that an answer sets, taken apart. */
async function cookieOf(client: Client, query: string, variables = {}) {
  const response = await client.post(JSON.stringify({ query, variables }))
  const [pair = '', ...flags] = (response.headers.getSetCookie()[0] ?? '').split('; ')
  return { pair, flags: flags.sort() }
}

describe('gap: signing in to the dashboard', () => {
  it('shows who has signed in, whatever the case of the address', async () => {
    const { email, password } = OWNER
    expect(await visitor.data(SIGN_IN, { email: ` ${email.toUpperCase()} `, password })).toEqual({
      signIn: { email },
    })
    expect(await server.dashboard.data('{ me { email } }')).toEqual({ me: { email } })
    expect(await visitor.data('{ me { email } }')).toEqual({ me: null })
  })

  it('says the same of a wrong password and of an unknown address', async () => {
    const wrong = await visitor.error(SIGN_IN, { email: OWNER.email, password: 'not this one' })
    const unknown = await visitor.error(SIGN_IN, { email: 'nobody@example.com', password: OWNER.password })
    expect(wrong).toMatchObject({
      message: 'Email or password is wrong',
      extensions: { code: 'UNAUTHENTICATED', type: 'AuthenticationError', status: 401 },
    })
    expect(unknown).toEqual(wrong)
  })

  it('slows an address down after too many tries for an account, and forgets them when one was right', async () => {
    const limited = await startTestServer()
    const signIn = async (password: string) => {
      const { errors } = await dashboardClient(limited.url).ask(SIGN_IN, { email: OWNER.email, password })
      return errors?.[0]?.extensions.code ?? 'signed in'
    }
    const tries = async (count: number) => {
      for (let i = 0; i < count; i++) expect(await signIn('a guess')).toBe('UNAUTHENTICATED')
    }
    try {
      await tries(SIGN_IN_TRIES - 1)
      expect(await signIn(OWNER.password)).toBe('signed in')
      await tries(SIGN_IN_TRIES)
      expect(await signIn('a guess')).toBe('RATE_LIMITED')
      expect(await signIn(OWNER.password)).toBe('RATE_LIMITED')
    } finally {
      await limited.stop()
    }
  })

  it('gives a cookie that scripts, other sites and the database do not have', async () => {
    const { pair, flags } = await cookieOf(visitor, SIGN_IN, OWNER)
    expect(flags).toEqual(['HttpOnly', `Max-Age=${SESSION_SECONDS}`, 'Path=/', 'SameSite=Strict'])
    const secret = pair.split('=')[1] ?? ''
    const rows = await rowsOf<{ hash: Buffer }>(
      { connectionString: server.databaseUrl },
      'select hash from session where hash = $1',
      [createHash('sha256').update(secret).digest()],
    )
    expect(rows).toHaveLength(1)
  })

  it('gives a cookie for TLS alone where the public URL is https', async () => {
    const PORT = await freePort()
    const behindTls = await startTestServer({
      env: { PORT, TOLLGATE_PUBLIC_URL: 'https://toll.example.com' },
    })
    try {
      const proxied = dashboardClient(behindTls.url).with({ Origin: 'https://toll.example.com' })
      expect((await cookieOf(proxied, SIGN_IN, OWNER)).flags).toContain('Secure')
    } finally {
      await behindTls.stop()
    }
  })

  it('ends a session when its owner signs out, and removes the cookie', async () => {
    const session = await signedIn(server.url, OWNER)
    expect((await cookieOf(session, 'mutation { signOut }')).flags).toContain('Max-Age=0')
    expect(await session.data('{ me { email } }')).toEqual({ me: null })
    expect(await visitor.data('mutation { signOut }')).toEqual({ signOut: true })
  })
})

describe('gap: the first owner', () => {
  const SET_OWNER = `mutation ($token: String!) {
    setOwner(token: $token, email: "first@example.com", password: "a good password") { email }
  }`

  it('is the first to use the link', async () => {
    const fresh = await startTestServer({ env: { TOLLGATE_OWNER_EMAIL: '', TOLLGATE_OWNER_PASSWORD: '' } })
    try {
      const { ownerToken: token } = fresh.firstStart
      expect(await fresh.dashboard.error(SET_OWNER, { token: 'guessed' })).toMatchObject({
        message: 'This link is not valid. Use the link printed by the service.',
        extensions: { code: 'UNAUTHENTICATED' },
      })
      const { pair } = await cookieOf(fresh.dashboard, SET_OWNER, { token })
      const session = fresh.dashboard.with({ Cookie: pair })
      expect(await session.data('{ me { email } }')).toEqual({ me: { email: 'first@example.com' } })
      expect(await fresh.dashboard.error(SET_OWNER, { token })).toMatchObject({
        message: 'This link was already used. Sign in instead.',
        extensions: { code: 'UNAUTHENTICATED' },
      })
    } finally {
      await fresh.stop()
    }
  })
})

describe('gap: what the dashboard asks of a visitor', () => {
  const OPEN = ['me', 'invitation', 'signIn', 'signOut', 'setOwner', 'acceptInvitation'].concat([
    'hasOwner',
    'passwordReset',
    'requestPasswordReset',
    'resetPassword',
    'sendsEmail',
  ])

  it.for(CALLS.filter(({ name }) => !OPEN.includes(name)))('$name needs a session', async ({
    query,
    variables,
  }) => {
    expect(await visitor.error(query, variables)).toMatchObject({
      message: 'Sign in to the dashboard first',
      extensions: { code: 'UNAUTHENTICATED', status: 401 },
    })
    const stranger = visitor.with({ Cookie: 'tollgate_session=made-up', Authorization: API_KEY })
    expect(await stranger.error(query, variables)).toMatchObject({
      extensions: { code: 'UNAUTHENTICATED' },
    })
  })

  const FOREIGN = ['https://evil.example.com', 'http://127.0.0.1:1', 'null', 'file://', 'not a url']
  it.for(FOREIGN)('refuses the cookie to a page from %s', async (origin) => {
    const error = await server.dashboard.with({ Origin: origin }).error('{ me { email } }')
    expect(error).toMatchObject({
      message: 'Cross-origin requests to the dashboard API are not allowed',
      extensions: { code: 'FORBIDDEN', status: 403 },
    })
  })

  it('answers its own pages', async () => {
    const own = server.dashboard.with({ Origin: server.url })
    expect(await own.data('{ me { email } }')).toEqual({ me: { email: OWNER.email } })
  })

  const FORMS = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
  ]
  it.for(FORMS)('refuses a body of %s, which a form of another site can send', async (type) => {
    const error = await server.dashboard.with({ 'Content-Type': type }).error('{ me { email } }')
    expect(error).toMatchObject({
      message: 'Content-Type must be application/json',
      extensions: { code: 'BAD_REQUEST' },
    })
  })
})

describe('spec §5: API keys', () => {
  it('a key is shown once, and opens its app until it is revoked', async () => {
    await createApp(server, 'keys')
    const { createApiKey: key } = await server.dashboard.data(CREATE_KEY, { appId: 'keys' })
    const admin = adminClient(server.url, key.secret)
    expect(await admin.data('{ features { id } }')).toEqual({ features: [] })

    const apiKeys = await server.dashboard.call('apiKeys { id name prefix createdAt revokedAt }', {
      appId: 'keys',
    })
    expect(apiKeys).toContainEqual({
      id: key.id,
      name: 'key',
      prefix: key.prefix,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      revokedAt: null,
    })
    expect(key.prefix).toMatch(/^tg_/)
    expect(key.secret.startsWith(key.prefix)).toBe(true)
    expect(key.prefix.length).toBeLessThan(key.secret.length / 2)

    const revoke = 'mutation ($id: String!) { revokeApiKey(appId: "keys", id: $id) { id } }'
    for (const _twice of [1, 2]) {
      expect(await server.dashboard.data(revoke, { id: key.id })).toEqual({ revokeApiKey: { id: key.id } })
      expect(await admin.error('{ features { id } }')).toMatchObject({
        extensions: { code: 'UNAUTHENTICATED' },
      })
    }
  })

  it('only the SHA-256 of a key is kept', async () => {
    const { createApiKey: key } = await server.dashboard.data(CREATE_KEY, { appId: 'default' })
    const [row] = await rowsOf<Record<string, unknown>>(
      { connectionString: server.databaseUrl },
      'select * from api_key where id = $1',
      [key.id],
    )
    expect(row?.hash).toEqual(createHash('sha256').update(key.secret).digest())
    expect(JSON.stringify(row)).not.toContain(key.secret)
  })

  it('a key is no session, and a session is no key', async () => {
    expect(await visitor.with({ Authorization: API_KEY }).data('{ me { email } }')).toEqual({ me: null })
    const { pair } = await cookieOf(visitor, SIGN_IN, OWNER)
    const session = pair.split('=')[1] ?? ''
    for (const headers of [
      { Cookie: pair },
      { Authorization: session },
      { Authorization: `Bearer ${session}` },
    ]) {
      const error = await new Client(`${server.url}/graphql`, headers).error('{ features { id } }')
      expect(error).toMatchObject({ extensions: { code: 'UNAUTHENTICATED' } })
    }
  })
})

describe('gap: apps', () => {
  it('has each id once', async () => {
    const create = 'mutation { createApp(id: "twin", name: "Twin") { id name testClock } }'
    expect(await server.dashboard.data(create)).toEqual({
      createApp: { id: 'twin', name: 'Twin', testClock: false },
    })
    expect(await server.dashboard.error(create)).toMatchObject({
      message: 'An app with the id "twin" already exists',
      extensions: { code: 'BAD_USER_INPUT' },
    })
    const { apps } = await server.dashboard.data('{ apps { id } }')
    expect(apps).toContainEqual({ id: 'twin' })
  })

  it.for(
    CALLS.filter(({ variables }) => 'appId' in variables),
  )('$name says that there is no such app', async ({ query, variables }) => {
    expect(await server.dashboard.error(query, variables)).toMatchObject({
      message: 'App not found: "x"',
      extensions: { code: 'APP_NOT_FOUND', status: 404 },
    })
  })

  const UNKNOWN = {
    'package(appId: "default", id: "x") { id }': 'PACKAGE_NOT_FOUND',
    'publishPackage(appId: "default", id: "x") { id }': 'PACKAGE_NOT_FOUND',
    'discardPackageDraft(appId: "default", id: "x") { id }': 'PACKAGE_NOT_FOUND',
    'editPackage(appId: "default", id: "x", input: {}) { id }': 'PACKAGE_NOT_FOUND',
    'cancelSubscription(appId: "default", id: "x") { id }': 'SUBSCRIPTION_NOT_FOUND',
    'revokeApiKey(appId: "default", id: "x") { id }': 'API_KEY_NOT_FOUND',
  }
  it.for(Object.entries(UNKNOWN))('%s is %s', async ([field, code]) => {
    const error = await server.dashboard.error(
      `${field.startsWith('package(') ? 'query' : 'mutation'} { ${field} }`,
    )
    expect(error.extensions).toMatchObject({ code, status: 404 })
  })
})
