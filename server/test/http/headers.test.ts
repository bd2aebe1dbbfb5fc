import { request } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { openSandboxShop, type SandboxShop } from '../billing/sandbox-shop.ts'
import { dashboardClient } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { freePort } from '../harness/free-port.ts'
import { exchange, post } from '../harness/raw.ts'
import { API_KEY, OWNER, startTestServer, type TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const PUBLIC = 'https://tollgate.example.com'
const TOKEN = 'a token for the metrics'

const plain = shared(startTestServer)
const secure = shared(async () =>
  startTestServer({
    databaseUrl: plain.databaseUrl,
    env: { TOLLGATE_PUBLIC_URL: PUBLIC, PORT: await freePort(), TOLLGATE_METRICS_TOKEN: TOKEN },
  }),
)
let shop: SandboxShop
let checkout: string
beforeAll(async () => {
  shop = await openSandboxShop(plain)
  checkout = new URL(await shop.link('plan', null)).pathname
})

interface Got {
  status: number | undefined
  headers: NodeJS.Dict<string | string[]>
  text: string
}

/** As it is, with whatever Host and headers; fetch would not send some of them. */
function get(
  server: TestServer,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Got> {
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }))
    })
    sent.on('error', reject).end(body)
  })
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const QUERY = JSON.stringify({ query: '{ packages { id } }' })

