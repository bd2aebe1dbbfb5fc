import type { Locator, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OWNER } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  await dashboard.server.dashboard.data(`mutation {
    createApp(id: "clocked", name: "Clocked", testClock: true) { id }
    sold: createPackage(appId: "clocked", input: {id: "sold", name: "Sold"}) { id }
    publishSold: publishPackage(appId: "clocked", id: "sold") { id }
    createPrice(appId: "clocked", packageId: "sold", input: {amount: 900, currency: "usd", interval: "month"}) { id }
    createBillingTemplate(appId: "clocked", input: {id: "sold", name: "Sold", packageIds: ["sold"]}) { id }
    createPackage(appId: "default", input: {id: "versioned", name: "Versioned", isAddon: true, features: [{id: "sso"}]}) { id }
    first: publishPackage(appId: "default", id: "versioned") { id }
    editPackage(appId: "default", id: "versioned", input: {features: [{id: "sso"}, {id: "calls"}]}) { id }
    second: publishPackage(appId: "default", id: "versioned") { id }
  }`)
})
beforeEach(async () => {
  visit = await dashboard.signedIn()
  return () => visit.close()
})

const asked = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' })
const draftOf = async (id: string) =>
  (
    await dashboard.server.dashboard.data(
      'query ($id: String!) { package(appId: "default", id: $id) { draft { name } } }',
      { id },
    )
  ).package.draft

