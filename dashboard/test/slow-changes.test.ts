import type { Page, Route } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { promised } from '../../server/test/harness/promised.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
})
beforeEach(async () => {
  visit = await dashboard.signedIn()
  return () => visit.close()
})

/** Holds back what a change answers, once; returns what lets it go. */
async function holdAnswer(
  page: Page,
  called: string,
): Promise<{ asked: Promise<void>; release: () => void }> {
  const asked = promised()
  const released = promised()
  await page.route('**/dashboard/graphql', async (route) => {
    if (!(route.request().postData() ?? '').includes(called)) return route.continue()
    asked.fulfil()
    const response = await route.fetch()
    await released.promise
    await route.fulfill({ response })
  })
  return { asked: asked.promise, release: released.fulfil }
}

const draftPackage = (id: string) =>
  dashboard.server.dashboard.data(
    `mutation ($id: String!) {
       createPackage(appId: "default", input: {id: $id, name: $id, features: [{id: "calls", entitlement: {limit: 10}}]}) { id }
     }`,
    { id },
  )
const goHome = async (page: Page) => {
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('heading', { name: 'Checks and records' }).waitFor()
}

describe('gap: a change that takes long', () => {
  it('does not lead back who has gone on to another page, and says that it was made', async () => {
    const { page, open } = visit
    await draftPackage('slow')
    const held = await holdAnswer(page, 'mutation PublishPackage')
    await open('/apps/default/packages/slow/publish')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await held.asked
    await goHome(page)
    held.release()
    await page.getByText(/ is published. It is live for all subscribers.$/).waitFor()
    await visit.idle()
    expect(new URL(page.url()).pathname).toBe('/apps/default')
    expect(visit.problems).toEqual([])
  })

  it('says so when it fails after its page was left', async () => {
    const { page, open } = visit
    await draftPackage('failing')
    await open('/apps/default/packages/failing/publish')
    const held = await holdAnswer(page, 'mutation PublishPackage')
    // Somebody else is faster: what is published here is refused.
    await dashboard.server.dashboard.data(
      'mutation { editPackage(appId: "default", id: "failing", input: {name: "Theirs"}) { id } }',
    )
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await held.asked
    await goHome(page)
    held.release()
    const failed = page.getByRole('alert').filter({ hasText: 'A change you made has failed' })
    await failed.getByText(/changed/).waitFor()
    expect(new URL(page.url()).pathname).toBe('/apps/default')
  })

  it('shows the secret of a key although its dialog was closed meanwhile', async () => {
    const { page, open } = visit
    await open('/apps/default/keys')
    const held = await holdAnswer(page, 'mutation CreateApiKey')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Late')
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await held.asked
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    held.release()
    await page.getByRole('figure', { name: 'The secret' }).getByText(/tg_/).waitFor()
  })

  it('signs out wherever the reader is by then', async () => {
    const { page, open } = visit
    await open('/apps/default/features')
    const held = await holdAnswer(page, 'mutation SignOut')
    await page.getByRole('button', { name: /owner@example.com/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await held.asked
    await page.getByRole('link', { name: 'Users' }).click()
    held.release()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('a file that does not arrive after its page was left does not lead back there', async () => {
    const { page, open } = visit
    await open('/apps/default/import')
    const upload = promised<Route>()
    await page.route('**/dashboard/import/users?*', upload.fulfil)
    const buffer = Buffer.from('id,email\nada,a@example.com')
    await page.setInputFiles('input[type=file]', { name: 'users.csv', mimeType: 'text/csv', buffer })
    await page.getByRole('button', { name: 'Check the file' }).click()
    const underWay = await upload.promise
    await goHome(page)
    await underWay.abort()
    const failed = page.getByRole('alert').filter({ hasText: 'A change you made has failed' })
    await failed.getByText('The upload failed. Check your connection and try again.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/apps/default')
  })
})
