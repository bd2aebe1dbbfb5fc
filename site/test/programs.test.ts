import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, print } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { GOOD_CARD } from '../../server/test/billing/sandbox-shop.ts'
import type { Client } from '../../server/test/harness/client.ts'
import { freePort } from '../../server/test/harness/free-port.ts'
import { hasTestClock, isProgramPage, type Step, stepsOf } from '../../server/test/harness/page-programs.ts'
import { createApp, startTestServer, type TestServer } from '../../server/test/harness/server.ts'
import { ROOT, writtenPages } from '../pages.ts'
import { Shell } from './shell.ts'

// The programs and commands of the documentation, read from its pages and run as they stand, against a service.

const PAGES = writtenPages()
  .map(({ source }) => source)
  .filter((source) => isProgramPage(source) && stepsOf(source).some(isRun))

/** Commands that are not run here, and why. */
const NOT_RUN: [RegExp, string][] = [
  [/^STRIPE_SECRET_KEY=\S+ npm start$/m, 'needs an account at Stripe'],
  [/^stripe listen /m, 'needs an account at Stripe'],
]

/** Programs that a page needs and a machine may not have. */
const TOOLS: Record<string, string> = { 'docs/start/python.md': 'python3', 'docs/start/go.md': 'go' }

function isRun(step: Step): boolean {
  return ['shell', 'graphql'].includes(step.kind)
}

function isMissing(tool: string | undefined): boolean {
  if (tool === undefined) return false
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`])
    return false
  } catch {
    return true
  }
}

let server: TestServer
beforeAll(async () => {
  execFileSync(process.execPath, ['build.mjs', '--if-stale'], { cwd: join(ROOT, 'sdk') })
  server = await startTestServer()
})
afterAll(() => server?.stop())

describe('the programs of the documentation', () => {
  it('there are some on many pages', () => {
    expect(PAGES.length).toBeGreaterThan(10)
    expect(PAGES.flatMap(stepsOf).filter(isRun).length).toBeGreaterThan(30)
  })

  for (const page of PAGES) {
    const missing = isMissing(TOOLS[page])
    const title = missing ? `${page} (not run: there is no ${TOOLS[page]} on this machine)` : page
    it.skipIf(missing)(title, async () => {
      const reader = await newReader(page)
      try {
        for (const step of stepsOf(page)) await reader.follow(step)
      } finally {
        await reader.leave()
      }
    })
  }
})

/** A reader who follows a page from its first line, in a new folder and a new app. */
async function newReader(page: string) {
  const appId = page.replace(/\W+/g, '-')
  const admin = await createApp(server, appId, { testClock: hasTestClock(page) })
  const dashboard = server.dashboard.of(appId)
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-page-'))
  await mkdir(join(folder, 'node_modules/@tollgate'), { recursive: true })
  await symlink(join(ROOT, 'sdk'), join(folder, 'node_modules/@tollgate/sdk'))
  const port = await freePort()
  const shell = new Shell(folder, {
    TOLLGATE_URL: server.url,
    TOLLGATE_API_KEY: admin.headers.Authorization ?? '',
  })
  let printed = ''

  return {
    async follow(step: Step): Promise<void> {
      switch (step.kind) {
        case 'file':
          return writeFile(join(folder, step.name), step.text.replaceAll('8787', port))
        case 'shell':
          if (NOT_RUN.some(([pattern]) => pattern.test(step.text))) return
          printed = await shell.run(step.text.replaceAll('8787', port))
          if (step.output !== null) expect(lines(printed)).toEqual(lines(step.output))
          return
        case 'graphql':
          return runDocument(step.text, admin, appId)
        case 'dashboard':
          await server.dashboard.data(`mutation { ${step.mutation.replaceAll('"default"', `"${appId}"`)} }`)
          return
        case 'advance': {
          const { app } = await server.dashboard.data('query ($id: String!) { app(appId: $id) { now } }', {
            id: appId,
          })
          const to = new Date(Date.parse(app.now) + step.days * 86_400_000).toISOString()
          await dashboard.call('advanceClock', { to })
          return jobsDone(server.databaseUrl)
        }
        case 'pay':
          await pay(printed.trim())
          return jobsDone(server.databaseUrl)
      }
    },
    async leave(): Promise<void> {
      await shell.end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Each operation by itself, at the API that has it. */
async function runDocument(text: string, admin: Client, appId: string): Promise<void> {
  for (const operation of parse(text).definitions) {
    const document = print(operation).replaceAll('"default"', `"${appId}"`)
    await (document.includes('appId') ? server.dashboard : admin).data(document)
  }
}

async function pay(url: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ action: 'pay', ...GOOD_CARD, email: 'payer@example.com', name: 'Pat Payer' }),
    redirect: 'manual',
  })
  expect(response.status).toBe(303)
}

const lines = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd())
