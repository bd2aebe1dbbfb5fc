import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { picture } from './dashboard.ts'
import type { Job } from './day-jobs.ts'

/** The afternoon: looking at how it goes, and keeping house. */
export const LATE_JOBS: Job[] = [
  {
    job: 'see what came in this month, and from whom',
    clicks: [2, 3],
    async do({ page, menu, idle }) {
      await menu('Revenue')
      await page.getByRole('link', { name: 'Payments, less refunds' }).click()
      const paid = page.getByRole('table', { name: 'Payments', exact: true }).locator('tbody tr')
      await paid.filter({ hasText: 'Ida Rhodes' }).getByText('$9.00').waitFor()
      await idle()
    },
  },
  {
    job: 'find who is past due, and open them',
    clicks: [2, 2],
    async do({ page, idle }) {
      await page.getByRole('link', { name: 'Past due', exact: true }).click()
      const late = page.getByRole('table', { name: 'Past due subscriptions' })
      await late.getByRole('link', { name: 'Ida Rhodes' }).click()
      await page.getByRole('heading', { level: 1, name: 'Ida Rhodes' }).waitFor()
      await idle()
    },
  },
  {
    job: 'archive a plan that is no longer sold',
    clicks: [5, 6],
    async do({ page, menu, button, admin, idle }) {
      await menu('Packages')
      await page.getByRole('link', { name: 'Early bird', exact: true }).click()
      await button('More for the package Early bird').click()
      await page.getByRole('menuitem', { name: 'Archive' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click()
      await page.getByText('Early bird archived.').waitFor()
      await idle()
      const { packages } = await admin.data('{ packages { id archived } }')
      expect(packages).toContainEqual({ id: 'old', archived: true })
    },
  },
  {
    job: 'see who has which version of a package',
    clicks: [3, 4],
    async do(at) {
      const { page, menu } = at
      await menu('Packages')
      await page.getByRole('link', { name: 'Pro', exact: true }).click()
      await page.getByRole('tab', { name: 'Versions' }).click()
      await page.getByRole('table', { name: 'Versions' }).locator('tbody tr').nth(1).waitFor()
      await at.idle()
      await picture(page, `versions-${at.look}`)
    },
  },
  {
    job: 'list the subscribers of a package',
    clicks: [3, 4],
    async do({ page, menu, choose, idle }) {
      await menu('Subscriptions')
      await choose(page.getByRole('combobox', { name: 'Plan or add-on' }), 'Basic')
      await page.waitForURL(/package=basic/)
      await idle()
      const rows = page.getByRole('table', { name: 'Subscriptions' }).locator('tbody tr')
      expect(await rows.filter({ hasText: /bob|u-1002/i }).count()).toBe(1)
    },
  },
  {
    job: 'import addresses from a CSV file',
    clicks: [4, 5],
    async do({ page, menu, button, admin }) {
      await menu('CSV import')
      const chooser = page.waitForEvent('filechooser')
      await button('CSV file').click()
      const buffer = Buffer.from('id,email\nu-1001,ada@lovelace.example\nu-1002,bob@noyce.example\n')
      await (await chooser).setFiles({ name: 'users.csv', mimeType: 'text/csv', buffer })
      await button('Check the file').click()
      await button(/^Apply 2 changes$/).click()
      await page.getByText('Applied', { exact: true }).waitFor()
      expect((await admin.data('{ user(id: "u-1001") { email } }')).user.email).toBe('ada@lovelace.example')
    },
  },
  {
    job: 'invite a colleague',
    clicks: [5, 6],
    async do({ page, menu, type, button, app }) {
      await menu('Members')
      await button(/^Invite/)
        .first()
        .click()
      await type(page.getByRole('dialog').getByLabel('Email'), `colleague-of-${app}@example.com`)
      await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
      await page.getByText(/\/invite#token=/).waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()
    },
  },
  {
    job: 'read what happened to a package, and what exactly changed',
    clicks: [4, 5],
    async do({ page, menu, button, idle, look }) {
      await menu('Packages')
      await page.getByRole('link', { name: 'Pro', exact: true }).click()
      await page.getByRole('main').getByRole('link', { name: 'Audit log' }).click()
      const table = page.getByRole('table', { name: 'Audit log' })
      await table.getByText('published the package Pro').first().waitFor()
      await button(/^Details: .* changed the package Pro$/)
        .first()
        .click()
      await page.getByRole('dialog').getByText('Draft › Features › Report exports').waitFor()
      await idle()
      await picture(page, `audit-entry-${look}`)
    },
  },
  {
    job: 'export the audit log of an API key',
    clicks: [5, 7],
    async do({ page, menu, choose, button, phone, look, idle }) {
      await menu('Audit log')
      if (phone) await button(/^Filters/).click()
      await choose(page.getByRole('combobox', { name: 'Who' }), 'Backend')
      await page.waitForURL(/who=key_/)
      await idle()
      await picture(page, `audit-${look}`)
      await button('Export').click()
      const download = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: 'CSV', exact: true }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      expect(text).toContain('created the user Ada Lovelace')
      expect(text).not.toContain('signed in')
    },
  },
]
