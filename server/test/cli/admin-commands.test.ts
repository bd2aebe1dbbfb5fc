import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tollgate } from '../harness/command-line.ts'
import { furnish } from '../harness/furnished.ts'
import { API_KEY, startTestServer, type TestServer } from '../harness/server.ts'

// The command line against a service: the commands that use an API key.

let server: TestServer
let env: Record<string, string>

beforeAll(async () => {
  server = await startTestServer()
  await furnish(server)
  env = { TOLLGATE_URL: server.url, TOLLGATE_API_KEY: API_KEY }
})
afterAll(() => server?.stop())

const run = (...args: string[]) => tollgate(args, env)
async function json(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json')
  return { code, stderr, value: JSON.parse(stdout) }
}
describe('check', () => {
  it('exits with 0 for access and with 2 without, and says how much is used', async () => {
    expect(await run('check', 'ann', 'calls')).toEqual({
      code: 0,
      stdout: 'Access granted: Within budget: 3 of 15 used.\nUsed 3 of 15.\n',
      stderr: '',
    })
    expect(await run('check', 'ann', 'calls', '--delta', '13')).toEqual({
      code: 2,
      stdout: 'Access denied: Limit reached: 3 of 15 used; 13 more requested.\nUsed 3 of 15.\n',
      stderr: '',
    })
    expect(await run('check', 'ann', 'storage')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Used 0, unlimited\.\n$/),
    })
    expect(await run('check', 'ann', 'seats')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/of 2, overage enabled\.\n$/),
    })
    expect((await run('check', 'nobody', 'calls')).code).toBe(2)
  })

  it('prints JSON for programs', async () => {
    expect(await json('check', 'ann', 'export')).toEqual({
      code: 0,
      stderr: '',
      value: {
        access: true,
        reason: "The user's package includes this feature.",
        reasonCode: 'GRANTED',
        featureId: 'export',
        consumption: null,
      },
    })
  })

  it('prefers --url to TOLLGATE_URL', async () => {
    const elsewhere = { ...env, TOLLGATE_URL: 'http://127.0.0.1:9' }
    expect((await tollgate(['check', 'ann', 'calls', '--url', `${server.url}/`], elsewhere)).code).toBe(0)
  })
})

describe('record', () => {
  it('adds, takes back and sets', async () => {
    expect(await run('record', 'ann', 'seats')).toEqual({
      code: 0,
      stdout: 'Recorded.\nUsed 1 of 2, overage enabled.\n',
      stderr: '',
    })
    expect((await run('record', 'ann', 'seats', '3')).stdout).toContain('Used 4 of 2')
    expect((await run('record', 'ann', 'seats', '-2')).stdout).toContain('Used 2 of 2')
    expect((await run('record', 'ann', 'seats', '7', '--set')).stdout).toContain('Used 7 of 2')
  })

  it('counts usage with the same key once', async () => {
    for (const _ of [1, 2])
      expect(await json('record', 'ann', 'storage', '5', '--key', 'once')).toEqual({
        code: 0,
        stderr: '',
        value: {
          recorded: true,
          reason: null,
          consumption: { used: 5, budget: null, overageEnabled: false },
        },
      })
  })

  it('exits with 2 if the usage is refused', async () => {
    const { code, stdout } = await run('record', 'ann', 'calls', '100')
    expect(code).toBe(2)
    expect(stdout).toMatch(/^Not recorded: .+\nUsed 3 of 15\.\n$/)
  })
})

describe('failures are one line on standard error', () => {
  it.each([
    [{ TOLLGATE_API_KEY: 'wrong' }, 'A valid API key is required in the Authorization header'],
    [
      { TOLLGATE_API_KEY: 'two\nlines' },
      'TOLLGATE_API_KEY must consist of ASCII characters without whitespace.',
    ],
    [
      { TOLLGATE_URL: 'http://127.0.0.1:9' },
      /^Tollgate is not reachable at http:\/\/127\.0\.0\.1:9 \(.+\)\. Start it with tollgate start, or set TOLLGATE_URL\.$/,
    ],
  ])('%j', async (changed, line) => {
    const { code, stdout, stderr } = await tollgate(['check', 'ann', 'calls'], { ...env, ...changed })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.replace(/^tollgate: |\n$/g, '')).toEqual(
      typeof line === 'string' ? line : expect.stringMatching(line),
    )
  })

  it.each([
    [404, '<h1>Not here</h1>'],
    [200, '{}'],
    [200, '{"data":null}'],
    [200, 'null'],
  ])('something else at the URL: %i %s', async (status, body) => {
    const other = createServer((_, response) => response.writeHead(status).end(body))
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    try {
      expect((await tollgate(['check', 'ann', 'calls'], { ...env, TOLLGATE_URL: url })).stderr).toBe(
        `tollgate: ${url} does not answer like Tollgate (HTTP ${status}). Check TOLLGATE_URL.\n`,
      )
    } finally {
      other.close()
    }
  })
})
