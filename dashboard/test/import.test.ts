import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { cutOff, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})

const emails = async () => {
  const { users } = await dashboard.server.admin.data('{ users { id email billingId } }')
  return Object.fromEntries(
    users.map((user: Record<string, string>) => [user.id, [user.email, user.billingId]]),
  )
}

const FILE = [
  'User;Mail;Customer',
  'ada;ada@new.example.com;cus_ada',
  'nobody;nobody@example.com;',
  'bob;not an address;',
  '',
].join('\r\n')

/**
 * The next time that the page asks for the rows, it gets the previous answer: that of a request which was faster than the
 * work in the background.
 */
async function staleOnce(page: Page): Promise<void> {
  const rowsOnly = (request: Request) => request.postData()?.includes('UserImportRows') ?? false
  const stale = await (await page.waitForResponse((response) => rowsOnly(response.request()))).text()
  let isNext = true
  await page.route('**/dashboard/graphql', (route) => {
    if (!isNext || !rowsOnly(route.request())) return route.fallback()
    isNext = false
    return route.fulfill({ contentType: 'application/json', body: stale })
  })
}

describe('spec §2: email and billingId are changed by a CSV import', () => {
  it('maps columns, shows what would change and what is bad, applies, and undoes', async () => {
    const { page, open } = visit
    const before = await emails()
    await open('/apps/default/import')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'CSV file' }).click()
    await (await chooser).setFiles({
      name: 'users.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`\ufeff${FILE}`),
    })
    const column = (name: string) => page.getByRole('combobox', { name, exact: true })
    await column('User id').waitFor()
    expect(await column('User id').inputValue()).toBe('User')
    expect(await column('Email').inputValue()).toBe('Mail')
    expect(await column('Billing id').inputValue()).toBe('Customer')
    await page.getByRole('radio', { name: 'report as invalid' }).check()
    const checked = staleOnce(page)
    await page.getByRole('button', { name: 'Check the file' }).click()

    await page.getByText('Checked, not applied').waitFor()
    await page.getByText('3 rows read · 1 would change · 0 already up to date · 2 invalid.').waitFor()
    const rows = page.getByRole('table', { name: 'Rows of the file' }).locator('tbody tr')
    await rows.first().waitFor()
    expect((await rows.allInnerTexts()).map((row) => row.split('\t')[0])).toEqual(['2', '3', '4'])
    expect(await emails()).toEqual(before)

    await checked
    await page.getByRole('button', { name: 'Apply 1 change' }).click()
    await page.getByText('Applied', { exact: true }).waitFor()
    await rows.first().getByText('Changed', { exact: true }).waitFor()
    expect(await emails()).toEqual({ ...before, ada: ['ada@new.example.com', 'cus_ada'] })

    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Report' }).click()
    expect((await download).suggestedFilename()).toMatch(/\.csv$/)

    const applied = staleOnce(page)
    await page.reload()
    await rows.first().getByText('Changed', { exact: true }).waitFor()
    await applied
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone', { exact: true }).first().waitFor()
    await rows.first().getByText('Undone', { exact: true }).waitFor()
    expect(await emails()).toEqual(before)
    expect(visit.problems).toEqual([])
  })

  it('gap: creates users with a plan, and removes them again', async () => {
    const { page, open } = visit
    const before = await emails()
    await open('/apps/default/import')
    await page.locator('input[type=file]').setInputFiles({
      name: 'new.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        'id,name,email,plan\nzoe,Zoe Adler,zoe@example.com,basic\nyan,Yan Berg,,none\nada,Ada L.,,\n',
      ),
    })
    const column = (name: string) => page.getByRole('combobox', { name, exact: true })
    await column('Plan of new users').waitFor()
    expect(await column('Name').inputValue()).toBe('name')
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page
      .getByText('3 rows read · 1 new user · 1 would change · 0 already up to date · 1 invalid.')
      .waitFor()
    const rows = page.getByRole('table', { name: 'Rows of the file' }).locator('tbody tr')
    await rows.first().getByText('would be created').waitFor()
    await rows.nth(1).getByText('Plan not found: "none"').waitFor()
    const desk = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    for (const text of [/^Line\s+2$/, 'zoe@example.com', 'basic'])
      await rows.first().getByText(text).waitFor()
    expect(await cutOff(page)).toEqual([])
    if (desk) await page.setViewportSize(desk)
    await page.getByRole('button', { name: 'Create 1 user, change 1' }).click()
    await rows.first().getByText('Created', { exact: true }).waitFor()
    await rows.nth(2).getByText('Changed', { exact: true }).waitFor()
    expect(await emails()).toEqual({ ...before, zoe: ['zoe@example.com', null] })
    await page.getByRole('button', { name: 'Undo 2 changes' }).click()
    await rows.first().getByText('Undone', { exact: true }).waitFor()
    expect(await emails()).toEqual(before)
    expect(visit.problems).toEqual([])
  })
})
