import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedBrowser } from '../../server/test/harness/browser.ts'
import { freePort } from '../../server/test/harness/free-port.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { API_KEY, OWNER, startTestServer, type TestServer } from '../../server/test/harness/server.ts'
import { Tollgate } from '../src/node.ts'
import { ROOT, run, SDK } from './support/packed.ts'

let server: TestServer
let browser: Browser
const started: ChildProcess[] = []
beforeAll(async () => {
  await run(process.execPath, ['build.mjs', '--if-stale'], { cwd: SDK })
  server = await startTestServer()
  browser = await sharedBrowser()
}, 180_000)
afterAll(async () => {
  for (const child of started) await stopped(child)
  await server.stop()
})

/** Starts an example by its one command. Resolves with its address once it prints that. */
async function start(example: string, env: Record<string, string>, script = 'start'): Promise<string> {
  const child = spawn('npm', ['run', script, '--prefix', join(ROOT, 'examples', example)], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, which npm and what it starts are ended with.
    detached: true,
  })
  started.push(child)
  let output = ''
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /(?:listens on|Local:)\s+(http:\/\/127\.0\.0\.1:\d+)/.exec(output)?.[1]
      if (found) resolve(found)
    }
    child.stdout?.on('data', take)
    child.stderr?.on('data', take)
    child.once('exit', (code) => reject(new Error(`${example} ended with ${code}: ${output}`)))
  })
}

/** Reads server-sent tokens, and disconnects in the middle after so many. */
async function readTokens(url: string, most: number): Promise<number[]> {
  const leave = new AbortController()
  const response = await fetch(url, { signal: leave.signal })
  expect(response.status).toBe(200)
  let text = ''
  const ids = () => [...text.matchAll(/^id: (\d+)\ndata: \S+\n\n/gm)].map(([, id]) => Number(id))
  const decoder = new TextDecoder()
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece, { stream: true })
    if (ids().length >= most) break
  }
  leave.abort()
  return ids()
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  await gone
}

describe('the examples', () => {
  it.each(['backend', 'page'])('%s: its types hold', async (example) => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const args = [tsc, '--noEmit', '-p', join(ROOT, 'examples', example)]
    const { stdout } = await run(process.execPath, args).catch((failed) => failed)
    expect(stdout).toBe('')
  }, 180_000)

  it('the backend says what to set, without a key and without a service', async () => {
    await expect(start('backend', { PORT: '0' })).rejects.toThrow(
      /ended with 1: [\s\S]*Set TOLLGATE_API_KEY to /,
    )
    const nowhere = { PORT: '0', TOLLGATE_API_KEY: API_KEY, TOLLGATE_URL: 'http://127.0.0.1:9' }
    await expect(start('backend', nowhere)).rejects.toThrow(
      /ended with 1: [\s\S]*could not be set up at http:\/\/127\.0\.0\.1:9: /,
    )
  })

  it('the page counts what its backend meters, and its gate closes at the limit', async () => {
    const pagePort = await freePort()
    const backend = await start('backend', {
      PORT: '0',
      TOLLGATE_URL: server.url,
      TOLLGATE_API_KEY: API_KEY,
      TOLLGATE_OWNER_EMAIL: OWNER.email,
      TOLLGATE_OWNER_PASSWORD: OWNER.password,
      PAGE_ORIGIN: `http://127.0.0.1:${pagePort}`,
    })
    const url = await start('page', { PORT: pagePort, BACKEND_URL: backend, TOLLGATE_URL: server.url })
    const page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    await page.goto(url)
    const shows = (text: string) => page.getByText(text).waitFor()
    await shows('0 of 5 used, 5 left')
    for (let used = 1; used <= 5; used++) {
      await page.getByRole('button', { name: 'Summarize' }).click()
      await shows(`${used} of 5 used, ${5 - used} left`)
    }
    await shows('You have used all')
    expect(await page.getByRole('button', { name: 'Summarize' }).count()).toBe(0)
    const refused = await fetch(`${backend}/api/summaries`, { method: 'POST' })
    expect(refused.status).toBe(402)
    await page.close()
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url })
    const { data } = await tollgate.showUsage({ userId: 'example-user', featureId: 'summaries' })
    expect(data?.consumption).toEqual({ budget: 5, used: 5, overageEnabled: false })
  }, 180_000)

  it('without the owner’s password the backend waits until the package is published', async () => {
    const other = await startTestServer()
    const listening = start('backend', { PORT: '0', TOLLGATE_URL: other.url, TOLLGATE_API_KEY: API_KEY })
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: other.url })
    while ((await tollgate.user({ id: 'example-user' })).error)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await tollgate.subscriptions({ userId: 'example-user' })).data).toEqual([])
    await other.dashboard.data('mutation { publishPackage(appId: "default", id: "example") { id } }')
    const backend = await listening
    expect((await tollgate.subscriptions({ userId: 'example-user' })).data).toMatchObject([
      { status: 'ACTIVE' },
    ])
    expect((await fetch(`${backend}/api/token`)).status).toBe(200)
    await other.stop()
  }, 180_000)

  it('the story: a reader leaves in the middle, and exactly the tokens that were sent are recorded', async () => {
    const output: string[] = []
    const url = await start(
      'backend',
      { PORT: '0', TOLLGATE_URL: server.url, TOLLGATE_API_KEY: API_KEY },
      'story',
    )
    started.at(-1)?.stdout?.on('data', (chunk: Buffer) => output.push(chunk.toString()))
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: server.url })
    const ask = { userId: 'example-user', featureId: 'tokens' }
    const sent = async (readers: number) => {
      await expect.poll(() => output.join('').match(/Sent/g)?.length, { timeout: PATIENCE_MS }).toBe(readers)
      return [...output.join('').matchAll(/^Sent (\d+) tokens, and \1 were settled$/gm)].map(([, n]) =>
        Number(n),
      )
    }
    const used = async () => (await tollgate.credits(ask)).data?.[0]?.used

    const seen = await readTokens(`${url}/story`, 120)
    expect(seen).toEqual(seen.map((_, i) => i + 1))
    const [first = 0] = await sent(1)
    expect(first).toBeGreaterThanOrEqual(seen.length)
    expect(await used()).toBe(first)

    // Two at once, of whom one reads to the end of the credit.
    const [few, all] = await Promise.all([readTokens(`${url}/story`, 10), readTokens(`${url}/story`, 10_000)])
    const both = await sent(3)
    expect(both.reduce((sum, one) => sum + one, 0)).toBe(1_000)
    expect(few.length + all.length).toBeLessThanOrEqual(1_000 - first)
    expect(both).toContain(all.length)
    expect(await used()).toBe(1_000)
    expect((await tollgate.reservations({ ...ask, state: 'HELD' })).data).toEqual([])
    const refused = await fetch(`${url}/story`)
    expect(refused.status).toBe(402)
    expect(await refused.text()).toMatch(/^Limit reached: 0 left/)
  }, 180_000)
})
