import { beforeAll, describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../../server/test/harness/database.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { OWNER } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const SOON = { timeout: PATIENCE_MS, interval: 20 }

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  const { databaseUrl, dashboard: api } = dashboard.server
  const { zulu } = await api.data(SHOP)
  await api.data('mutation ($id: String!) { revokeApiKey(appId: "acme", id: $id) { id } }', zulu)
  await rowsOf(
    { connectionString: databaseUrl },
    `insert into member (email, password_hash, role)
     values ('zoe@list.example', '', 'VIEWER'), ('ann@list.example', '', 'EDITOR')`,
  )
  visit = await dashboard.signedIn()
})

interface Step {
  /** the header that sorts, and how it says so; a choice, as "Role: Editor", a part of "Show", or what is typed */
  sort?: [column: string, is: 'ascending' | 'descending']
  choose?: [list: string, option: string]
  show?: string
  search?: string
  /** how the address says it */
  says: RegExp
  rows: string[]
  /** where it is counted */
  total?: string
}

const SHOP = `mutation {
  createApp(id: "acme", name: "Acme Analytics") { id }
  createPackage(appId: "acme", input: {id: "plan", name: "Plan"}) { id }
  publishPackage(appId: "acme", id: "plan") { id }
  nine: createPrice(appId: "acme", packageId: "plan", input: {id: "nine", amount: 900, currency: "usd", interval: "month"}) { id }
  five: createPrice(appId: "acme", packageId: "plan", input: {id: "five", amount: 500, currency: "usd", interval: "month"}) { id }
  old: createPrice(appId: "acme", packageId: "plan", input: {id: "old", amount: 700, currency: "usd", interval: "month"}) { id }
  archivePrice(appId: "acme", provider: "sandbox", id: "old", archived: true) { id }
  zeta: createBillingTemplate(appId: "acme", input: {id: "zeta", name: "Zeta", packageIds: ["plan"]}) { id }
  alpha: createBillingTemplate(appId: "acme", input: {id: "alpha", name: "Alpha", packageIds: ["plan"]}) { id }
  gone: createBillingTemplate(appId: "acme", input: {id: "gone", name: "Gone", packageIds: ["plan"]}) { id }
  archiveBillingTemplate(appId: "acme", id: "gone") { id }
  zulu: createApiKey(appId: "acme", name: "Zulu") { id }
  echo: createApiKey(appId: "acme", name: "Echo") { id }
  createUser(appId: "default", input: {id: "cyd", name: "Cyd"}) { id }
}`