describe('gap: headers of every answer', () => {
  const PATHS: [path: string, body?: string][] = [
    ['/'],
    ['/healthz'],
    ['/readyz'],
    ['/metrics'],
    ['/nothing'],
    ['/checkout/none'],
    ['/webhooks/sandbox/default', '{}'],
    ['/dashboard/import/report'],
    ['/graphql'],
    ['/graphql', QUERY],
    ['/client/graphql', QUERY],
    ['/dashboard/graphql', QUERY],
  ]
  it.for(PATHS)('%s: nosniff, and HSTS where the public URL is https', async ([path, body]) => {
    const over = await get(secure, path, JSON_TYPE, body)
    expect(over.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'strict-transport-security': 'max-age=31536000',
    })
    const { headers } = await get(plain, path, JSON_TYPE, body)
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['strict-transport-security']).toBeUndefined()
  })

  it('are the same on the short path', async () => {
    const answer = await exchange(
      secure.url,
      `${post(QUERY)}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.match(/^x-content-type-options: nosniff\r$/gim)).toHaveLength(2)
    expect(answer.match(/^strict-transport-security: max-age=31536000\r$/gim)).toHaveLength(2)
  })
})

describe('gap: the host of the dashboard', () => {
  const PINNED = ['/', '/sign-in', '/apps/default', () => checkout]
  it.for(PINNED)('%s is at its own host, and at no other', async (path) => {
    const at = typeof path === 'string' ? path : path()
    for (const host of ['evil.example', 'tollgate.example.com.evil.example', '192.0.2.1', 'a b']) {
      const { status, text } = await get(secure, at, { Host: host })
      expect([host, status]).toEqual([host, 421])
      expect(text).toContain('https://tollgate.example.com/')
    }
    for (const host of [
      'tollgate.example.com',
      'tollgate.example.com:443',
      'localhost:4000',
      '127.0.0.1',
      '[::1]:1',
    ]) {
      expect([host, (await get(secure, at, { Host: host })).status]).toEqual([host, 200])
    }
  })

  it('without a public URL is any address, or a name of this machine', async () => {
    for (const host of ['127.0.0.1:1', 'localhost', '192.0.2.1:4000', '[2001:db8::1]']) {
      expect([host, (await get(plain, '/', { Host: host })).status]).toEqual([host, 200])
    }
    expect((await get(plain, '/', { Host: 'evil.example' })).status).toBe(421)
  })

  it('is asked for by its operations too, whatever the origin says', async () => {
    const query = JSON.stringify({
      query: `mutation { signIn(email: "${OWNER.email}", password: "${OWNER.password}") { email } }`,
    })
    const headers = { ...JSON_TYPE, Host: 'evil.example', Origin: 'http://evil.example' }
    const { text, headers: answered } = await get(plain, '/dashboard/graphql', headers, query)
    expect(JSON.parse(text).errors[0].extensions.code).toBe('FORBIDDEN')
    expect(answered['set-cookie']).toBeUndefined()
    expect((await get(plain, '/dashboard/import/report', { Host: 'evil.example' })).status).toBe(403)
  })

  it.for<[path: string, status: number, body?: string]>([
    ['/graphql', 200, QUERY],
    ['/client/graphql', 200, QUERY],
    ['/webhooks/sandbox/default', 400, '{}'],
    ['/healthz', 200],
    ['/readyz', 200],
  ])('does not matter to %s', async ([path, status, body]) => {
    const got = await get(secure, path, { Host: 'internal:4000', Authorization: API_KEY, ...JSON_TYPE }, body)
    expect(got.status).toBe(status)
    expect(got.text).not.toContain('FORBIDDEN')
  })
})

describe('gap: the cookie of a session', () => {
  const SIGN_IN = JSON.stringify({
    query: `mutation { signIn(email: "${OWNER.email}", password: "${OWNER.password}") { email } }`,
  })
  /** Beside those that say which devices have signed in. */
  const sessionCookies = (cookies: string | string[] = []) =>
    [cookies].flat().filter((cookie) => !cookie.startsWith('tollgate_device_'))
  const sessionOf = (cookies: unknown) => /tollgate_session=([\w-]+);/.exec(String(cookies))?.[1]

  it('over https belongs to this host alone', async () => {
    const { headers } = await get(secure, '/dashboard/graphql', JSON_TYPE, SIGN_IN)
    const [made = '', ...others] = sessionCookies(headers['set-cookie'])
    expect(made).toMatch(
      /^__Host-tollgate_session=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
    )
    expect(others).toEqual([])
    const visitor = dashboardClient(secure.url)
    const asked = (cookie: string) => visitor.with({ Cookie: cookie }).data('{ me { email } }')
    const session = sessionOf(made)
    const me = { me: { email: OWNER.email } }
    expect(await asked(`__Host-tollgate_session=${session}`)).toEqual(me)
    // Any host of the domain can set a cookie of this name.
    expect(await asked(`tollgate_session=${session}`)).toEqual({ me: null })
    expect(await asked(`tollgate_session=planted; __Host-tollgate_session=${session}`)).toEqual(me)
  })

  it('over http keeps its name', async () => {
    const { headers } = await get(plain, '/dashboard/graphql', JSON_TYPE, SIGN_IN)
    expect(sessionCookies(headers['set-cookie'])).toEqual([
      expect.stringMatching(/^tollgate_session=[\w-]+; Path=\/; HttpOnly/),
    ])
  })
})

describe('gap: X-Request-Id', () => {
  const asked = async (id: string) =>
    (await get(plain, '/graphql', { ...JSON_TYPE, Authorization: API_KEY, 'X-Request-Id': id }, QUERY))
      .headers['x-request-id']

  it.for([
    'abc-1',
    '4bf92f3577b34da6a3ce929d0e0e4736',
    'Root=1-67891233-abcdef',
  ])('%s is echoed', async (id) => {
    expect(await asked(id)).toBe(id)
  })

  it.for(['', 'é', 'a b', '"quoted"', '<script>', 'x\ty'])('%j is not', async (id) => {
    expect(await asked(id)).toMatch(/^[0-9a-f]{8}-\w+$/)
  })

  it('of an import is no id of the import, which may be in any script', async () => {
    const path = `/dashboard/import/users?app=default&import=${encodeURIComponent('импорт')}`
    const { status, text } = await get(
      plain,
      path,
      { ...plain.dashboard.headers },
      'id,email\nann,a@example.com\n',
    )
    expect([status, text]).toEqual([200, expect.stringContaining('"import":"импорт"')])
  })
})

describe('gap: a payment page', () => {
  it('answers NUL in a form clearly, and is still to be paid', async () => {
    const page = `${plain.url}${checkout}`
    for (const field of ['email', 'name', 'number', 'expiry', 'cvc']) {
      const entry = { email: 'a@example.com', number: '4242424242424242', expiry: '12/99', cvc: '123' }
      const answer = await shop.submit(page, { ...entry, [field]: 'a\u0000b@example.com' })
      expect([field, answer.status]).toEqual([field, 400])
      expect(await answer.text()).toContain('contains control characters')
    }
    expect((await fetch(page)).status).toBe(200)
  })

  it('does not take rules of its policy from successUrl', async () => {
    const link =
      'mutation ($url: String!) { generateSubscriptionLink(templateId: "plan", successUrl: $url, cancelUrl: "https://shop.example/") { url } }'
    for (const url of ['https://a.example;sandbox/', "https://a'b.example/", 'https://a,b.example/']) {
      expect((await shop.admin.error(link, { url })).extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        field: 'successUrl',
      })
    }
    // One accepted before such names were refused.
    const made = new URL(await shop.link('pro', null)).pathname
    await rowsOf(
      { connectionString: plain.databaseUrl },
      'update sandbox_checkout set success_url = $1 where id = $2',
      ['https://a.example;sandbox/', made.slice('/checkout/'.length)],
    )
    const { status, headers } = await get(plain, made)
    expect(status).toBe(200)
    expect(headers['content-security-policy']).toContain("form-action 'self' https://shop.example; base-uri")
    expect(headers['content-security-policy']).not.toContain('sandbox')
  })
})

describe('gap: TOLLGATE_METRICS_TOKEN', () => {
  it('is what /metrics is to be asked with', async () => {
    for (const wrong of ['', TOKEN.slice(1), `${TOKEN}x`, API_KEY]) {
      const { status, headers, text } = await get(secure, '/metrics', { Authorization: `Bearer ${wrong}` })
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer'])
      expect(text).not.toContain('tollgate_requests_total')
    }
    expect((await get(secure, '/metrics')).status).toBe(401)
    const { status, text } = await get(secure, '/metrics', { Authorization: `Bearer ${TOKEN}` })
    expect([status, text]).toEqual([200, expect.stringContaining('tollgate_requests_total')])
    expect((await get(plain, '/metrics')).status).toBe(200)
  })
})
