import { beforeAll, describe, expect, it, vi } from 'vitest'
import { jobsDone } from '../../server/test/billing/jobs-done.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { MASTER_KEY_SETTINGS } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { startStripe } from '../../server/test/stripe/stand-in.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

// What people who run the service do in its pages, beside the catalogue and its users.

const stripe = shared(startStripe)
const dashboard = shared(() =>
  openDashboard({ env: { ...MASTER_KEY_SETTINGS, STRIPE_API_BASE: stripe.url } }),
)
let visit: Visit
beforeAll(async () => {
  await furnish(dashboard.server)
  await dashboard.server.dashboard.data(`mutation {
    clocked: createApp(id: "clocked", name: "Clocked", testClock: true) { id }
    sampled: createApp(id: "sampled", name: "Sampled") { id }
  }`)
  visit = await dashboard.signedIn()
})

const rowsOf = (label: string) => visit.page.getByRole('table', { name: label }).locator('tbody tr')

describe('gap: members', () => {
  it('come by a link, take the role that it names, and go when they are removed', async () => {
    const { page, open } = visit
    await open('/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email').fill('vera@example.com')
    await dialog.getByRole('radio', { name: 'Viewer' }).check()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const link = (await dialog.getByRole('figure', { name: "The invitation's link" }).innerText()).trim()
    // A link that is shown once is not lost by a key.
    await page.keyboard.press('Escape')
    expect(await dialog.getByRole('button', { name: 'Done' }).isVisible()).toBe(true)
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('table', { name: 'Open invitations' }).getByText('vera@example.com').waitFor()

    const invited = await dashboard.visit()
    await invited.page.goto(link)
    await invited.page.getByText('vera@example.com, as viewer.').waitFor()
    await invited.page.getByRole('textbox', { name: 'Password' }).fill('a good long password')
    await invited.page.getByRole('button', { name: 'Accept' }).click()
    await invited.page.getByRole('navigation', { name: 'Main' }).waitFor()
    await invited.open('/members')
    expect(await invited.page.getByRole('button', { name: 'Invite' }).isDisabled()).toBe(true)
    expect(await invited.page.getByRole('combobox', { name: /^Role of/ }).count()).toBe(0)

    const again = await dashboard.visit()
    await again.page.goto(link)
    await again.page.getByRole('heading', { name: 'This invitation is not valid' }).waitFor()

    await open('/members')
    expect(await page.getByRole('table', { name: 'Open invitations' }).count()).toBe(0)
    await page.getByRole('combobox', { name: 'Role of vera@example.com' }).click()
    await page.getByRole('option', { name: 'Owner' }).click()
    await page.getByText('vera@example.com is now owner.').waitFor()
    await invited.open('/members')
    expect(await invited.page.getByRole('button', { name: 'Invite' }).isEnabled()).toBe(true)

    await page.getByRole('button', { name: 'Actions for vera@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    const removing = page.getByRole('dialog', { name: 'Remove vera@example.com?' })
    await removing.getByText('They are signed out of 1 browser at once and can no longer sign in.').waitFor()
    await removing.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('vera@example.com removed and signed out everywhere.').waitFor()
    await invited.page.goto(`${dashboard.server.url}/members`)
    await invited.page.getByRole('button', { name: 'Sign in' }).waitFor()
    for (const { close } of [invited, again]) await close()
  })

  it('take their invitations with them when they are no longer owners, which is asked about', async () => {
    const { page, open } = visit
    const { invite } = await dashboard.server.dashboard.data(
      'mutation { invite: inviteMember(email: "olga@example.com", role: OWNER) { url } }',
    )
    const olga = await dashboard.visit()
    await olga.page.goto(invite.url)
    await olga.page.getByRole('textbox', { name: 'Password' }).fill('a good long password')
    await olga.page.getByRole('button', { name: 'Accept' }).click()
    await olga.page.getByRole('navigation', { name: 'Main' }).waitFor()
    await olga.open('/members')
    await olga.page.getByRole('button', { name: 'Invite' }).click()
    const dialog = olga.page.getByRole('dialog')
    await dialog.getByLabel('Email').fill('friend@example.com')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByRole('figure', { name: "The invitation's link" }).waitFor()
    await olga.close()

    await open('/members')
    await page.getByRole('table', { name: 'Open invitations' }).getByText('friend@example.com').waitFor()
    await page.getByRole('button', { name: 'Actions for olga@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    const removing = page.getByRole('dialog', { name: 'Remove olga@example.com?' })
    await removing.getByText('1 open invitation they sent stops working.').waitFor()
    await removing.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('combobox', { name: 'Role of olga@example.com' }).click()
    await page.getByRole('option', { name: 'Viewer' }).click()
    const demoting = page.getByRole('dialog', { name: 'Change the role of olga@example.com?' })
    await demoting.getByText('1 open invitation they sent stops working.').waitFor()
    await demoting.getByRole('button', { name: 'Change role' }).click()
    await page.getByText('olga@example.com is now viewer.').waitFor()
    await page.getByRole('table', { name: 'Open invitations' }).waitFor({ state: 'detached' })
    const role = page.getByRole('combobox', { name: 'Role of olga@example.com' })
    await expect.poll(() => role.inputValue()).toBe('Viewer')
  })

  it('are refused at a link that was taken back', async () => {
    const { page, open } = visit
    await open('/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    // What is refused stands beside the field that it is about.
    await dialog.getByLabel('Email').fill('owner@example.com')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await dialog.getByText('"owner@example.com" is already a member.').waitFor()
    expect(await dialog.getByLabel('Email').getAttribute('aria-invalid')).toBe('true')
    expect(await dialog.getByRole('alert').count()).toBe(0)
    await dialog.getByLabel('Email').fill('otto@example.com')
    await dialog.getByRole('button', { name: 'Create link' }).click()
    const link = (await dialog.getByRole('figure', { name: "The invitation's link" }).innerText()).trim()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Revoke the invitation of otto@example.com' }).click()
    const revoking = page.getByRole('dialog', { name: 'Revoke the invitation?' })
    await revoking.getByText('The link you sent to otto@example.com stops working.').waitFor()
    await revoking.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Invitation of otto@example.com revoked.').waitFor()
    const invited = await dashboard.visit()
    await invited.page.goto(link)
    await invited.page.getByRole('heading', { name: 'This invitation is not valid' }).waitFor()
    await invited.close()
  })
})

describe('gap: apps', () => {
  it('take a catalogue over from another, after showing what that does', async () => {
    const { page, open } = visit
    await dashboard.server.dashboard.data(`mutation {
      calls: createFeature(appId: "clocked", input: {id: "calls", name: "Calls", type: CONSUMABLE}) { id }
      sso: createFeature(appId: "clocked", input: {id: "sso", name: "SSO", type: CONSUMABLE}) { id }
    }`)
    await open('/apps?copyTo=clocked')
    await page.getByRole('combobox', { name: 'From the app' }).click()
    await page.getByRole('option').first().click()
    await page.getByRole('table', { name: 'What the copy does' }).waitFor()
    const told = (await rowsOf('What the copy does').allInnerTexts()).map((row) => row.split('\t'))
    expect(told.map(([kind, name, , here]) => [kind, name, here?.split('\n')[0]])).toEqual([
      ['Feature', 'API calls', 'changes'],
      ['Feature', 'Single sign-on', 'stays'],
      ['Package', 'Basic', 'new'],
      ['Package', 'Extra calls', 'new'],
    ])
    const changed = page.getByRole('table', { name: 'Before and after of API calls' })
    expect((await changed.locator('tbody tr').allInnerTexts())[0]).toMatch(/^Name\s+Calls\s+API calls$/)
    await page.getByRole('button', { name: 'Copy to Clocked' }).click()
    await page.getByText(/^Catalogue copied to .*Packages are drafts/).waitFor()
    const { packages, features } = await dashboard.server.dashboard.data(
      '{ packages(appId: "clocked") { id status } features(appId: "clocked") { id name type } }',
    )
    expect(packages).toEqual([
      { id: 'basic', status: 'DRAFT' },
      { id: 'extra', status: 'DRAFT' },
    ])
    expect(features).toEqual([
      { id: 'calls', name: 'API calls', type: 'CONSUMABLE' },
      { id: 'sso', name: 'SSO', type: 'CONSUMABLE' },
    ])
  })

  it('with a test clock move it by a day, a month, a year and to a time', async () => {
    const { page, open } = visit
    const now = async () =>
      new Date((await dashboard.server.dashboard.data('{ app(appId: "clocked") { now } }')).app.now)
    await open('/apps')
    await page.getByRole('button', { name: 'Move the clock' }).click()
    const dialog = page.getByRole('dialog')
    const start = await now()
    for (const [name, years, months, days] of [
      ['A day later', 0, 0, 1],
      ['A year later', 1, 0, 0],
    ] as const) {
      const before = await now()
      await dialog.getByRole('button', { name }).click()
      const wanted = new Date(before)
      wanted.setUTCFullYear(
        before.getUTCFullYear() + years,
        before.getUTCMonth() + months,
        before.getUTCDate() + days,
      )
      await expect.poll(now).toEqual(wanted)
      await visit.idle()
    }
    const year = start.getUTCFullYear() + 3
    await dialog.getByLabel('Or to (UTC)').fill(`${year}-01-31T10:00`)
    await dialog.getByRole('button', { name: 'Move clock' }).click()
    await expect.poll(now).toEqual(new Date(`${year}-01-31T10:00:00Z`))
    await visit.idle()
    // From the last day of a long month to the last one of a short one.
    await dialog.getByRole('button', { name: 'A month later' }).click()
    const last = new Date(Date.UTC(year, 2, 0, 10))
    await expect.poll(now).toEqual(last)

    await dialog.getByLabel('Or to (UTC)').fill('2020-01-01T00:00')
    await dialog.getByRole('button', { name: 'Move clock' }).click()
    await dialog
      .getByText(/forward/)
      .last()
      .waitFor()
    expect(await now()).toEqual(last)
    await open('/apps/clocked')
    await page.getByText('Clocked runs on a test clock').waitFor()
  })
})

describe('gap: the sample catalogue in the pages', () => {
  it('fills the home page by one click, and is gone by another', async () => {
    const { page, open } = visit
    await open('/apps/sampled')
    await page.getByText('No recent usage of a limited feature.').waitFor()
    await page.getByRole('button', { name: 'Load a sample catalogue' }).click()
    await page.getByText('You are looking at sample data').waitFor()
    await page.getByRole('meter').nth(5).waitFor()
    await page.getByText('Last 30 days', { exact: true }).click()
    const chart = page.getByRole('img', { name: /^Last 30 days: [1-9][\d,]* checks, [1-9][\d,]* records/ })
    await chart.waitFor()
    await page
      .getByText(/^.+ has used [\d,]+ of [\d,]+ of [A-Z]/)
      .first()
      .waitFor()

    await page.getByRole('button', { name: 'Remove the sample' }).click()
    await page.getByText(/^This deletes 200 users with \d+ subscriptions/).waitFor()
    await page.getByRole('button', { name: 'Delete the sample' }).click()
    await page.getByText('Sample deleted.').waitFor()
    await page.getByText('No recent usage of a limited feature.').waitFor()
    await page.getByRole('img', { name: 'Last 30 days: 0 checks, 0 records' }).waitFor()
    expect(await page.getByRole('button', { name: 'Load a sample catalogue' }).isEnabled()).toBe(true)
  })
})

describe('gap: billing set up in the pages', () => {
  const SECRET = 'whsec_of_this_test'

  /** An app with one package, whose keys of Stripe are set. */
  async function openShop(id: string): Promise<void> {
    const { setProviderAccount } = await dashboard.server.dashboard.data(
      `mutation ($id: String!, $input: ProviderAccountInput!) {
        createApp(id: $id, name: "Shop") { id }
        createPackage(appId: $id, input: {id: "basic", name: "Basic"}) { id }
        setProviderAccount(appId: $id, provider: "stripe", input: $input) { webhookUrl }
      }`,
      { id, input: { secretKey: stripe.key, webhookSecret: SECRET } },
    )
    stripe.register({ urls: [setProviderAccount.webhookUrl], secret: SECRET })
  }

  it('accepts the keys of a provider and never shows them again', async () => {
    const { page, open } = visit
    await open('/apps/default/billing?tab=providers')
    await page.getByRole('button', { name: 'Set up' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Secret key' }).fill(stripe.key)
    await dialog.getByRole('textbox', { name: 'Webhook signing secret' }).fill(SECRET)
    const address = await dialog.getByRole('figure', { name: 'Webhook URL' }).innerText()
    expect(address.trim()).toBe(`${dashboard.server.url}/webhooks/stripe/default`)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(`Key ends in ${stripe.key.slice(-4)}.`).waitFor()
    await page.getByText('Test mode').waitFor()
    // The other one is the sandbox's.
    await page.getByRole('button', { name: 'Test', exact: true }).last().click()
    await page
      .getByRole('status')
      .filter({ hasText: /stripe/i })
      .waitFor()

    await page.reload()
    await page.getByRole('button', { name: 'Change keys' }).click()
    expect(await dialog.getByRole('textbox', { name: 'Secret key' }).inputValue()).toBe('')
    expect(await dialog.getByRole('textbox', { name: 'Webhook signing secret' }).inputValue()).toBe('')
    expect(await page.content()).not.toContain(stripe.key)
    expect(await page.content()).not.toContain(SECRET)
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    const removing = page.getByRole('dialog', { name: 'Remove Stripe?' })
    await removing.getByText('No subscription is charged through Stripe.').waitFor()
    await removing.getByRole('button', { name: 'Cancel' }).click()
  })

  it('imports prices from the provider, by its list and by id', async () => {
    const { page, open } = visit
    await openShop('prices')
    const listed = stripe.sell({ name: 'Basic plan', amount: 1500, currency: 'eur' })
    const named = stripe.sell({ name: 'Basic, yearly', amount: 15000, currency: 'eur', interval: 'year' })
    await open('/apps/prices/packages/basic?tab=prices')
    const dialog = page.getByRole('dialog')
    const prices = page.getByRole('table', { name: 'Prices' })

    await page.getByRole('button', { name: 'Import from Stripe' }).click()
    await dialog.getByRole('combobox', { name: 'A price at Stripe' }).click()
    await page.getByRole('option', { name: 'Basic plan, €15.00 per month' }).click()
    expect(await dialog.getByLabel('Or enter its id').inputValue()).toBe(listed.id)
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByText('stripe in test mode moves no money.').waitFor()
    await dialog.getByText('€15.00 per month').waitFor()
    await dialog.getByRole('button', { name: 'Import price' }).click()
    await prices.getByText('€15.00 per month').waitFor()

    await page.getByRole('button', { name: 'Import from Stripe' }).click()
    await dialog.getByRole('combobox', { name: 'A price at Stripe' }).click()
    const taken = page.getByRole('option', { name: 'Basic plan, €15.00 per month (of basic)' })
    expect(await taken.getAttribute('data-combobox-disabled')).toBe('true')
    await page.keyboard.press('Tab')
    await dialog.getByLabel('Or enter its id').fill('price_of_nobody')
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByRole('button', { name: 'Import price' }).click()
    await dialog.getByText('Price not found at Stripe: "price_of_nobody"').waitFor()
    await dialog.getByLabel('Or enter its id').fill(named.id)
    await dialog.getByRole('button', { name: 'Review price' }).click()
    await dialog.getByRole('button', { name: 'Import price' }).click()
    await prices.getByText('€150.00 per year').waitFor()
    const { prices: kept } = await dashboard.server.dashboard.data(
      '{ prices(appId: "prices", packageId: "basic") { id amount provider } }',
    )
    expect(kept).toEqual([
      { id: listed.id, amount: 1500, provider: 'stripe' },
      { id: named.id, amount: 15000, provider: 'stripe' },
    ])
  })

  it('shows what a provider sent, and has it handled again', async () => {
    const { page, open } = visit
    await openShop('notices')
    const customer = stripe.customer({ email: 'payer@example.com' })
    stripe.updateCustomer(customer.id, { name: 'Payer' })
    await stripe.deliver()
    await jobsDone(dashboard.server.databaseUrl)
    await open('/apps/notices/billing?tab=notices')
    const row = rowsOf('Webhook events').filter({ hasText: 'customer.updated' })
    await row.getByText('Done', { exact: true }).waitFor()
    const handledAt = async () => {
      const { notices } = await dashboard.server.dashboard.data(
        '{ notices(appId: "notices", type: "customer.updated") { handledAt } }',
      )
      expect(notices).toHaveLength(1)
      return Date.parse(notices[0].handledAt ?? '')
    }
    const before = await handledAt()

    await row.getByRole('button', { name: /^View / }).click()
    const sent = page.getByRole('figure', { name: 'Webhook payload' })
    expect(await sent.innerText()).toContain(customer.id)
    await page.getByRole('button', { name: 'Close' }).click()
    await row.getByRole('button', { name: /^Replay/ }).click()
    await page.getByText('Processing the webhook event again.').waitFor()
    await expect.poll(handledAt).toBeGreaterThan(before)
    await row.getByText('Done', { exact: true }).waitFor()
  })
})

describe('gap: GraphiQL', () => {
  it('asks the Admin API in the name of whoever is signed in, and knows its schema', async () => {
    const { page, open } = visit
    await open('/apps/default/graphiql')
    expect(await page.getByLabel('API key').count()).toBe(0)
    // GraphiQL ignores the button until its editor is there, which it does not show.
    const result = page.locator('.result-window').getByText('Single sign-on')
    const execute = async () => {
      await page.getByRole('button', { name: /^Execute query/ }).click()
      await result.waitFor({ timeout: 5_000 })
    }
    await vi.waitFor(execute, PATIENCE_MS)
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.getByText('Root Types').waitFor()
    expect(visit.problems).toEqual([])
  })
})
