import { expect } from 'vitest'
import type { Data } from '../../../server/test/harness/client.ts'
import { OWNER } from '../../../server/test/harness/server.ts'
import { picture } from './dashboard.ts'
import type { Worker } from './day.ts'

export interface Job {
  job: string
  /** At most so many clicks, on a desk and on a phone, which opens the menu first: more would be a step back. */
  clicks: [desk: number, phone: number]
  /** Starts on the app's home page. */
  do(at: Worker): Promise<void>
}

const USER = (id: string) =>
  `{ subscriptions(userId: "${id}") { status cancelAt trialEndsAt scheduled { packageId } package { id } } }`
const liveOf = async ({ admin }: Worker, id: string): Promise<Data> => {
  const { subscriptions } = await admin.data(USER(id))
  return subscriptions.find(({ status }: Data) => status === 'ACTIVE')
}

/** Goes to a customer by the command bar, which a phone opens by a button. */
export async function openCustomer(at: Worker, name: string): Promise<void> {
  const { page, phone } = at
  if (phone) await page.getByRole('button', { name: 'Search', exact: true }).click()
  else await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: 'Go to a user' }).fill(name)
  await page.getByRole('button', { name: new RegExp(`^${name}`) }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await at.idle()
}

/** Finds a customer by a part of their name, as somebody does who has them on the telephone. */
async function findCustomer(at: Worker, name: string): Promise<void> {
  const { page, menu, type } = at
  await menu('Users')
  await type(page.getByRole('searchbox'), name.split(' ')[1] ?? name)
  await page.waitForURL(/search=/)
  await at.idle()
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await at.idle()
}