const LISTS: { path: string; table: string; all: string[]; steps: Step[] }[] = [
  {
    path: '/apps/acme/billing',
    table: 'Billing templates',
    all: ['Zeta', 'Alpha'],
    steps: [
      {
        sort: ['Template', 'ascending'],
        says: /order=name/,
        rows: ['Alpha', 'Zeta'],
        total: '2 templates',
      },
      {
        sort: ['Template', 'descending'],
        says: /order=-name/,
        rows: ['Zeta', 'Alpha'],
        total: '2 templates',
      },
      { search: 'zet', says: /search=zet/, rows: ['Zeta'], total: '1 template' },
      { search: '', show: 'Archived', says: /show=archived/, rows: ['Gone'], total: '1 template' },
    ],
  },
  {
    path: '/members',
    table: 'Members',
    all: [OWNER.email, 'zoe@list.example', 'ann@list.example'],
    steps: [
      {
        sort: ['Member', 'ascending'],
        says: /order=email/,
        rows: ['ann@list.example', OWNER.email, 'zoe@list.example'].sort((a, b) => a.localeCompare(b)),
        total: '3 members',
      },
      { choose: ['Role', 'Editor'], says: /role=EDITOR/, rows: ['ann@list.example'], total: '1 member' },
      { choose: ['Role', 'Viewer'], says: /role=VIEWER/, rows: ['zoe@list.example'], total: '1 member' },
    ],
  },
  {
    path: '/apps/acme/keys',
    table: 'API keys',
    all: ['Zulu', 'Echo'],
    steps: [
      { sort: ['Name', 'ascending'], says: /order=name/, rows: ['Echo', 'Zulu'], total: '2 keys' },
      { sort: ['Created', 'descending'], says: /order=-created/, rows: ['Echo', 'Zulu'] },
      { show: 'Ended', says: /show=ended/, rows: ['Zulu'], total: '1 key' },
      { show: 'In use', says: /show=working/, rows: ['Echo'], total: '1 key' },
      { show: 'All', search: 'ZU', says: /search=ZU/, rows: ['Zulu'], total: '1 key' },
    ],
  },
  {
    path: '/apps/acme/packages/plan?tab=prices',
    table: 'Prices',
    all: ['$9.00 per month', '$5.00 per month', '$7.00 per month'],
    steps: [
      {
        sort: ['Price', 'ascending'],
        says: /order=amount/,
        rows: ['$5.00 per month', '$7.00 per month', '$9.00 per month'],
        total: '3 prices',
      },
      {
        show: 'In use',
        says: /show=current/,
        rows: ['$5.00 per month', '$9.00 per month'],
        total: '2 prices',
      },
      { show: 'Archived', says: /show=archived/, rows: ['$7.00 per month'], total: '1 price' },
    ],
  },
  {
    path: '/apps/default/users',
    table: 'Users',
    all: ['Cyd', 'Bob', 'Ada Lovelace'],
    steps: [
      {
        sort: ['User', 'ascending'],
        says: /order=name/,
        rows: ['Ada Lovelace', 'Bob', 'Cyd'],
        total: '3 users',
      },
      { sort: ['User', 'descending'], says: /order=-name/, rows: ['Cyd', 'Bob', 'Ada Lovelace'] },
      { sort: ['Email', 'ascending'], says: /order=email/, rows: ['Ada Lovelace', 'Bob'] },
      { sort: ['Since', 'descending'], says: /order=-since/, rows: ['Cyd', 'Bob', 'Ada Lovelace'] },
      { sort: ['Since', 'ascending'], says: /order=since/, rows: ['Ada Lovelace', 'Bob', 'Cyd'] },
      { choose: ['Status', 'Active'], says: /state=ACTIVE/, rows: ['Bob', 'Ada Lovelace'], total: '2 users' },
      { choose: ['Plan', 'No plan'], says: /package=none/, rows: ['Cyd'] },
    ],
  },
]

describe('gap: lists', () => {
  it.each(LISTS)('$table are ordered, narrowed and counted, and the address says so', async (list) => {
    const { page, open, problems } = visit
    await open(list.path)
    const table = page.getByRole('table', { name: list.table, exact: true })
    // The first cell may be the box that selects the row.
    const FIRST =
      'tbody td:first-child:not(:has([type=checkbox])), tbody td:has([type=checkbox]):first-child + td'
    const shown = async () =>
      (await table.locator(FIRST).allInnerTexts()).map((text) => text.split('\n')[0]?.trim())
    expect(await shown()).toEqual(list.all)
    for (const { sort, choose, show, search, says, rows, total } of list.steps) {
      if (sort) {
        const header = table.getByRole('columnheader', { name: sort[0] })
        await header.getByRole('button').focus()
        await page.keyboard.press('Enter')
        await vi.waitFor(async () => expect(await header.getAttribute('aria-sort')).toBe(sort[1]), SOON)
      }
      if (choose) {
        await page.getByRole('combobox', { name: choose[0], exact: true }).click()
        await page.getByRole('option', { name: choose[1] }).click()
      }
      if (search !== undefined) await page.getByRole('searchbox').fill(search)
      if (show) await page.getByRole('radiogroup').getByText(show, { exact: true }).click()
      await page.waitForURL(says)
      await vi.waitFor(async () => expect(await shown()).toEqual(rows), SOON)
      if (total !== undefined) expect(await page.getByRole('status').allInnerTexts()).toContain(total)
    }
    // Somebody who is sent the address sees the same.
    const last = list.steps.at(-1)
    await open(new URL(page.url()).pathname + new URL(page.url()).search)
    expect(await shown()).toEqual(last?.rows)
    expect(problems).toEqual([])
  })
})
