import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startTestServer, type TestServer } from '../../server/test/harness/server.ts'
import { type SdkApp, sdkApp } from './support/app.ts'
import { pageClient, tokenOf } from './support/user.ts'

const HOUR = 3_600_000

let server: TestServer
let app: SdkApp
/** how far the service's clock is ahead: a token that is older than an hour is refused */
let ahead = 0
beforeAll(async () => {
  // The time of this process, which the server shares, is turned forward and back.
  const env = { TOLLGATE_RATE_LIMIT_TOKEN: 'off' }
  server = await startTestServer({ clocks: { wall: () => Date.now() + ahead }, env })
  app = await sdkApp(server)
})
afterAll(() => server.stop())
afterEach(() => {
  ahead = 0
  vi.restoreAllMocks()
})

/** The tokens that a page fetched, and the ones it sent. */
function fetching(fetchToken = () => tokenOf(app)) {
  const fetched: string[] = []
  const { client, sent } = pageClient(app, server.url, {
    async token() {
      const token = await fetchToken()
      fetched.push(token)
      return token
    },
  })
  return { client, fetched, sentTokens: () => sent.map(({ token }) => token) }
}

/** Tokens of one second are the same token. */
const nextSecond = () => {
  ahead += 1_000
}

describe('spec §5.5: the user’s token', () => {
  it('is fetched once, when needed, for all waiting calls', async () => {
    const { client, fetched } = fetching()
    expect(fetched).toEqual([])
    await Promise.all([client.canUse('calls'), client.usage('calls'), client.packages()])
    await client.canUse('calls')
    expect(fetched).toHaveLength(1)
  })

  it('is fetched again a minute before it expires, by elapsed time and not by the page’s clock', async () => {
    const { client, fetched, sentTokens } = fetching()
    vi.spyOn(Date, 'now').mockReturnValue(0)
    const start = performance.now()
    const now = vi.spyOn(performance, 'now').mockReturnValue(start)
    await client.canUse('calls')
    now.mockReturnValue(start + HOUR - 61_000)
    await client.canUse('calls')
    expect(fetched).toHaveLength(1)
    vi.mocked(Date.now).mockRestore()
    nextSecond()
    now.mockReturnValue(start + HOUR - 59_000)
    await client.canUse('calls')
    expect(fetched).toHaveLength(2)
    expect(sentTokens()).toEqual([fetched[0], fetched[0], fetched[1]])
  })

  it('is fetched again after a refusal, once for all refused calls, without an error', async () => {
    const { client, fetched } = fetching()
    await client.canUse('calls')
    ahead = 2 * HOUR
    const answers = await Promise.all([client.canUse('calls'), client.usage('calls'), client.subscriptions()])
    expect(answers.map(({ error }) => error)).toEqual([null, null, null])
    expect(fetched).toHaveLength(2)
  })

  it('that is refused again, or comes back the same, is an AuthenticationError', async () => {
    const same = await tokenOf(app)
    ahead = 2 * HOUR
    for (const token of [same, () => same]) {
      const { client, sent } = pageClient(app, server.url, { token })
      expect((await client.canUse('calls')).error).toMatchObject({
        name: 'AuthenticationError',
        code: 'UNAUTHENTICATED',
        response: { status: 401 },
      })
      expect(sent).toHaveLength(1)
    }
  })

  it('that cannot be fetched is a NetworkError; the next call tries again', async () => {
    let fails = true
    const { client } = fetching(() => (fails ? Promise.reject(new Error('signed out')) : tokenOf(app)))
    const { error } = await client.canUse('calls')
    expect(error).toMatchObject({ name: 'NetworkError', code: 'TOKEN_FAILED' })
    expect(error?.message).toContain('signed out')
    fails = false
    expect((await client.canUse('calls')).data?.access).toBe(true)
  })

  it('that is good for a little yet is used where another cannot be fetched', async () => {
    let fails = false
    const { client } = fetching(() => (fails ? Promise.reject(new Error('offline')) : tokenOf(app)))
    const start = performance.now()
    const now = vi.spyOn(performance, 'now').mockReturnValue(start)
    await client.canUse('calls')
    now.mockReturnValue(start + HOUR)
    fails = true
    expect((await client.canUse('calls')).data?.access).toBe(true)
    ahead = 2 * HOUR
    expect((await client.canUse('calls')).error?.code).toBe('TOKEN_FAILED')
  })

  it('that does not arrive within the timeout fails', async () => {
    const { client } = pageClient(app, server.url, { token: () => new Promise(() => {}), timeout: 20 })
    expect((await client.canUse('calls')).error).toMatchObject({ code: 'TOKEN_FAILED' })
  })

  it('that is none is not sent: a backend may have answered with its sign-in page, or with its key', async () => {
    for (const wrong of ['<html>', app.apiKey, '']) {
      const { client, sent } = pageClient(app, server.url, { token: () => wrong })
      expect((await client.canUse('calls')).error?.code).toBe('TOKEN_FAILED')
      expect(sent).toEqual([])
    }
  })
})
