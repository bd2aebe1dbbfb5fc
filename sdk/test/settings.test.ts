import { readFile } from 'node:fs/promises'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { API_KEY, startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { Tollgate, type TollgateOptions } from '../src/node.ts'

const server = shared(startTestServer)
afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

/** Where a client sends its requests, and with which key. */
async function reached(options: TollgateOptions): Promise<[url: string, key: string | null]> {
  const seen: [string, string | null][] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    seen.push([String(input), new Headers(init?.headers).get('Authorization')])
    return new Response('{"data":{"users":[]}}')
  }
  await new Tollgate({ ...options, fetch }).users()
  return seen[0] ?? ['', null]
}

describe('spec §5: settings', () => {
  it('spec §5.4: the key is sent on every request, as it stands', async () => {
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url })
    expect(await tollgate.users()).toEqual({ data: [], error: null })
    expect(await reached({ apiKey: 'k' })).toEqual(['http://127.0.0.1:4000/graphql', 'k'])
  })

  it('the environment provides what is not given', async () => {
    vi.stubEnv('TOLLGATE_API_KEY', 'from the environment')
    vi.stubEnv('TOLLGATE_URL', 'https://tollgate.example/base/')
    expect(await reached({})).toEqual(['https://tollgate.example/base/graphql', 'from the environment'])
    expect(await reached({ apiKey: 'given', baseUrl: 'http://given.example' })).toEqual([
      'http://given.example/graphql',
      'given',
    ])
  })

  const WRONG: [what: string, options: TollgateOptions, message: RegExp][] = [
    ['no key', {}, /TOLLGATE_API_KEY/],
    ['an empty key', { apiKey: ' ' }, /TOLLGATE_API_KEY/],
    ['a key with a line end in it', { apiKey: 'a\nb' }, /characters/],
    ['a base that is no URL', { apiKey: 'k', baseUrl: 'tollgate' }, /baseUrl.*"tollgate"/],
    ['a base of another protocol', { apiKey: 'k', baseUrl: 'ftp://tollgate' }, /baseUrl/],
    ['a timeout of 0', { apiKey: 'k', timeout: 0 }, /timeout/],
    ['a timeout that is no number', { apiKey: 'k', timeout: Number.NaN }, /timeout/],
    ['a ttl that is no number', { apiKey: 'k', cache: { ttl: Number.NaN } }, /cache\.ttl/],
    ['a ttl below 0', { apiKey: 'k', cache: { ttl: -1 } }, /cache\.ttl/],
    ['a cache of no size', { apiKey: 'k', cache: { max: Number.NaN } }, /cache\.max/],
    ['a queue of no size', { apiKey: 'k', queue: { max: Number.NaN } }, /queue\.max/],
    [
      'a retryEvery that is no number',
      { apiKey: 'k', queue: { retryEvery: Number.NaN } },
      /queue\.retryEvery/,
    ],
    ['a maxAge that is no number', { apiKey: 'k', queue: { maxAge: Number.NaN } }, /queue\.maxAge/],
    ['a retry that is no function', { apiKey: 'k', retry: 3 as never }, /retry/],
    ['an onError that is no function', { apiKey: 'k', onError: 'log' as never }, /onError/],
  ]
  it.each(WRONG)('%s is refused at once', (_, options, message) => {
    vi.stubEnv('TOLLGATE_API_KEY', '')
    expect(() => new Tollgate(options)).toThrow(message)
  })

  it('the client says what it is, but not in a page', async () => {
    const names: (string | null)[] = []
    const fetch: typeof globalThis.fetch = async (_, init) => {
      names.push(new Headers(init?.headers).get('User-Agent'))
      return new Response('{"data":{"users":[]}}')
    }
    await new Tollgate({ apiKey: 'k', fetch }).users()
    vi.stubGlobal('window', { document: {} })
    await new Tollgate({ apiKey: 'k', fetch, dangerouslyAllowBrowser: true }).users()
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
    expect(names).toEqual([`tollgate-sdk-node/${version} node/${process.versions.node}`, null])
  })

  it('an Admin key in a browser is refused, unless told so', () => {
    vi.stubGlobal('window', { document: {} })
    expect(() => new Tollgate({ apiKey: 'k' })).toThrow(/browser/)
    expect(new Tollgate({ apiKey: 'k', dangerouslyAllowBrowser: true })).toBeInstanceOf(Tollgate)
  })

  it('the key does not show when the client is printed', () => {
    const tollgate = new Tollgate({ apiKey: 'a-secret-key' })
    expect(inspect(tollgate, { depth: null, showHidden: true }) + JSON.stringify(tollgate)).not.toContain(
      'a-secret-key',
    )
  })
})
