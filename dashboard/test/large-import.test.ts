import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, rowsOf, type TestDatabase } from '../../server/test/harness/database.ts'
import { OWNER_SETTINGS, type ServerProcess, spawnServer } from '../../server/test/harness/server.ts'
import { openBrowser, type Visitors } from './harness/dashboard.ts'

const ROWS = 10_000
/** One row in so many is bad, in a way of its own. */
const BAD_EVERY = 100
const BAD = ROWS / BAD_EVERY
/** Makes the file far larger than what the server may hold of it at a time. */
const NOTE = 'n'.repeat(900)
const HEAP_MB = 64
const MOST_MB = 224

let database: TestDatabase
let server: ServerProcess
let visitors: Visitors
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-large-import-'))
  database = await createDatabase()
  server = await spawnServer({
    ...OWNER_SETTINGS,
    DATABASE_URL: database.url,
    TOLLGATE_LOG_LEVEL: 'error',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  })
  visitors = await openBrowser(server.url)
})
afterAll(async () => {
  await visitors?.close()
  await server?.kill('SIGTERM')
  await database?.drop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const sql = <Row extends Record<string, unknown>>(text: string, values: unknown[] = []) =>
  rowsOf<Row>({ connectionString: database.url }, text, values)

/** All addresses and billing ids in one value. */
async function fingerprint(): Promise<string> {
  const [row] = await sql<{ all: string }>(
    `select md5(string_agg(concat_ws(' ', id, email, billing_id), ',' order by uid)) as all from users`,
  )
  return row?.all ?? ''
}

/** Row `n` of the file, from 1: its line is one more. */
function line(n: number): string {
  const row = `u${n},new${n}@example.com,cus_new_${n},${NOTE}`
  if (n % BAD_EVERY !== 0) return row
  const ways = [
    `nobody${n},nobody@example.com,,${NOTE}`,
    `u${n},no address,,${NOTE}`,
    `u${n},new${n}@example.com`,
    `u1,again@example.com,,${NOTE}`,
  ]
  return ways[(n / BAD_EVERY) % ways.length] ?? row
}

/** From now on: a password is hashed in more memory than the whole import takes. */
function forgetPeakMemory(): void {
  const references = `/proc/${server.process.pid}/clear_refs`
  if (existsSync(references)) writeFileSync(references, '5')
}

/** The most memory the process has had since then, in MB; null where the system does not say. */
function peakMemory(): number | null {
  const status = `/proc/${server.process.pid}/status`
  if (!existsSync(status)) return null
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024
}

/** Writes down every value that a progress bar shows from now on. */
const watchProgress = (page: Page) =>
  page.evaluate(`(() => {
    window.progress = []
    new MutationObserver(() => {
      const bar = document.querySelector('[role=progressbar][aria-label=Progress]')
      if (bar) window.progress.push(Number(bar.getAttribute('aria-valuenow')))
    }).observe(document.body, { subtree: true, childList: true, attributes: true })
  })()`)

async function checkProgress(page: Page): Promise<void> {
  const shown = (await page.evaluate('window.progress')) as number[]
  expect(shown.length).toBeGreaterThan(0)
  expect(shown).toEqual(shown.toSorted((a, b) => a - b))
}

describe('spec §2: an import of 10,000 users', () => {
  it('is checked, applied, reported and undone from the page, in bounded memory', async () => {
    await sql(
      `insert into users (app_id, id, email, billing_id, metadata)
       select 'default', 'u' || n, 'old' || n || '@example.com', 'cus_old_' || n, '{}' from generate_series(1, $1) n`,
      [ROWS],
    )
    const before = await fingerprint()
    const path = join(folder, 'users.csv')
    const lines = ['id,email,billingId,note', ...Array.from({ length: ROWS }, (_, i) => line(i + 1))]
    await writeFile(path, `${lines.join('\n')}\n`)

    const { page, open, problems } = await visitors.signedIn()
    forgetPeakMemory()
    page.setDefaultTimeout(300_000)
    await open('/apps/default/import')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'CSV file' }).click()
    await (await chooser).setFiles(path)
    await page.getByRole('radio', { name: 'report as invalid' }).check()
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.getByText('Checked, not applied').waitFor()
    await page
      .getByText('10,000 rows read · 9,900 would change · 0 already up to date · 100 invalid.')
      .waitFor()
    expect(await fingerprint()).toBe(before)

    await page.getByText('Invalid', { exact: true }).first().click()
    const rows = page.getByRole('table', { name: 'Rows of the file' }).locator('tbody tr')
    await page.getByText('Would change', { exact: true }).nth(1).waitFor({ state: 'detached' })
    const told = (await rows.allInnerTexts()).slice(0, 4).map((row) => row.split('\t')[0])
    expect(told).toEqual(['101', '201', '301', '401'])

    await watchProgress(page)
    await page.getByRole('button', { name: 'Apply 9,900 changes' }).click()
    await page.getByText('Applied', { exact: true }).waitFor()
    await checkProgress(page)
    const [applied] = await sql<{ count: string }>(
      `select count(*) from users where email = 'new' || substr(id, 2) || '@example.com'
         and billing_id = 'cus_new_' || substr(id, 2)`,
    )
    expect(Number(applied?.count)).toBe(ROWS - BAD)

    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Report' }).click()
    const report = readFileSync(await (await download).path(), 'utf8')
      .trimEnd()
      .split('\r\n')
    expect(report.length).toBe(ROWS + 1)
    expect(report.filter((row) => row.includes('BAD')).length).toBe(BAD)

    await watchProgress(page)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone', { exact: true }).first().waitFor()
    await checkProgress(page)
    expect(await fingerprint()).toBe(before)
    expect(problems).toEqual([])

    const peak = peakMemory()
    if (peak !== null) expect(peak).toBeLessThan(MOST_MB)
  }, 600_000)
})
