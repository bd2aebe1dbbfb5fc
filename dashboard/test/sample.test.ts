import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { shared } from '../../server/test/harness/shared.ts'
import { cutOff, openDashboard, picture, styleOf, type Visit } from './harness/dashboard.ts'

const dashboard = shared(openDashboard)

const SIZE = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }
const EVERYTHING = '{ features { id } packages(status: "PUBLISHED") { id } users(first: 1) { id } }'

/** Of an app that sells a plan with an add-on. */
async function paymentPage(): Promise<string> {
  const { generateSubscriptionLink } = await dashboard.server.dashboard.data(`mutation {
    createApp(id: "acme", name: "Acme Analytics") { id }
    team: createPackage(appId: "acme", input: {id: "team", name: "Team"}) { id }
    calls: createPackage(appId: "acme", input: {id: "calls", name: "10,000 extra calls", isAddon: true}) { id }
    publishTeam: publishPackage(appId: "acme", id: "team") { id }
    publishCalls: publishPackage(appId: "acme", id: "calls") { id }
    teamPrice: createPrice(appId: "acme", packageId: "team", input: {amount: 4900, currency: "eur", interval: "month"}) { id }
    callsPrice: createPrice(appId: "acme", packageId: "calls", input: {amount: 900, currency: "eur", interval: "month"}) { id }
    createBillingTemplate(appId: "acme", input: {id: "team", name: "Team", packageIds: ["team", "calls"]}) { id }
    generateSubscriptionLink(appId: "acme", templateId: "team", successUrl: "https://acme.example/", cancelUrl: "https://acme.example/") { url }
  }`)
  return generateSubscriptionLink.url
}

/** Of the pages that nothing else here opens, for the documentation alone. */
const MORE_PICTURES: Record<string, [name: string, path: string][]> = {
  light: [
    ['features', '/apps/default/features'],
    ['feature', '/apps/default/features/demo-api-calls'],
    ['packages', '/apps/default/packages'],
    ['users', '/apps/default/users'],
    ['subscriptions', '/apps/default/subscriptions'],
    ['revenue', '/apps/default/revenue?range=90&list=paid'],
    ['billing', '/apps/default/billing'],
    ['providers', '/apps/default/billing?tab=providers'],
    ['keys', '/apps/default/keys'],
    ['graphiql', '/apps/default/graphiql'],
    ['apps', '/apps'],
    ['members', '/members'],
  ],
  dark: [
    ['graphiql', '/apps/default/graphiql'],
    ['feature', '/apps/default/features/demo-api-calls'],
    ['revenue', '/apps/default/revenue?range=90&list=paid'],
  ],
  phone: [
    ['home', '/apps/default'],
    ['feature', '/apps/default/features/demo-api-calls'],
    ['users', '/apps/default/users'],
    ['user', '/apps/default/users/demo-user-001'],
    ['package', '/apps/default/packages/demo-team'],
    ['revenue', '/apps/default/revenue?range=90&list=paid'],
    ['graphiql', '/apps/default/graphiql'],
  ],
}

async function morePictures(visit: Visit, look: string): Promise<void> {
  if (process.env.TOLLGATE_PICTURES !== '1') return
  for (const [name, path] of MORE_PICTURES[look] ?? []) {
    await visit.open(path)
    await visit.idle()
    await picture(visit.page, `${name}-${look}`)
  }
}

const groundOf = (element: Locator) => styleOf(element, 'backgroundColor')

/** Pages with a wide table. */
const TABLES = [
  'users',
  'subscriptions',
  'revenue?range=90&list=mrr',
  'revenue?range=90&list=paid',
  'revenue?range=90&list=past-due',
  'packages/demo-team?tab=subscribers',
  'features/demo-api-calls?tab=users',
]

