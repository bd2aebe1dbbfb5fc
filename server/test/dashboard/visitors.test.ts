import { beforeAll, describe, expect, it } from 'vitest'
import { SIGN_IN_TRIES } from '../../src/domain/limits.ts'
import { type Answer, type Client, dashboardClient } from '../harness/client.ts'
import { OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const SIGN_IN =
  'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { email } }'
const NOT_SIGNED_IN = {
  message: 'Sign in to the dashboard first',
  locations: [],
  path: [],
  extensions: { code: 'UNAUTHENTICATED', type: 'AuthenticationError', status: 401 },
}

const server = shared(() =>
  startTestServer({ env: { TOLLGATE_TRUSTED_PROXIES: '1' }, clocks: { wall: () => now } }),
)
let now = Date.now()
let addresses = 0

/** Somebody at an address of their own, who comes through a proxy. */
const stranger = (address = `203.0.113.${++addresses}`): Client =>
  dashboardClient(server.url).with({ 'X-Forwarded-For': address })

const codeOf = ({ errors }: Answer): string => errors?.[0]?.extensions.code ?? 'ok'

const signIn = async (client: Client, password: string, email = OWNER.email): Promise<string> =>
  codeOf(await client.ask(SIGN_IN, { email, password }))

/** Guesses until it is told to wait. */
async function tire(client: Client, email = OWNER.email): Promise<void> {
  for (let i = 0; i < SIGN_IN_TRIES; i++)
    expect(await signIn(client, `guess ${i}`, email)).toBe('UNAUTHENTICATED')
  expect(await signIn(client, 'one more', email)).toBe('RATE_LIMITED')
}

/** The same browser, with all the cookies that an answer gave it. */
async function browserAfterSignIn(client: Client): Promise<Client> {
  const response = await client.post(JSON.stringify({ query: SIGN_IN, variables: OWNER }))
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  expect(cookies).toHaveLength(2)
  return client.with({ Cookie: cookies.join('; ') })
}

beforeAll(async () => {
  await server.admin.data(`mutation {
    createUser(input: {id: "u"}) { id }
    createFeature(input: {id: "f", name: "F", type: BINARY}) { id }
  }`)
})

describe('gap: visitors', () => {
  it.for([
    '{ __schema { types { name } } }',
    '{ __type(name: "Query") { name } }',
    '{ __typename }',
    '{ me { email } __schema { types { name } } }',
    '{ me { email } ...F } fragment F on Query { __schema { types { name } } }',
    '{ ... on Query { __schema { types { name } } } }',
    'query A { me { email } } query B { __schema { types { name } } }',
    '{ apps { id } }',
    '{ nothing }',
    '{ mee { email } }',
    'mutation { createApp(id: "x", name: "X") { id } }',
    'mutation { signOut createApp(id: "x", name: "X") { id } }',
    'mutation { changePassword(current: "a", password: "b") }',
    'subscription { me { email } }',
    `{ ${'a: me { email } '.repeat(40)} }`,
  ])('gets the same answer, and nothing about the schema: %s', async (query) => {
    const answer = await stranger().ask(query)
    expect(answer).toEqual({ status: 200, errors: [NOT_SIGNED_IN] })
  })

  it('gets nowhere with a deep document', async () => {
    const answer = await stranger().ask(`{ me ${'{ a '.repeat(18)} ${'} '.repeat(18)} }`)
    expect(codeOf(answer)).toBe('GRAPHQL_VALIDATION_FAILED')
  })

  it('gets the same answer for a document that members use', async () => {
    const query = '{ apps { id name } __typename }'
    for (let i = 0; i < 4; i++) await server.dashboard.data(query)
    expect(await stranger().ask(query)).toEqual({ status: 200, errors: [NOT_SIGNED_IN] })
    expect(codeOf(await server.dashboard.ask(query))).toBe('ok')
  })

  it('may do what the pages before signing in do', async () => {
    expect(await stranger().data('query Session { me { id email role } }')).toEqual({ me: null })
    expect(await stranger().data('mutation { signOut }')).toEqual({ signOut: true })
    const invitation = await stranger().error(
      'query ($t: String!) { invitation(token: $t) { email role } }',
      {
        t: 'none',
      },
    )
    expect(invitation.message).toMatch(/^This invitation is no longer valid/)
    for (const field of [
      'acceptInvitation(token: "none", password: "a good long password") { email }',
      'resetPassword(token: "none", password: "a good long password") { email }',
      'setOwner(token: "none", email: "a@example.com", password: "a good long password") { email }',
    ]) {
      expect((await stranger().error(`mutation { ${field} }`)).message).toMatch(/^This (invitation|link)/)
    }
  })

  it.for([
    'signIn(email: "a", password: "b") { email }',
    'changePassword(current: "a", password: "b")',
  ])('one password for an operation, for members too: %s', async (field) => {
    const twice = `mutation { a: ${field} b: ${field} }`
    for (const query of [twice, `mutation { a: ${field} ... on Mutation { b: ${field} } }`]) {
      const { message, extensions } = await server.dashboard.error(query)
      expect([message, extensions.code]).toEqual([
        'An operation can sign in or set a password only once',
        'GRAPHQL_VALIDATION_FAILED',
      ])
    }
  })

  it('cannot keep others from being answered with a document of many passwords', async () => {
    const aliases = Array.from(
      { length: 50 },
      (_, i) => `a${i}: signIn(email: "${i}", password: "x") { email }`,
    )
    const query = `mutation { ${aliases.join(' ')} } #${'x'.repeat(16 * 1024)}`
    const flood = Array.from({ length: 40 }, () => stranger().ask(query))
    const check = '{ canUseFeature(userId: "u", featureId: "f") { reasonCode } }'
    const started = performance.now()
    expect(await server.admin.data(check)).toEqual({ canUseFeature: { reasonCode: 'NO_SUBSCRIPTION' } })
    expect(performance.now() - started).toBeLessThan(5_000)
    for (const answer of await Promise.all(flood)) {
      expect(answer.errors?.map(({ extensions }) => extensions.code)).toHaveLength(1)
      expect(['UNAUTHENTICATED', 'GRAPHQL_VALIDATION_FAILED']).toContain(codeOf(answer))
    }
  })

  it('cannot have more passwords hashed at once than there is room for', async () => {
    const flood = Array.from({ length: 60 }, (_, i) =>
      signIn(stranger(), 'a guess', `somebody-${i}@example.com`),
    )
    const check = '{ canUseFeature(userId: "u", featureId: "f") { reasonCode } }'
    expect(await server.admin.data(check)).toEqual({ canUseFeature: { reasonCode: 'NO_SUBSCRIPTION' } })
    const codes = await Promise.all(flood)
    expect(codes).toContain('UNAUTHENTICATED')
    expect(new Set(codes)).toEqual(new Set(['UNAUTHENTICATED', 'RATE_LIMITED']))
    // What was refused for want of room was no guess.
    expect(await signIn(stranger(), OWNER.password)).toBe('ok')
  })
})

describe('gap: wrong passwords', () => {
  it('slow down where they come from, and nobody else', async () => {
    const guesser = stranger()
    await tire(guesser)
    // Not even the right one is compared there, or guessing could go on.
    expect(await signIn(guesser, OWNER.password)).toBe('RATE_LIMITED')
    expect(await signIn(stranger(), OWNER.password)).toBe('ok')
  })

  it('say when to come back, and then one more is compared', async () => {
    const guesser = stranger()
    await tire(guesser)
    const { extensions } = await guesser.error(SIGN_IN, OWNER)
    expect(extensions).toMatchObject({ code: 'RATE_LIMITED', status: 429, retryAfter: 60 })
    now += 60_000
    expect(await signIn(guesser, 'one more')).toBe('UNAUTHENTICATED')
    expect(await signIn(guesser, OWNER.password)).toBe('RATE_LIMITED')
    now += 60_000
    expect(await signIn(guesser, OWNER.password)).toBe('ok')
    // The right one clears the account there.
    for (let i = 0; i < SIGN_IN_TRIES; i++) expect(await signIn(guesser, 'again')).toBe('UNAUTHENTICATED')
  })

  it('get the same answer for an account that does not exist', async () => {
    await tire(stranger(), 'nobody@example.com')
  })

  it('never hold up a browser that has signed in to the account before', async () => {
    const address = `203.0.113.${++addresses}`
    const browser = await browserAfterSignIn(stranger(address))
    await browser.data('mutation { signOut }')
    await tire(stranger(address))
    expect(await signIn(stranger(address), OWNER.password)).toBe('RATE_LIMITED')
    expect(await signIn(browser, OWNER.password)).toBe('ok')
    // Its own guesses slow it down, too, and it alone.
    const stolen = await browserAfterSignIn(stranger())
    await tire(stolen)
    expect(await signIn(stolen, OWNER.password)).toBe('RATE_LIMITED')
    expect(await signIn(browser, OWNER.password)).toBe('ok')
  })

  it('are counted for a made-up browser like anybody else’s', async () => {
    const { me } = await server.dashboard.data('{ me { id } }')
    const token = `${'a'.repeat(22)}.9999999999.${'b'.repeat(43)}`
    const liar = stranger().with({ Cookie: `tollgate_device_${me.id}=${token}` })
    await tire(liar)
  })

  it('are reset when the clock was set back by more than nodes differ', async () => {
    const guesser = stranger()
    await tire(guesser)
    const before = now
    now -= 3 * 3_600_000
    try {
      expect(await signIn(guesser, OWNER.password)).toBe('ok')
    } finally {
      now = before
    }
  })

  it('of the present one, typed to set another, hold up neither sign-in nor anybody else', async () => {
    const change = (client: Client) =>
      client.ask('mutation { changePassword(current: "wrong", password: "a good long password") }')
    const member = await browserAfterSignIn(stranger())
    for (let i = 0; i < SIGN_IN_TRIES; i++) expect(codeOf(await change(member))).toBe('BAD_USER_INPUT')
    expect(codeOf(await change(member))).toBe('RATE_LIMITED')
    expect(await signIn(stranger(), OWNER.password)).toBe('ok')
  })
})
