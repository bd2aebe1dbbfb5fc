import type { Locator } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { hasFocus, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})

const PACKAGE =
  '{ package(appId: "default", id: "basic") { name grants { id limit } draft { name grants { id limit } } } }'
const packageNow = async () => (await dashboard.server.dashboard.data(PACKAGE)).package

/** Whether all of it can be seen without scrolling. */
async function inSight(element: Locator): Promise<boolean> {
  const box = await element.boundingBox()
  const height = element.page().viewportSize()?.height ?? 0
  return box !== null && box.y >= 0 && box.y + box.height <= height
}

describe('spec §3: publishing in the dashboard', () => {
  it('keeps an edit as a draft, shows who is affected, and publishes it', async () => {
    const { page, open } = visit
    await open('/apps/default/packages/basic')
    await page.getByLabel('Limit').fill('5')
    await page.getByRole('combobox', { name: 'Add a feature' }).click()
    await page.getByRole('option', { name: 'Single sign-on' }).click()
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByText('These edits are not published yet').waitFor()
    const before = await packageNow()
    expect(before.grants).toEqual([{ id: 'calls', limit: '10' }])
    expect(before.draft.grants).toEqual([
      { id: 'calls', limit: '5' },
      { id: 'sso', limit: null },
    ])

    await page.getByRole('link', { name: 'Review and publish' }).click()
    const touched = page.getByRole('table', { name: 'Who is affected' })
    await touched.waitFor()
    const rows = await touched.locator('tbody tr').allInnerTexts()
    const cells = rows.map((row) => row.split('\t').slice(0, 3))
    const told = cells.map((texts) => texts.map((text) => text.replaceAll(/\s+/g, ' ').trim()).join(' '))
    expect(told).toEqual([
      'Ada Lovelace ada API calls Loses access',
      'Ada Lovelace ada Single sign-on Gains access',
      'Bob bob Single sign-on Gains access',
    ])
    const figures = page
      .getByText(/^(subscribers now|gain access|lose access|more overage|less overage)$/)
      .locator('..')
    expect((await figures.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
      '2 subscribers now',
      '2 gain access',
      '1 lose access',
      '0 more overage',
      '0 less overage',
    ])
    await page.getByRole('button', { name: 'Publish: 1 loses access' }).click()
    await page.getByRole('heading', { name: /^Basic/ }).waitFor()
    expect(await packageNow()).toMatchObject({ grants: before.draft.grants, draft: null })
    expect(visit.problems).toEqual([])
  })

  it('lists all affected users, page by page', async () => {
    const { page, open } = visit
    const { admin, dashboard: api } = dashboard.server
    const ids = Array.from({ length: 60 }, (_, i) => `many-${i}`)
    await api.data(`mutation {
      createPackage(appId: "default", input: {id: "many", name: "Many", features: [{id: "calls", entitlement: {limit: 1}}]}) { id }
      publishPackage(appId: "default", id: "many") { id }
    }`)
    for (const id of ids) {
      await admin.data(
        `mutation ($id: String!) { createUser(input: {id: $id}) { id } subscribe(userId: $id, packageIds: ["many"]) { id } }`,
        { id },
      )
    }
    await api.data(
      'mutation { editPackage(appId: "default", id: "many", input: {features: [{id: "calls", entitlement: {limit: 0}}]}) { id } }',
    )
    const users = page.getByRole('table', { name: 'Who is affected' }).locator('tbody td:first-child a')
    await open('/apps/default/packages/many/publish')
    const first = await users.allInnerTexts()
    expect(first).toHaveLength(50)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'many-59' }).waitFor()
    const rest = await users.allInnerTexts()
    expect([...first, ...rest]).toEqual(ids)

    await page.reload()
    await page.getByRole('link', { name: 'many-59' }).waitFor()
    expect(await users.allInnerTexts()).toEqual(rest)
    await page.getByRole('button', { name: 'Publish: 60 lose access' }).waitFor()
    await page.getByRole('button', { name: 'First page' }).click()
    await page.getByRole('link', { name: 'many-0', exact: true }).waitFor()
  })

  it('counts who goes into overage, and keeps the button in sight of the first row and the last', async () => {
    const { page, open } = visit
    const { admin, dashboard: api } = dashboard.server
    await api.data(`mutation {
      createPackage(appId: "default", input: {id: "over", name: "Over", features: [{id: "calls", entitlement: {limit: 10, overageEnabled: true}}]}) { id }
      publishPackage(appId: "default", id: "over") { id }
    }`)
    for (let i = 0; i < 20; i++) {
      await admin.data(
        `mutation ($id: String!) {
          createUser(input: {id: $id}) { id } subscribe(userId: $id, packageIds: ["over"]) { id }
          recordUsage(input: {userId: $id, featureId: "calls", delta: 7}) { recorded }
        }`,
        { id: `over-${i}` },
      )
    }
    await api.data(
      'mutation { editPackage(appId: "default", id: "over", input: {features: [{id: "calls", entitlement: {limit: 5, overageEnabled: true}}]}) { id } }',
    )
    await page.setViewportSize({ width: 390, height: 700 })
    await open('/apps/default/packages/over/publish')
    await page.getByText('20 subscribers: 20 more overage').waitFor()
    await page.getByText('for 20 subscribers, more of it counts as overage').waitFor()
    const publish = page.getByRole('button', { name: 'Publish', exact: true })
    for (const to of ['0', 'document.body.scrollHeight']) {
      await page.evaluate(`scrollTo(0, ${to})`)
      await expect.poll(() => inSight(publish)).toBe(true)
    }
    await page.setViewportSize({ width: 1280, height: 720 })
    await api.data(
      'mutation { editPackage(appId: "default", id: "over", input: {features: [{id: "calls", entitlement: {limit: 50, overageEnabled: true}}]}) { id } }',
    )
    await open('/apps/default/packages/over/publish')
    await page.getByText('20 subscribers: limits change, but nobody gains or loses access').waitFor()
    await page.getByRole('radio', { name: 'New subscribers only' }).check()
    await page.getByText('20 subscribers keep the current version').waitFor()
    expect(visit.problems).toEqual([])
  })

  it('schedules a publication, which locks the package until then, and takes place at that time', async () => {
    const { page, open } = visit
    const { dashboard: api } = dashboard.server
    await api.data(`mutation {
      createApp(id: "later", name: "Later", testClock: true) { id }
      createFeature(appId: "later", input: {id: "calls", name: "Calls", type: CONSUMABLE}) { id }
      createPackage(appId: "later", input: {id: "soon", name: "Soon", features: [{id: "calls", entitlement: {limit: 10}}]}) { id }
    }`)
    const year = new Date().getUTCFullYear() + 1
    await open('/apps/later/packages/soon/publish')
    await page.getByRole('radio', { name: 'Later' }).check()
    const schedule = page.getByRole('button', { name: 'Schedule', exact: true })
    expect(await schedule.isDisabled()).toBe(true)
    expect(await hasFocus(page.getByLabel('Date and time'))).toBe(true)
    await page.getByLabel('Date and time').fill('2020-01-01T10:00')
    await schedule.click()
    await page.getByText('The publication must be in the future').waitFor()
    await page.getByLabel('Date and time').fill(`${year}-03-01T10:00`)
    await page.getByLabel('Note').fill('Spring prices')
    await schedule.click()
    await page.getByText(/^Soon will be published on Mar 1, /).waitFor()
    const waiting = page.getByRole('status').filter({ hasText: 'Scheduled to be published on' })
    await waiting.getByText('Scheduled by owner@example.com').waitFor()
    await waiting.getByText('Spring prices').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    expect(await page.getByLabel('Limit').isEditable()).toBe(false)

    await waiting.getByRole('button', { name: 'Unschedule' }).click()
    await waiting.waitFor({ state: 'detached' })
    await expect.poll(() => page.getByLabel('Limit').isEditable()).toBe(true)
    await page.getByRole('button', { name: 'Undo' }).click()
    await waiting.waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await waiting.getByRole('link', { name: 'Change' }).click()
    expect(await page.getByLabel('Date and time').inputValue()).toBe(`${year}-03-01T10:00`)
    expect(await page.getByLabel('Note').inputValue()).toBe('Spring prices')
    await page.getByLabel('Date and time').fill(`${year}-02-01T10:00`)
    await schedule.click()
    await page.getByText(/^Soon will be published on Feb 1, /).waitFor()
    await api.data(`mutation { advanceClock(appId: "later", to: "${year}-02-02T00:00:00Z") { id } }`)
    await expect
      .poll(async () => {
        await open('/apps/later/packages')
        return page.getByRole('row').filter({ hasText: 'Soon' }).innerText()
      })
      .toContain('Published')
    expect(visit.problems).toEqual([])
  })

  it('asks before an empty package is published', async () => {
    const { page, open } = visit
    const { dashboard: api } = dashboard.server
    await api.data(
      'mutation { createPackage(appId: "default", input: {id: "empty", name: "Empty", features: []}) { id } }',
    )
    const status = async () =>
      (await api.data('{ package(appId: "default", id: "empty") { status } }')).package.status
    await open('/apps/default/packages/empty/publish')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Publish an empty package?' })
    await dialog.getByText('Empty has no features.').waitFor()
    expect(await status()).toBe('DRAFT')
    await dialog.getByRole('button', { name: 'Publish anyway' }).click()
    await page.getByRole('heading', { name: /^Empty/ }).waitFor()
    expect(await status()).toBe('PUBLISHED')
  })

  it('publishes for new customers only, moves the old ones later, and takes that back', async () => {
    const { page, open } = visit
    const { admin, dashboard: api } = dashboard.server
    await api.data(`mutation {
      createPackage(appId: "default", input: {id: "kept", name: "Kept", features: [{id: "calls", entitlement: {limit: 10}}]}) { id }
      publishPackage(appId: "default", id: "kept") { id }
    }`)
    await admin.data(`mutation {
      createUser(input: {id: "old"}) { id } subscribe(userId: "old", packageIds: ["kept"]) { id }
      recordUsage(input: {userId: "old", featureId: "calls", delta: 6}) { recorded }
    }`)
    await api.data(
      'mutation { editPackage(appId: "default", id: "kept", input: {features: [{id: "calls", entitlement: {limit: 5}}]}) { id } }',
    )
    const version = async () =>
      (await admin.data('{ subscriptions(userId: "old") { packageVersion } }')).subscriptions[0]
        .packageVersion

    await open('/apps/default/packages/kept/publish')
    await page.getByRole('button', { name: 'Publish: 1 loses access' }).waitFor()
    await page.getByRole('radio', { name: 'New subscribers only' }).check()
    await page.getByText('Current subscribers are not affected.').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Kept is published. New subscribers get it.').waitFor()
    expect(await version()).toBe(1)

    await page.getByRole('tab', { name: 'Versions' }).click()
    const versions = page.getByRole('table', { name: 'Versions' }).locator('tbody tr')
    const held = async () =>
      (await versions.allInnerTexts()).map((row) => row.split('\t').slice(0, 2).join(' '))
    await versions.first().waitFor()
    expect(await held()).toEqual(['2 0', '1 1'])
    await page.getByRole('button', { name: 'Move subscribers' }).click()
    const dialog = page.getByRole('dialog', { name: 'Move subscribers to another version' })
    await dialog.getByText('1 subscriber moves. 0 gain access to a feature, 1 lose access.').waitFor()
    await dialog.getByRole('button', { name: 'Move 1 subscriber, 1 loses access' }).click()
    const undo = page.getByRole('button', { name: 'Undo the move from version 1 to 2' })
    await undo.waitFor()
    expect(await version()).toBe(2)

    await undo.click()
    await page.getByText('1 of 1 subscribers have been moved.').waitFor()
    await page.getByRole('button', { name: 'Undo the move', exact: true }).click()
    await page.getByRole('table', { name: 'Moves between versions' }).getByText('Undone').waitFor()
    expect(await version()).toBe(1)
    expect(visit.problems).toEqual([])
  })

  it('warns the second of two concurrent editors, and loses nothing of either', async () => {
    const [first, second] = [await dashboard.signedIn(), await dashboard.signedIn()]
    for (const { open } of [first, second]) await open('/apps/default/packages/extra')
    const name = '{ package(appId: "default", id: "extra") { draft { name } } }'
    const draftName = async () => (await dashboard.server.dashboard.data(name)).package.draft.name

    await first.page.getByLabel('Name').fill('Extra calls of the first')
    await first.page.getByRole('button', { name: 'Save draft' }).click()
    await first.page.getByText('These edits are not published yet').waitFor()
    await second.page.getByLabel('Name').fill('Extra calls of the second')
    await second.page.getByRole('button', { name: 'Save draft' }).click()
    await second.page.getByText('Someone else has changed this package').waitFor()
    expect(await second.page.getByLabel('Name').inputValue()).toBe('Extra calls of the second')
    expect(await draftName()).toBe('Extra calls of the first')

    await second.page.getByRole('button', { name: 'Overwrite with mine' }).click()
    await second.page.getByText('Draft saved. Publish it to make it live.').waitFor()
    expect(await draftName()).toBe('Extra calls of the second')
    for (const { close } of [first, second]) await close()
  })
})