// On the way it makes the pictures of the documentation.
describe('gap: the sample catalogue', () => {
  it('fills every page with one click, and goes with one click', async () => {
    const { server } = dashboard
    const checkout = await paymentPage()
    const light = await dashboard.signedIn(undefined, { colorScheme: 'light', viewport: SIZE })
    const dark = await dashboard.signedIn(undefined, { colorScheme: 'dark', viewport: SIZE })
    await light.page.clock.install()
    const fourSecondsPass = () => light.page.clock.fastForward(4_000)
    await light.open('/apps/default')
    await light.page.getByRole('button', { name: 'Load a sample catalogue' }).click()
    await light.page.getByText('You are looking at sample data').waitFor()
    await light.page.getByText('Sample loaded').waitFor()
    await fourSecondsPass()
    await light.page.getByText('Sample loaded').waitFor({ state: 'detached' })
    // One that somebody would think twice about: a smaller budget for the team plan.
    await server.dashboard.data(`mutation {
      editPackage(appId: "default", id: "demo-team", input: {features: [
        {id: "demo-api-calls", entitlement: {limit: 20000}},
        {id: "demo-reports", entitlement: {limit: 50}},
        {id: "demo-seats", entitlement: {limit: 10, resetPeriod: NEVER}},
        {id: "demo-storage", entitlement: {limit: 100, resetPeriod: NEVER}},
        {id: "demo-export"}]}) { id }
    }`)

    await server.admin.data('{ canUseFeature(userId: "demo-user-001", featureId: "demo-sso") { access } }')
    await fourSecondsPass()
    await light.page.getByRole('heading', { name: 'Your first minute' }).waitFor({ state: 'detached' })
    for (const [scheme, visit] of Object.entries({ light, dark })) {
      const { page, open, go, problems } = visit
      await open('/apps/default')
      const [checks = ''] = await page.getByText(/^[\d,]+ checks$/).allInnerTexts()
      expect(Number(checks.replaceAll(/\D/g, ''))).toBeGreaterThan(0)
      expect(await page.getByRole('meter').count()).toBeGreaterThan(0)
      // The legend tells values only of what is pointed at.
      const legend = page.locator('.u-legend tr:visible')
      expect(await legend.allInnerTexts()).toEqual(['Checks', 'Records'])
      await page.getByRole('img', { name: /^Last day: / }).hover()
      expect(await legend.allInnerTexts()).toEqual(
        ['Time', 'Checks', 'Records'].map((name) => expect.stringMatching(new RegExp(`^${name}\\s*\\d`))),
      )
      await page.getByRole('heading', { level: 1 }).hover()
      await page.getByText('Time', { exact: true }).waitFor({ state: 'hidden' })
      await picture(page, `home-${scheme}`)

      await page.getByRole('meter').first().waitFor()
      const close = await page.getByRole('meter').first().getAttribute('aria-label')
      const userId = close?.split(' of ').at(-1) ?? ''
      await go(`/apps/default/users/${userId}?feature=demo-api-calls`)
      await page.getByRole('img', { name: /^Usage of API calls in the last \d+ periods$/ }).waitFor()
      await picture(page, `user-${scheme}`)

      await go('/apps/default/packages/demo-team')
      await page.getByRole('link', { name: 'Review and publish' }).waitFor()
      await picture(page, `package-${scheme}`)
      await go('/apps/default/packages/demo-team/publish')
      await page.getByRole('button', { name: /^Publish: [\d,]+ lose access$/ }).waitFor()
      await picture(page, `publish-${scheme}`)

      await go(`/apps/default/playground?user=${userId}&feature=demo-api-calls`)
      await page.getByRole('heading', { name: 'Step by step' }).waitFor()
      await picture(page, `playground-${scheme}`)
      const accent = await groundOf(page.getByRole('button', { name: 'Check access' }))
      expect(accent).toMatch(/^rgb/)
      await morePictures(visit, scheme)

      await page.goto(checkout)
      expect(await groundOf(page.getByRole('button', { name: /^Pay/ }))).toBe(accent)
      await picture(page, `checkout-${scheme}`)
      expect(problems).toEqual([])
    }

    if (process.env.TOLLGATE_PICTURES === '1') {
      const phone = await dashboard.signedIn(undefined, { colorScheme: 'light', viewport: PHONE })
      await morePictures(phone, 'phone')
      await phone.close()
    }

    for (const path of TABLES) {
      await light.open(`/apps/default/${path}`)
      await light.idle()
      expect([path, await cutOff(light.page)]).toEqual([path, []])
    }

    const { page, open, go, problems } = light
    await open('/apps/default/packages/demo-team')
    await page.getByRole('button', { name: 'Discard the draft' }).click()
    await page.getByText('These edits are not published yet').waitFor({ state: 'detached' })
    await go('/apps/default')
    await page.getByRole('button', { name: 'Remove the sample' }).click()
    await page.getByText(/^This deletes 200 users with \d+ subscriptions/).waitFor()
    await page.getByRole('button', { name: 'Delete the sample' }).click()
    await page.getByText('You are looking at sample data').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Load a sample catalogue' }).waitFor()
    await light.idle()
    expect(await server.admin.data(EVERYTHING)).toEqual({ features: [], packages: [], users: [] })
    expect(problems).toEqual([])
  })
})
