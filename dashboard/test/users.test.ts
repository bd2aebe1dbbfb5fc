import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { TEST_CELLS } from '../../server/test/harness/cells-by-hand.ts'
import { promised } from '../../server/test/harness/promised.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

const dashboard = shared(openDashboard)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  visit = await dashboard.signedIn()
})

const utc = (iso: string) => iso.replace('T', ' ').replace('Z', ' UTC')

describe('gap: the users page', () => {
  it('says that a user has no plan', async () => {
    const { page, open } = visit
    await dashboard.server.admin.data('mutation { createUser(input: {id: "zed", name: "Zed"}) { id } }')
    await open('/apps/default/users?search=zed')
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Zed' }) })
    await row.getByText('No plan').waitFor()
    await open('/apps/default/users?search=bob')
    expect(await page.getByRole('table', { name: 'Users' }).getByText('No plan').count()).toBe(0)
  })

  it('finds a user by any part of id, email, billing id and name', async () => {
    const { page, open } = visit
    await open('/apps/default/users')
    const search = page.getByRole('searchbox')
    const bob = page.getByRole('link', { name: 'Bob' })
    for (const text of ['ad', 'ada@', 'cus_a', 'LOVEL', 'velace', 'lace ada']) {
      await search.fill('')
      await bob.waitFor()
      await search.fill(text)
      await bob.waitFor({ state: 'detached' })
      const found = page.getByRole('table', { name: 'Users' }).locator('tbody .row-link')
      expect([text, ...(await found.allInnerTexts())]).toEqual([text, 'Ada Lovelace'])
    }
  })

  it('keeps the search in the address, and opens who was found', async () => {
    const { page, open } = visit
    await open('/apps/default/users')
    await page.getByRole('searchbox').fill('lace ada')
    await page.getByRole('link', { name: 'Bob' }).waitFor({ state: 'detached' })
    expect(new URL(page.url()).searchParams.get('search')).toBe('lace ada')
    await page.reload()
    expect(await page.getByRole('searchbox').inputValue()).toBe('lace ada')
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()
    await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()
  })

  it('opens who was chosen while the search was still being typed', async () => {
    const another = await dashboard.signedIn()
    const { page, open } = another
    await page.clock.install()
    await open('/apps/default/users')
    // The next page takes longer to load than typing pauses.
    const { promise: held, fulfil: release } = promised()
    await page.route(/assets\/user-[^/]*\.js$/, async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole('searchbox').pressSequentially('b')
    await page.getByRole('link', { name: 'Bob' }).click()
    // Past the pause after which the search is asked for.
    await page.clock.runFor(1_000)
    release()
    await page.getByRole('heading', { name: 'Bob' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/apps/default/users/bob')
    await another.close()
  })
})

const isFocused = (element: unknown) => {
  const { document } = globalThis as unknown as { document: { activeElement: unknown } }
  return element === document.activeElement
}

describe('gap: dialogs', () => {
  const DIALOGS = [
    ['features', 'New feature'],
    // Loaded when it is opened.
    ['users/bob', 'Change plan'],
    ['users/bob?tab=overrides', 'New override'],
  ] as const
  it.for(DIALOGS)('%s: %s starts in the first field', async ([path, button]) => {
    const { page, open } = visit
    await open(`/apps/default/${path}`)
    await page.getByRole('button', { name: button, exact: true }).first().click()
    const fields = page
      .getByRole('dialog')
      .getByRole('textbox')
      .or(page.getByRole('dialog').getByRole('combobox'))
    await fields.first().waitFor()
    await page.getByRole('dialog').locator('input:focus').waitFor()
    expect(await fields.first().evaluate(isFocused)).toBe(true)
  })
})

describe('gap: the pages of features', () => {
  it('filters and orders in the address, and counts what is shown', async () => {
    const { page, open } = visit
    await open('/apps/default/features')
    const names = page.getByRole('table', { name: 'Features' }).locator('tbody .row-link')
    const all = await names.allInnerTexts()
    expect(await page.getByRole('status').innerText()).toBe(`${all.length} features`)
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
    await page.waitForURL(/order=name/)
    expect(await names.allInnerTexts()).toEqual([...all].sort((a, b) => a.localeCompare(b)))
    await page.getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Binary' }).click()
    await page.waitForURL(/type=binary/)
    expect(await names.allInnerTexts()).toEqual(['Single sign-on'])
    expect(await page.getByRole('status').innerText()).toBe('1 feature')
    await page.reload()
    await names.first().waitFor()
    expect(await names.allInnerTexts()).toEqual(['Single sign-on'])
    await open('/apps/default/packages?type=addon&order=-changed')
    for (const row of await page.getByRole('table', { name: 'Packages' }).locator('tbody tr').allInnerTexts())
      expect(row).toContain('Add-on')
  })

  it('shows what a feature is used for, by whom, and where it is from', async () => {
    const { page, open } = visit
    const { admin } = dashboard.server
    await admin.data('{ canUseFeature(userId: "nobody", featureId: "calls") { access } }')
    await open('/apps/default/features')
    await page.getByRole('link', { name: 'API calls' }).click()
    await page.getByRole('heading', { level: 1, name: 'API calls' }).waitFor()
    await page.getByText('denied check').first().waitFor()
    const packages = page.getByRole('table', { name: 'Packages that include it' })
    await packages.getByRole('link', { name: 'Basic' }).waitFor()
    await packages.getByRole('row', { name: /Basic/ }).getByRole('link').last().click()
    await page.waitForURL(/tab=users&package=basic/)
    const users = page.getByRole('table', { name: 'Users with the feature' })
    await users.getByRole('link', { name: 'Ada Lovelace' }).waitFor()
    await users.getByRole('meter', { name: 'API calls of ada' }).waitFor()
    await users.getByRole('link', { name: 'Ada Lovelace' }).click()
    await page.getByRole('heading', { level: 1, name: 'Ada Lovelace' }).waitFor()
    const another = await dashboard.signedIn()
    await another.open('/apps/default/features/none')
    await another.page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await another.close()
  })
})

describe('gap: the command bar', () => {
  const FOUND = [
    ['lovel', 'Ada Lovelace', 'Ada Lovelace'],
    // Pages and actions have it too, and are there at once: what is found comes first all the same.
    ['a', 'Ada Lovelace', 'Ada Lovelace'],
    ['api cal', 'API calls', 'API calls'],
    ['invite', 'Invite a member', 'Members'],
    ['feature new', 'New feature', 'Features'],
    ['publish', 'Packages', 'Packages'],
  ] as const
  it.for(FOUND)('%s offers %s, by the keyboard alone', async ([text, offered, heading]) => {
    const { page, open } = visit
    await open('/apps/default/keys')
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: /^Go to/ }).fill(text)
    const action = page.getByRole('dialog').locator('[data-action][data-selected]')
    await action.getByText(offered, { exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  })
})

describe('gap: the playground', () => {
  it('finds a user by name', async () => {
    const { page, open } = visit
    await open('/apps/default/playground')
    await page.getByRole('combobox', { name: 'User' }).fill('lovelace')
    await page.getByRole('option', { name: 'Ada Lovelace' }).click()
    expect(await page.getByRole('combobox', { name: 'User' }).inputValue()).toBe('ada')
  })

  it('writes times and periods as people do, with the exact time in a title', async () => {
    const { page, open } = visit
    await open('/apps/default/playground?user=ada&feature=calls')
    const answer = page.getByRole('main')
    await answer.getByText('10 calls per month, total of all packages. Counted from').waitFor()
    const times = await answer.locator('ol time').all()
    const shown = await Promise.all(
      times.map(async (time) => [await time.innerText(), await time.getAttribute('title')]),
    )
    const { explain } = await dashboard.server.dashboard.data(
      '{ explain(appId: "default", userId: "ada", featureId: "calls") { periodStart periodEnd } }',
    )
    expect(shown).toEqual(
      [explain.periodStart, explain.periodEnd].map((at) => [
        expect.stringMatching(/^\w{3} \d+, \d{4}, \d+:\d\d\s[AP]M$/),
        utc(at),
      ]),
    )
    const words = await answer.locator('ol, [role=status]').allInnerTexts()
    expect(words.join(' ')).not.toMatch(/\d{4}-\d\d-\d\dT|\bMONTH\b|WITHIN_BUDGET/)
  })
})

describe("gap: a user's page", () => {
  it('shows usage against the budget, and records more', async () => {
    const { page, open } = visit
    await open('/apps/default/users/ada?feature=calls')
    const meter = page.getByRole('meter', { name: 'API calls used' })
    expect(await meter.getAttribute('aria-valuetext')).toBe('8 of 10 calls')
    await page.getByText('10 from Basic').waitFor()
    await page.getByRole('img', { name: 'Usage of API calls in the last 1 periods' }).waitFor()

    await page.getByRole('button', { name: 'Record usage of API calls' }).click()
    await page.getByLabel('Amount, in calls').fill('3')
    await page.getByRole('button', { name: 'Record', exact: true }).click()
    await page.getByText('Not recorded').waitFor()
    await page.getByLabel('Amount, in calls').fill('2')
    await page.getByRole('button', { name: 'Record', exact: true }).click()
    await page.getByText('10 of 10 calls').waitFor()
    await page.getByRole('tab', { name: 'Ledger' }).click()
    const ledger = page.getByRole('table', { name: 'Ledger' })
    await ledger.waitFor()
    expect(await ledger.locator('tbody tr').count()).toBe(2)
  })

  // It writes a partition by hand, as one cell has it.
  it.skipIf(TEST_CELLS > 1)('says at the end of the ledger how many older entries are gone', async () => {
    const { page, open } = visit
    const db = new pg.Client({ connectionString: dashboard.server.databaseUrl })
    await db.connect()
    try {
      await db.query(
        'insert into ledger_partition (block, opened_at, retired_at) values (8000, now(), now())',
      )
      await db.query(
        `insert into ledger_base select app_id, user_uid, feature_id, reset_period, period_start, 8000, 1, 1234
         from usage_counter where app_id = 'default' and feature_id = 'calls'
           and user_uid = (select uid from users where app_id = 'default' and id = 'ada')`,
      )
    } finally {
      await db.end()
    }
    await open('/apps/default/users/ada?tab=ledger')
    await page.getByRole('table', { name: 'Ledger' }).waitFor()
    await page
      .getByText('1,234 older entries have been archived or deleted. Their usage is still counted.')
      .waitFor()
  })

  it('gives an override until a date, changes it and removes it', async () => {
    const { page, open } = visit
    await open('/apps/default/users/ada?tab=overrides')
    await page.getByRole('button', { name: 'New override' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Feature' }).click()
    await page.getByRole('option', { name: 'Single sign-on' }).click()
    // A binary feature has no limit.
    await dialog.getByLabel('Limit').waitFor({ state: 'detached' })
    expect(await dialog.getByRole('combobox', { name: 'What it does' }).inputValue()).toBe(
      'Grant the feature',
    )
    await dialog.getByLabel('Until').fill('2001-01-01T00:00')
    await dialog.getByRole('button', { name: 'Save override' }).click()
    await dialog.getByText('expiresAt must be in the future').waitFor()
    await dialog.getByLabel('Until').fill('2090-03-01T12:30')
    await dialog.getByLabel('Reason').fill('a pilot')
    await dialog.getByRole('button', { name: 'Save override' }).click()
    const row = page.getByRole('table', { name: 'Overrides' }).locator('tbody tr')
    await row.getByText('a pilot').waitFor()
    expect(await row.locator('time:visible').getAttribute('title')).toBe('2090-03-01 12:30:00.000 UTC')
    const code = async () => {
      const { canUseFeature } = await dashboard.server.admin.data(
        '{ canUseFeature(userId: "ada", featureId: "sso") { reasonCode } }',
      )
      return canUseFeature.reasonCode
    }
    expect(await code()).toBe('GRANTED')

    await open('/apps/default/playground?user=ada&feature=sso')
    const until = page.getByText(/^An override grants the feature, until .*2090/).locator('time')
    expect(await until.getAttribute('title')).toBe('2090-03-01 12:30:00.000 UTC')

    await open('/apps/default/users/ada?tab=overrides')
    await page.getByRole('button', { name: 'Change the override of Single sign-on' }).click()
    await dialog.getByRole('combobox', { name: 'What it does' }).click()
    await page.getByRole('option', { name: 'Deny the feature' }).click()
    await dialog.getByRole('button', { name: 'Save override' }).click()
    await row.getByText('no access').waitFor()
    expect(await code()).toBe('DENIED')

    await page.getByRole('button', { name: 'Remove the override of Single sign-on' }).click()
    await dialog.getByRole('button', { name: 'Remove the override', exact: true }).click()
    await page.getByText('No overrides').waitFor()
    expect(await code()).toBe('NOT_IN_PACKAGE')
  })

  it('says on the card of a feature what its limit is the sum of', async () => {
    const { page, open, problems } = visit
    await dashboard.server.admin.data(`mutation { setOverride(input:
      {userId: "bob", featureId: "calls", mode: ADD, limit: 5000, expiresAt: "2090-12-31T00:00:00Z"}) { limit } }`)
    await open('/apps/default/users/bob')
    const source = page.getByText(/^5,010 = 10 Basic \+ 5,000 override until Dec 31, 2090/)
    await source.waitFor()
    await source.getByRole('link', { name: 'Basic' }).click()
    await page.getByRole('heading', { level: 1, name: 'Basic' }).waitFor()
    // The next test counts on the limits of the packages alone.
    await dashboard.server.admin.data(
      'mutation { removeOverride(userId: "bob", featureId: "calls") { featureId } }',
    )
    expect(problems).toEqual([])
  })

  it('subscribes to an add-on, cancels it, keeps it, and cancels it at once', async () => {
    const { page, open } = visit
    await open('/apps/default/users/bob')
    await page.getByRole('button', { name: 'More actions for Bob' }).click()
    await page.getByRole('menuitem', { name: 'Subscribe to an add-on' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Add-ons' }).click()
    await page.getByRole('option', { name: 'Extra calls' }).click()
    await page.keyboard.press('Tab')
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('2 of 15 calls').waitFor()

    await page.getByRole('tab', { name: 'Subscriptions' }).click()
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'Actions for Extra calls of bob' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await choose('Cancel subscription')
    await page.getByRole('button', { name: 'Cancel at period end' }).click()
    await page.getByText(/^Ends /).waitFor()
    await choose('Keep subscription')
    await page.getByRole('button', { name: 'Keep subscription' }).click()
    await page.getByText(/^Ends /).waitFor({ state: 'detached' })

    await choose('Cancel subscription')
    await page.getByRole('radio', { name: 'Now' }).check()
    await page.getByRole('button', { name: 'Cancel now' }).click()
    await page.getByText(/^Ended /).waitFor()
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByText('2 of 10 calls').waitFor()
  })

  it('changes email and billing id, and says beside the field why not', async () => {
    const { page, open } = visit
    await open('/apps/default/users/bob?tab=details')
    await page.getByLabel('Email').fill('bob@elsewhere.example')
    await page.getByLabel('Billing id').fill('cus_ada')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Another user already has the billingId "cus_ada"').waitFor()
    await page.getByLabel('Billing id').fill('cus_bob')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const { user } = await dashboard.server.admin.data('{ user(id: "bob") { email billingId } }')
    expect(user).toEqual({ email: 'bob@elsewhere.example', billingId: 'cus_bob' })
  })

  it('shows what the server refuses beside the form', async () => {
    const { page, open } = visit
    await dashboard.server.admin.data('mutation { createUser(input: { id: "nils", name: "Nils" }) { id } }')
    await open('/apps/default/users/nils')
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Plan', exact: true }).click()
    await page.getByRole('option', { name: 'Basic' }).click()
    // Somebody else is quicker.
    await dashboard.server.admin.data('mutation { subscribe(userId: "nils", packageIds: ["basic"]) { id } }')
    await page.getByRole('dialog').getByRole('button', { name: 'Subscribe' }).click()
    expect(await page.getByRole('alert').innerText()).toBe('Cannot subscribe to multiple tiers.')
    expect(visit.problems).toEqual([])
  })

  it('downloads all data of a user, and deletes them once their id is typed', async () => {
    const { page, open } = visit
    const { admin } = dashboard.server
    await admin.data('mutation { createUser(input: { id: "leaver", name: "Lea Ver" }) { id } }')
    await admin.data('mutation { subscribe(userId: "leaver", packageIds: ["basic"]) { id } }')
    await open('/apps/default/users/leaver?tab=details')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download all data' }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe('leaver.json')
    const content = JSON.parse(await readFile(await file.path(), 'utf8'))
    expect(content).toMatchObject({ user: { name: 'Lea Ver' }, subscriptions: [{ packageId: 'basic' }] })

    await page.getByRole('button', { name: 'Delete the user' }).click()
    await page.getByText('1 live subscription ends now.').waitFor()
    await page.getByText('This cannot be undone.').waitFor()
    const confirm = page.getByRole('button', { name: 'Delete permanently' })
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel("Type the user's id to confirm").fill('leaver')
    await confirm.click()
    await page.getByText('leaver deleted.').waitFor()
    await page.getByRole('heading', { name: 'Users' }).waitFor()
    expect((await admin.error('{ user(id: "leaver") { id } }')).extensions.code).toBe('USER_NOT_FOUND')
    expect(visit.problems).toEqual([])
  })

  it('creates a token that the client API accepts', async () => {
    const { page, open } = visit
    await open('/apps/default/users/ada')
    await page.getByRole('button', { name: /^More actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Create a token' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create a token' }).click()
    const token = (await page.getByRole('figure', { name: 'The token' }).innerText()).trim()
    const response = await fetch(`${dashboard.server.url}/client/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: token },
      body: JSON.stringify({ query: '{ me { id } }' }),
    })
    expect(await response.json()).toEqual({ data: { me: { id: 'ada' } } })
  })
})
