import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/settings/config.ts'
import { type Answer, Client, dashboardClient, signedIn } from '../harness/client.ts'
import { movable } from '../harness/clocks.ts'
import { API_KEY, adminClient, OWNER, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

/** So slow that nothing flows in while a test runs. */
const SLOW = {
  TOLLGATE_RATE_LIMIT_KEY: '0.01/20',
  TOLLGATE_RATE_LIMIT_TOKEN: '0.01/5',
  TOLLGATE_RATE_LIMIT_ADDRESS: '0.01/20',
  TOLLGATE_TRUSTED_PROXIES: '1',
}

const time = movable()
const server = shared(() => startTestServer({ env: SLOW, clocks: { monotonic: time.monotonic } }))
let addresses = 0

/** A caller from an address of its own, through a proxy. */
const from = (client: Client, address = `203.0.113.${++addresses}`): Client =>
  client.with({ 'X-Forwarded-For': address })

async function asked(client: Client, query = '{ __typename }'): Promise<Answer & { headers: Headers }> {
  const response = await client.post(JSON.stringify({ query }))
  const answer = (await response.json()) as Omit<Answer, 'status'>
  return { status: response.status, headers: response.headers, ...answer }
}

const codeOf = ({ errors }: Answer): string => errors?.[0]?.extensions.code ?? 'ok'

async function tokenOf(user: string): Promise<string> {
  const admin = adminClient(server.url, await newKey())
  await admin.data(`mutation { createUser(input: {id: "${user}"}) { id } }`)
  return (await admin.call('generateUserToken { token }', { userId: user })).token
}

async function newKey(): Promise<string> {
  return (await server.dashboard.call('createApiKey { secret }', { name: 'test' })).secret
}

describe('gap: rate limits of a key', () => {
  it('say what is left, and refuse with 200, RATE_LIMITED and when to retry', async () => {
    const key = adminClient(server.url, await newKey())
    const first = await asked(key)
    expect(first.headers.get('ratelimit-limit')).toBe('20')
    expect(first.headers.get('ratelimit-remaining')).toBe('19')
    expect(first.headers.get('ratelimit-reset')).toBe('100')
    for (let i = 1; i < 20; i++) expect(codeOf(await asked(key))).toBe('ok')
    const refused = await asked(key)
    expect(refused.status).toBe(200)
    expect(refused.errors).toEqual([
      {
        message: expect.stringMatching(/^Too many requests with this API key; retry in \d+ s\.$/),
        locations: [],
        path: [],
        extensions: { code: 'RATE_LIMITED', type: 'Error', status: 429, retryAfter: expect.any(Number) },
      },
    ])
    expect(refused.headers.get('retry-after')).toBe(String(refused.errors?.[0]?.extensions.retryAfter))
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    // Another key of the same app, from the same address, is another caller.
    expect(codeOf(await asked(adminClient(server.url, await newKey())))).toBe('ok')
  })

  it('accept a caller again after the time it was given, and not before', async () => {
    const key = adminClient(server.url, await newKey())
    for (let i = 0; i < 20; i++) expect(codeOf(await asked(key))).toBe('ok')
    const { headers } = await asked(key)
    const seconds = Number(headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(90)
    time.passes((seconds - 5) * 1_000)
    expect(codeOf(await asked(key))).toBe('RATE_LIMITED')
    time.passes(5_000)
    expect(codeOf(await asked(key))).toBe('ok')
    expect(codeOf(await asked(key))).toBe('RATE_LIMITED')
  })

  it('are off unless they are set, and are set by requests per second and a burst', () => {
    expect(readConfig({}).http.admission).toEqual({
      key: null,
      token: { perSecond: 50, burst: 500 },
      address: { perSecond: 200, burst: 4_000 },
      trustedProxies: null,
    })
    expect(readConfig({ TOLLGATE_RATE_LIMIT_KEY: '2.5' }).http.admission.key).toEqual({
      perSecond: 2.5,
      burst: 25,
    })
    expect(readConfig({ TOLLGATE_RATE_LIMIT_ADDRESS: 'off' }).http.admission.address).toBeNull()
    for (const wrong of ['0', '-1', 'many', '5/0', '5/', '1e9', '5 / 10']) {
      expect(() => readConfig({ TOLLGATE_RATE_LIMIT_TOKEN: wrong })).toThrow(
        /^TOLLGATE_RATE_LIMIT_TOKEN must be a number of requests per second, such as 50/,
      )
    }
    expect(() => readConfig({ TOLLGATE_TRUSTED_PROXIES: 'nginx' })).toThrow(
      /^TOLLGATE_TRUSTED_PROXIES must be addresses or networks/,
    )
  })
})

describe('gap: rate limits of a user', () => {
  it('count all tokens of one user together, and no other user', async () => {
    const client = (token: string) => new Client(`${server.url}/client/graphql`, { Authorization: token })
    const [ann, ben] = [client(await tokenOf('ann')), client(await tokenOf('ben'))]
    for (let i = 0; i < 5; i++) expect(codeOf(await asked(ann))).toBe('ok')
    expect(await asked(ann)).toMatchObject({
      status: 200,
      errors: [
        { message: expect.stringMatching(/^Too many requests by this user/), extensions: { status: 429 } },
      ],
    })
    expect(codeOf(await asked(ben))).toBe('ok')
  })

  it('can be read by pages of the origins that the app allows', async () => {
    await server.dashboard.call('setOrigins', { origins: ['https://shop.example.com'] })
    const page = new Client(`${server.url}/client/graphql`, {
      Authorization: await tokenOf('cleo'),
      Origin: 'https://shop.example.com',
    })
    let answer = await asked(page, '{ me { id } }')
    expect(codeOf(answer)).toBe('ok')
    while (codeOf(answer) === 'ok') answer = await asked(page)
    expect(codeOf(answer)).toBe('RATE_LIMITED')
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example.com')
    expect(answer.headers.get('access-control-expose-headers')).toContain('Retry-After')
  })
})

describe('gap: rate limits of an address', () => {
  it.for(['/graphql', '/client/graphql'])('count wrong credentials five times at %s', async (path) => {
    const wrong = from(new Client(server.url + path, { Authorization: 'wrong' }))
    const codes: string[] = []
    for (let i = 0; i < 6; i++) codes.push(codeOf(await asked(wrong)))
    expect(codes).toEqual([...Array(4).fill('UNAUTHENTICATED'), 'RATE_LIMITED', 'RATE_LIMITED'])
    // No address is anybody else's.
    expect(codeOf(await asked(from(wrong)))).toBe('UNAUTHENTICATED')
  })

  it('do not slow down a key that was accepted before, nor a member who has signed in', async () => {
    const address = '198.51.100.1'
    const good = from(adminClient(server.url, await newKey()), address)
    const member = from(await signedIn(server.url, OWNER), address)
    expect(codeOf(await asked(good))).toBe('ok')
    expect(codeOf(await asked(member, '{ me { email } }'))).toBe('ok')
    const wrong = from(adminClient(server.url, 'wrong'), address)
    while (codeOf(await asked(wrong)) === 'UNAUTHENTICATED');
    expect(codeOf(await asked(good))).toBe('ok')
    expect(await asked(member, '{ me { email } }')).toMatchObject({ data: { me: { email: OWNER.email } } })
    expect(codeOf(await asked(from(dashboardClient(server.url), address), '{ me { email } }'))).toBe(
      'RATE_LIMITED',
    )
  })

  it('forget the good name of a key that is revoked', async () => {
    const createApiKey = await server.dashboard.call('createApiKey { id secret }', { name: 'short-lived' })
    const client = from(adminClient(server.url, createApiKey.secret))
    expect(codeOf(await asked(client))).toBe('ok')
    await server.dashboard.call('revokeApiKey', { id: createApiKey.id })
    const codes: string[] = []
    for (let i = 0; i < 8; i++) codes.push(codeOf(await asked(client, '{ users(first: 1) { id } }')))
    expect(codes.at(0)).toBe('UNAUTHENTICATED')
    expect(codes.at(-1)).toBe('RATE_LIMITED')
  })

  it.for(['/', '/checkout/none', '/metrics', '/nowhere'])('answer 429 at %s', async (path) => {
    const headers = { 'X-Forwarded-For': `198.51.100.${++addresses}` }
    const get = () => fetch(server.url + path, { headers })
    for (let i = 0; i < 20; i++) expect((await get()).status).not.toBe(429)
    const refused = await get()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.text()).toMatch(/^Too many requests from this address/)
    for (const probe of ['/healthz', '/readyz']) {
      expect((await fetch(server.url + probe, { headers })).status).toBe(200)
    }
  })

  it('answer 429 to webhooks and preflights, which asks the database nothing more', async () => {
    for (const [path, method] of [
      ['/webhooks/stripe/default', 'POST'],
      ['/client/graphql', 'OPTIONS'],
    ] as const) {
      const headers = { 'X-Forwarded-For': `198.51.100.${++addresses}`, Origin: 'https://nowhere.example' }
      const statuses: number[] = []
      for (let i = 0; i < 21; i++) statuses.push((await fetch(server.url + path, { method, headers })).status)
      expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    }
  })

  it('are kept on the short way and through node:http alike', async () => {
    const address = '198.51.100.200'
    const head = `Host: x\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json`
    const body = '{"query":"{ __typename }"}'
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await once(socket, 'connect')
    const answers: string[] = []
    for (let i = 0; i < 4; i++) {
      socket.write(`POST /graphql HTTP/1.1\r\n${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      answers.push(chunk.toString())
    }
    socket.destroy()
    expect(answers.every((answer) => answer.includes('UNAUTHENTICATED'))).toBe(true)
    expect(answers[0]).toMatch(/^RateLimit-Remaining: 15\r$/m)
    // In chunks, which only node:http understands.
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = request(
        `${server.url}/graphql`,
        { method: 'POST', headers: { 'X-Forwarded-For': address, 'Transfer-Encoding': 'chunked' } },
        async (response) => {
          let text = ''
          for await (const chunk of response) text += chunk
          resolve(text)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
    expect(answer).toContain('RATE_LIMITED')
  })

  it('believe no proxy unless it is trusted', async () => {
    const alone = await startTestServer({ env: { ...SLOW, TOLLGATE_TRUSTED_PROXIES: '' } })
    try {
      const codes: string[] = []
      for (let i = 0; i < 6; i++) {
        codes.push(codeOf(await asked(from(adminClient(alone.url, 'wrong')))))
      }
      expect(codes.at(-1)).toBe('RATE_LIMITED')
      expect(codeOf(await asked(adminClient(alone.url, API_KEY)))).toBe('RATE_LIMITED')
    } finally {
      await alone.stop()
    }
  })
})