describe('gap: unsaved changes', () => {
  it('are asked about before another page is opened', async () => {
    const { page, open } = visit
    await open('/apps/default/packages/basic')
    await page.getByLabel('Name').fill('Basic and more')
    await page.getByRole('link', { name: 'Features', exact: true }).click()
    await asked(page).getByRole('button', { name: 'Keep editing' }).click()
    await asked(page).waitFor({ state: 'hidden' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Basic and more')

    await page.getByRole('tab', { name: 'Metadata' }).click()
    await asked(page).waitFor()
    await page.keyboard.press('Escape')
    expect(await page.getByLabel('Name').inputValue()).toBe('Basic and more')

    await page.getByRole('link', { name: 'Features', exact: true }).click()
    await asked(page).getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('heading', { level: 1, name: 'Features' }).waitFor()
    expect(await draftOf('basic')).toBe(null)
    expect(visit.problems).toEqual([])
  })

  it('can be saved on the way to publishing', async () => {
    const { page, open } = visit
    await open('/apps/default/packages/extra')
    await page.getByLabel('Name').fill('Extra once')
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('Everything is saved').waitFor()
    await page.getByLabel('Name').fill('Extra twice')
    await page.getByRole('link', { name: 'Review and publish' }).click()
    await asked(page).getByRole('button', { name: 'Save and continue' }).click()
    await page.getByText('to “Extra twice”').waitFor()
    expect(await draftOf('extra')).toEqual({ name: 'Extra twice' })
  })

  it('are asked about before the tab is closed, and not once they are saved', async () => {
    const { page, open } = visit
    const prompts: string[] = []
    page.on('dialog', (dialog) => {
      prompts.push(dialog.type())
      void dialog.accept()
    })
    await open('/apps/default/packages/basic?tab=metadata')
    await page.getByRole('textbox', { name: 'Metadata' }).fill('{"tier": 1}')
    await page.reload()
    expect(prompts).toEqual(['beforeunload'])
    await page.getByRole('textbox', { name: 'Metadata' }).fill('{"tier": 2}')
    await page.getByRole('button', { name: 'Save metadata' }).click()
    await page.getByText('Saved. It is live now.').waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(prompts).toEqual(['beforeunload'])
  })

  it('are asked about however a dialog is closed', async () => {
    const { page, open } = visit
    const dialog = page.getByRole('dialog', { name: 'New feature' })
    const name = dialog.getByLabel('Name')
    const closings = [
      () => page.keyboard.press('Escape'),
      () => page.mouse.click(5, 5),
      () => dialog.getByRole('button', { name: 'Close' }).click(),
      () => dialog.getByRole('button', { name: 'Cancel' }).click(),
      () => page.goBack(),
    ]
    await open('/apps/default/features')
    await page.getByRole('button', { name: 'New feature' }).click()
    await name.fill('Reports')
    for (const close of closings) {
      await close()
      await asked(page).getByRole('button', { name: 'Keep editing' }).click()
      await asked(page).waitFor({ state: 'hidden' })
      expect(await name.inputValue()).toBe('Reports')
    }
    await page.keyboard.press('Escape')
    await asked(page).getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'hidden' })

    // Nothing was typed, or it was saved: nothing is asked.
    await page.getByRole('button', { name: 'New feature' }).click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'New feature' }).click()
    await name.fill('Reports')
    await dialog.getByRole('button', { name: 'Create feature' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(visit.problems).toEqual([])
  })

  it('are asked about in a dialog of choices alone, and for a file that was chosen', async () => {
    const { page, open } = visit
    await open('/apps/default/users/bob')
    await page.getByRole('button', { name: 'More actions for Bob' }).click()
    await page.getByRole('menuitem', { name: 'Subscribe to an add-on' }).click()
    const dialog = page.getByRole('dialog', { name: 'Subscribe Bob to an add-on' })
    await dialog.getByLabel('Add-ons').click()
    await page.getByRole('option', { name: 'Extra' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await asked(page).getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'hidden' })

    await open('/apps/default/import')
    const file = {
      name: 'users.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('id,email\nbob,b@example.com\n'),
    }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('Unknown user ids').waitFor()
    await page.getByRole('link', { name: 'Features', exact: true }).click()
    await asked(page).getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.getByRole('link', { name: 'Features', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Features' }).waitFor()
    expect(visit.problems).toEqual([])
  })

  it.each([
    {
      title: 'Copy a catalogue to Clocked',
      path: '/apps?copyTo=clocked',
      choose: async (dialog: Locator, page: Page) => {
        await dialog.getByRole('combobox', { name: 'From the app' }).click()
        await page.getByRole('option', { name: 'Default' }).click()
      },
    },
    {
      title: 'Clock of Clocked',
      path: '/apps',
      button: 'Move the clock',
      choose: (dialog: Locator) => dialog.getByLabel('Or to').fill('2090-01-01T00:00'),
    },
    {
      title: 'Create a payment link: Sold',
      path: '/apps/clocked/billing',
      button: 'More for the template Sold',
      item: 'Create link',
      choose: (dialog: Locator) => dialog.getByLabel('User').fill('ada'),
    },
    {
      title: 'Move subscribers to another version',
      path: '/apps/default/packages/versioned?tab=versions',
      button: 'Move subscribers',
      choose: (dialog: Locator) => dialog.getByText('At the end of the period', { exact: true }).click(),
    },
  ])('are asked about in “$title”', async ({ title, path, button, item, choose }) => {
    const { page, open, problems } = visit
    await open(path)
    const opening = async () => {
      if (button === undefined) await open(path)
      else await page.getByRole('button', { name: button }).click()
      if (item !== undefined) await page.getByRole('menuitem', { name: item }).click()
    }
    await opening()
    const dialog = page.getByRole('dialog', { name: title })
    await dialog.waitFor()
    await choose(dialog, page)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await asked(page).getByRole('button', { name: 'Keep editing' }).click()
    await asked(page).waitFor({ state: 'hidden' })
    await dialog.getByRole('button', { name: 'Close' }).click()
    await asked(page).getByRole('button', { name: 'Discard changes' }).click()
    await dialog.waitFor({ state: 'hidden' })
    // Nothing was chosen this time: nothing is asked.
    await opening()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })

  it('survive the end of the session', async () => {
    const { page, open } = visit
    await open('/apps/default/packages/basic')
    await page.getByLabel('Name').fill('Basic, long typed')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Save draft' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.waitFor()
    // The address is known, and the save that failed is repeated.
    expect(await dialog.getByLabel('Email').inputValue()).toBe(OWNER.email)
    await dialog.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Basic, long typed')
    await page.getByText('These edits are not published yet').waitFor()
    expect(await draftOf('basic')).toEqual({ name: 'Basic, long typed' })
  })

  it('are not overwritten by what others save meanwhile', async () => {
    const { page, open } = visit
    const { dashboard: api } = dashboard.server
    await open('/apps/default/billing?tab=providers')
    await page.getByLabel('Grace period in days').fill('9')
    await api.data('mutation { setGraceDays(appId: "default", days: 5) { graceDays } }')
    // Coming back to the tab refetches.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await visit.idle()
    expect(await page.getByLabel('Grace period in days').inputValue()).toBe('9')
  })
})

describe('gap: archiving and deleting in the dashboard', () => {
  const archived = async (id: string) =>
    (
      await dashboard.server.dashboard.data(
        'query ($id: String!) { package(appId: "default", id: $id) { archived } }',
        { id },
      )
    ).package.archived

  it('says in numbers what archiving does, hides it, and offers to undo it', async () => {
    const { page, open } = visit
    await open('/apps/default/packages/basic?tab=prices')
    await page.getByRole('button', { name: 'More for the package Basic' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('has 2 subscriptions (including cancelled ones). Archive it instead.').waitFor()
    await page.getByRole('button', { name: 'Archive instead' }).click()
    const dialog = page.getByRole('dialog', { name: 'Archive Basic' })
    await dialog.getByText('2 live subscriptions continue unchanged.').waitFor()
    await dialog.getByRole('button', { name: 'Archive', exact: true }).click()
    await page.getByText('Basic archived.').waitFor()
    expect(await archived('basic')).toBe(true)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Basic: archiving undone.').waitFor()
    expect(await archived('basic')).toBe(false)
    expect(visit.problems).toEqual([])
  })

  it('lists what is archived only where it is asked for, and deletes what nothing refers to', async () => {
    const { page, open } = visit
    await dashboard.server.dashboard.data(`mutation {
      createFeature(appId: "default", input: {id: "idle", name: "Idle", type: BINARY}) { id }
      archiveFeature(appId: "default", id: "idle") { id }
    }`)
    const features = page.getByRole('table', { name: 'Features' })
    await open('/apps/default/features')
    await features.getByText('API calls').waitFor()
    expect(await features.getByRole('link', { name: 'Idle' }).count()).toBe(0)
    await page.getByText('Archived', { exact: true }).click()
    await features.getByRole('link', { name: 'Idle' }).waitFor()
    await page.getByRole('button', { name: 'More for the feature Idle' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('Nothing refers to this feature.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No feature is archived.').waitFor()
    expect(visit.problems).toEqual([])
  })

  it('takes back a cancellation at the end of the period', async () => {
    const { page, open } = visit
    const { admin } = dashboard.server
    const cancelAt = async () =>
      (await admin.data('{ subscriptions(userId: "bob") { cancelAt } }')).subscriptions[0].cancelAt
    await open('/apps/default/users/bob?tab=subscriptions')
    await page.getByRole('button', { name: /^Actions for Basic of/ }).click()
    await page.getByRole('menuitem', { name: 'Cancel subscription' }).click()
    await page.getByText('The user has no add-ons.').waitFor()
    await page.getByRole('button', { name: 'Cancel at period end' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Bob keeps Basic.').waitFor()
    expect(await cancelAt()).toBe(null)
  })
})

describe('gap: removing an app in the dashboard', () => {
  it('archives it, brings it back, and deletes it once its id is typed', async () => {
    await dashboard.server.dashboard.data('mutation { createApp(id: "trial-run", name: "Trial run") { id } }')
    const { page, open } = visit
    await open('/apps')
    const card = page.locator('.mantine-Paper-root').filter({ hasText: 'trial-run' })
    await card.getByRole('button', { name: 'Archive' }).click()
    const archiving = page.getByRole('dialog', { name: 'Archive Trial run?' })
    await archiving.getByText('It has no users.').waitFor()
    await archiving.getByRole('button', { name: 'Archive' }).click()
    await page.getByText('Trial run archived.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Trial run: archiving undone.').waitFor()
    await card.getByRole('button', { name: 'Archive' }).click()
    await archiving.getByRole('button', { name: 'Archive' }).click()
    await card.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: /^App Default/ }).click()
    await page.getByRole('menuitem', { name: 'All apps' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Trial run' }).count()).toBe(0)
    await page.keyboard.press('Escape')

    await page.getByText('Archived', { exact: true }).click()
    await card.getByRole('link', { name: 'Trial run' }).click()
    await page.getByText('Trial run is archived. It accepts no new users or subscriptions.').waitFor()
    await page.getByRole('link', { name: 'Restore it' }).click()
    await card.getByRole('button', { name: 'Delete' }).click()
    const deleting = page.getByRole('dialog', { name: 'Delete Trial run permanently' })
    const sure = deleting.getByRole('button', { name: 'Delete permanently' })
    await deleting.getByText('0 users with 0 subscriptions, 0 usage records and 0 payments').waitFor()
    expect(await sure.isDisabled()).toBe(true)
    await deleting.getByLabel('Type trial-run to confirm').fill('trial-run')
    await sure.click()
    await page.getByText('No archived apps').waitFor()
    expect(visit.problems).toEqual([])
  })
})
