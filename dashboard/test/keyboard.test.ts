import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { OWNER } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { hasFocus, openDashboard, styleOf, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
beforeAll(async () => {
  await furnish(dashboard.server)
})

/** More than any page has to step over. */
const MOST_STEPS = 120

/** Steps to it with the Tab key, as somebody without a mouse does. */
async function stepTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not lead to ${target}`)
}

async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await stepTo(page, target)
  await page.keyboard.press(key)
}

async function enter(page: Page, target: Locator, text: string): Promise<void> {
  await stepTo(page, target)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** Opens a list and goes down to one of its options. */
async function choose(page: Page, list: Locator, name: string): Promise<void> {
  await press(page, list, 'ArrowDown')
  const option = page.getByRole('option', { name })
  await option.waitFor()
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    if ((await list.getAttribute('aria-activedescendant')) === (await option.getAttribute('id'))) {
      return page.keyboard.press('Enter')
    }
    await page.keyboard.press('ArrowDown')
  }
  throw new Error(`the arrow keys do not lead to ${option}`)
}

/** From the sign-in page on, nothing but the keyboard is touched. */
async function signedIn(): Promise<Visit> {
  const visit = await dashboard.visit()
  const { page, open } = visit
  await open('/sign-in')
  await enter(page, page.getByLabel('Email'), OWNER.email)
  await enter(page, page.getByRole('textbox', { name: 'Password' }), OWNER.password)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  return visit
}

/** Goes to a page by the command bar. */
async function goTo(page: Page, place: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /^Go to/ }).waitFor()
  await page.keyboard.type(place)
  const first = page.getByRole('dialog').locator('[data-action][data-selected]')
  await first.getByText(place, { exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: place, level: 1 }).waitFor()
}

describe('gap: the keyboard alone', () => {
  it('signs in, edits a package and publishes it', async () => {
    const { page, problems } = await signedIn()
    await goTo(page, 'Packages')
    await press(page, page.getByRole('link', { name: 'Basic' }))
    await enter(page, page.getByLabel('Limit'), '5')
    await press(page, page.getByRole('button', { name: 'Save draft' }))
    await press(page, page.getByRole('link', { name: 'Review and publish' }))
    await page.getByRole('table', { name: 'Who is affected' }).getByText('Ada Lovelace').waitFor()
    await press(page, page.getByRole('button', { name: 'Publish: 1 loses access' }))
    await page.getByRole('heading', { name: /^Basic/ }).waitFor()
    const { package: basic } = await dashboard.server.dashboard.data(
      '{ package(appId: "default", id: "basic") { grants { limit } draft { name } } }',
    )
    expect(basic).toEqual({ grants: [{ limit: '5' }], draft: null })
    expect(problems).toEqual([])
  })

  it('imports users, and undoes it', async () => {
    const { page, problems } = await signedIn()
    const email = async () =>
      (await dashboard.server.admin.data('{ user(id: "ada") { email } }')).user.email as string
    await goTo(page, 'CSV import')
    const chooser = page.waitForEvent('filechooser')
    await press(page, page.getByRole('button', { name: 'CSV file' }))
    await (await chooser).setFiles({
      name: 'users.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('id,address\nada,ada@new.example.com\nnobody,x\n'),
    })
    await choose(page, page.getByRole('combobox', { name: 'Email' }), 'address')
    await press(page, page.getByRole('button', { name: 'Check the file' }))
    await page.getByText('2 rows read · 1 would change').waitFor()
    await press(page, page.getByRole('button', { name: 'Apply 1 change' }))
    await page.getByText('Applied', { exact: true }).waitFor()
    expect(await email()).toBe('ada@new.example.com')
    await press(page, page.getByRole('button', { name: 'Undo' }))
    await page.getByText('Undone', { exact: true }).first().waitFor()
    expect(await email()).toBe('ada@example.com')
    expect(problems).toEqual([])
  })

  it('goes through the rows of a table, and opens one', async () => {
    const { page, problems } = await signedIn()
    await goTo(page, 'Users')
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await row('Bob').waitFor()
    // One stop for the whole table: the first row, and then what is in it.
    await stepTo(page, row('Bob'))
    expect(await styleOf(row('Bob'), 'outlineStyle')).toBe('solid')
    await page.keyboard.press('ArrowDown')
    expect(await hasFocus(row('Ada Lovelace'))).toBe(true)
    await page.keyboard.press('Home')
    expect(await hasFocus(row('Bob'))).toBe(true)
    await page.keyboard.press('k')
    expect(await hasFocus(row('Bob')), 'there is none above it').toBe(true)
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor()
    expect(problems).toEqual([])
  })

  it('enters a table with j, searches with /, and says so with ?', async () => {
    const { page, problems } = await signedIn()
    await goTo(page, 'Users')
    const first = page.getByRole('row').filter({ hasText: 'Bob' })
    await first.waitFor()
    await page.keyboard.press('j')
    expect(await hasFocus(first)).toBe(true)
    await page.keyboard.press('/')
    const search = page.getByRole('searchbox')
    expect(await hasFocus(search)).toBe(true)
    // In a field they are letters.
    await page.keyboard.type('j?')
    expect(await search.inputValue()).toBe('j?')
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Delete')
    await first.waitFor()
    await stepTo(page, first)
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByText('Next row of a table').waitFor()

    await press(page, help.getByRole('switch', { name: 'Single-key shortcuts' }), 'Space')
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(first), { message: 'the focus returns' }).toBe(true)
    await first.blur()
    await page.keyboard.press('j')
    expect(await hasFocus(first), 'they are off').toBe(false)
    await page.reload()
    await first.waitFor()
    await page.keyboard.press('?')
    await page.keyboard.press('j')
    expect(await hasFocus(first)).toBe(false)
    expect(await help.count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('leaves what a row opens alone, and opens the row when it is clicked beside its links', async () => {
    const { page, problems } = await signedIn()
    await goTo(page, 'Members')
    const row = page.getByRole('row').filter({ hasText: OWNER.email })
    await press(page, row.getByRole('button', { name: /^Actions for / }))
    const reset = page.getByRole('menuitem', { name: 'Reset password' })
    await reset.waitFor()
    // Arrows go from item to item.
    for (let step = 0; step < MOST_STEPS && !(await hasFocus(reset)); step++)
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Reset password' })
    await dialog.waitFor()
    await page.keyboard.press('ArrowDown')
    expect(await hasFocus(row), 'the focus stays in the dialog').toBe(false)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await goTo(page, 'Users')
    await page.getByRole('cell', { name: 'bob@example.com' }).click()
    await page.getByRole('heading', { level: 1, name: 'Bob' }).waitFor()
    expect(problems).toEqual([])
  })
})