/** A secondary action of a user's page. */
export async function more({ page }: Worker, item: string): Promise<void> {
  await page.getByRole('button', { name: /^More actions for/ }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

async function openPackage(at: Worker, name: string): Promise<void> {
  await at.menu('Packages')
  await at.page.getByRole('link', { name, exact: true }).click()
  await at.page.getByRole('heading', { level: 1, name: new RegExp(`^${name}`) }).waitFor()
  await at.idle()
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** A product manager's day, in order: later jobs build on earlier ones. */
export const JOBS: Job[] = [
  {
    job: 'sign in',
    clicks: [2, 2],
    async do({ page, type, button, idle }) {
      await type(page.getByLabel('Email'), OWNER.email)
      await page.keyboard.press('Tab')
      await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
      await button('Sign in').click()
      // The sign-in page has a heading too, and for a moment there is none.
      await page.waitForURL(({ pathname }) => pathname.startsWith('/apps/'))
      await idle()
      await page.getByRole('heading', { level: 1 }).waitFor()
    },
  },
  {
    job: 'find a customer by a part of their name',
    clicks: [3, 4],
    async do(at) {
      await findCustomer(at, 'Ada Lovelace')
      await at.page.getByText('ada@example.com').first().waitFor()
    },
  },
  {
    job: 'see why a customer was denied',
    clicks: [1, 2],
    async do(at) {
      await openCustomer(at, 'Ada Lovelace')
      await at.page.getByRole('link', { name: 'No access' }).first().click()
      await at.page.getByText('Access denied', { exact: true }).waitFor()
      await at.page.getByRole('heading', { name: 'Step by step' }).waitFor()
    },
  },
  {
    job: 'create a feature',
    clicks: [5, 6],
    async do({ page, menu, type, button, admin }) {
      await menu('Features')
      await button('New feature').first().click()
      await type(page.getByRole('dialog').getByLabel('Name'), 'Report exports')
      await page
        .getByRole('dialog')
        .getByRole('radio', { name: /^Binary/ })
        .check()
      await page.getByRole('dialog').getByRole('button', { name: 'Create feature' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const { features } = await admin.data('{ features { name } }')
      expect(features).toContainEqual({ name: 'Report exports' })
    },
  },
  {
    job: 'add it to a package',
    clicks: [5, 6],
    async do(at) {
      await openPackage(at, 'Pro')
      await at.choose(at.page.getByRole('combobox', { name: 'Add a feature' }), 'Report exports')
      await at.button('Save draft').click()
      await at.page.getByText('These edits are not published yet').waitFor()
    },
  },
  {
    job: 'set a price',
    clicks: [7, 8],
    async do(at) {
      const { page, type } = at
      await openPackage(at, 'Pro')
      await page.getByRole('tab', { name: 'Prices' }).click()
      await at.button('Add price').click()
      const dialog = page.getByRole('dialog')
      await type(dialog.getByLabel('Amount'), '29')
      await dialog.getByRole('button', { name: 'Review price' }).click()
      await dialog.getByRole('button', { name: 'Add price' }).click()
      await page.getByRole('table', { name: 'Prices' }).getByText('$29.00 per month').waitFor()
    },
  },
  {
    job: 'publish for new subscribers only',
    clicks: [5, 6],
    async do(at) {
      const { page } = at
      await openPackage(at, 'Pro')
      await page.getByRole('link', { name: 'Review and publish' }).click()
      await page.getByRole('radio', { name: 'New subscribers only' }).check()
      await at.button('Publish').click()
      await page.getByText('Pro is published. New subscribers get it.').waitFor()
    },
  },
  {
    job: 'make a billing template',
    clicks: [6, 7],
    async do({ page, menu, type, choose, button }) {
      await menu('Billing')
      await button('New template').first().click()
      const dialog = page.getByRole('dialog')
      await type(dialog.getByLabel('Name'), 'Pro by card')
      await choose(dialog.getByRole('combobox', { name: 'Packages' }), 'Pro')
      await page.keyboard.press('Tab')
      await dialog.getByRole('button', { name: 'Create template' }).click()
      await page.getByText('Ready, Sandbox').waitFor()
    },
  },
  {
    job: 'make a payment link for a customer, found by name',
    clicks: [5, 6],
    async do({ page, menu, type, button }) {
      await menu('Billing')
      await button('More for the template Pro by card').click()
      await page.getByRole('menuitem', { name: 'Create link' }).click()
      const dialog = page.getByRole('dialog')
      await type(dialog.getByLabel('User', { exact: true }), 'hopper')
      await page.getByRole('option', { name: /Eve Hopper/ }).click()
      await dialog.getByRole('button', { name: 'Create link' }).click()
      await page.getByRole('link', { name: 'Open the payment page' }).waitFor()
    },
  },
  {
    job: 'upgrade a customer at once',
    clicks: [4, 5],
    async do(at) {
      const { page } = at
      await openCustomer(at, 'Ada Lovelace')
      await at.button('Change plan').click()
      await at.choose(page.getByRole('combobox', { name: 'New plan' }), 'Pro')
      await page.getByText('Takes effect now').waitFor()
      await at.button('Change now').click()
      await page.getByText('Ada Lovelace is now on Pro.').waitFor()
      expect(await liveOf(at, 'u-1001')).toMatchObject({ package: { id: 'pro' } })
    },
  },
  {
    job: 'schedule a downgrade',
    clicks: [4, 5],
    async do(at) {
      const { page } = at
      await openCustomer(at, 'Ada Lovelace')
      await at.button('Change plan').click()
      await at.choose(page.getByRole('combobox', { name: 'New plan' }), 'Basic')
      await at.button('Schedule change').click()
      await page.getByText(/^Ada Lovelace switches to Basic on /).waitFor()
      expect(await liveOf(at, 'u-1001')).toMatchObject({ scheduled: { packageId: 'basic' } })
    },
  },
  {
    job: 'take the downgrade back',
    clicks: [2, 3],
    async do(at) {
      await openCustomer(at, 'Ada Lovelace')
      await more(at, 'Undo change')
      await at.page.getByText('Ada Lovelace stays on Pro.').waitFor()
      expect(await liveOf(at, 'u-1001')).toMatchObject({ scheduled: null })
    },
  },
  {
    job: 'make an exception for a customer, until a day',
    clicks: [7, 8],
    async do(at) {
      const { page, type, admin } = at
      await openCustomer(at, 'Bob Noyce')
      await page.getByRole('tab', { name: 'Overrides' }).click()
      await at.button('New override').first().click()
      const dialog = page.getByRole('dialog')
      await at.choose(dialog.getByRole('combobox', { name: 'Feature' }), 'Single sign-on')
      await type(dialog.getByLabel(/^Until/), `${inDays(30)}T12:00`)
      await type(dialog.getByLabel('Reason'), 'Evaluating it')
      await dialog.getByRole('button', { name: /^(Set|Save)/ }).click()
      await dialog.waitFor({ state: 'detached' })
      const { overrides } = await admin.data('{ overrides(userId: "u-1002") { featureId expiresAt } }')
      expect(overrides).toEqual([{ featureId: 'sso', expiresAt: expect.stringContaining(inDays(30)) }])
      await picture(page, `overrides-${at.look}`)
    },
  },
  {
    job: 'start a trial',
    clicks: [5, 6],
    async do(at) {
      const { page } = at
      await openCustomer(at, 'Eve Hopper')
      await more(at, 'Start a trial')
      await at.choose(page.getByRole('combobox', { name: 'Plan or add-on' }), 'Pro')
      await at.button('Start trial').click()
      await page.getByText(/^Trial of Pro started for Eve Hopper\. It ends on /).waitFor()
    },
  },
  {
    job: 'cancel a subscription at the end of its period',
    clicks: [3, 4],
    async do(at) {
      const { page } = at
      await openCustomer(at, 'Bob Noyce')
      await more(at, 'Cancel subscription')
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel at period end' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await liveOf(at, 'u-1002')).toMatchObject({ cancelAt: expect.any(String) })
    },
  },
  {
    job: 'take the cancellation back',
    clicks: [3, 4],
    async do(at) {
      const { page } = at
      await openCustomer(at, 'Bob Noyce')
      await more(at, 'Keep subscription')
      await page.getByRole('dialog').getByRole('button', { name: 'Keep subscription' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await liveOf(at, 'u-1002')).toMatchObject({ cancelAt: null })
    },
  },
]
