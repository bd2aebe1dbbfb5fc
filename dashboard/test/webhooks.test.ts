import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { type Receiver, startReceiver } from '../../server/test/harness/receiver.ts'
import { MASTER_KEY_SETTINGS } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, picture, type Visit } from './harness/dashboard.ts'

// A member sets up an endpoint, sees it fail, repairs it and sends again what was missed.

const dashboard = shared(() =>
  openDashboard({ env: { ...MASTER_KEY_SETTINGS, TOLLGATE_WEBHOOK_ALLOW_PRIVATE: 'on' } }),
)
let visit: Visit
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  visit = await dashboard.signedIn()
})
afterAll(async () => {
  await visit?.close()
  await receiver?.stop()
})
beforeEach(() => {
  receiver.received.length = 0
})

const button = (name: string | RegExp) => visit.page.getByRole('button', { name })
const received = (count: number) =>
  vi.waitUntil(() => receiver.received.length >= count && receiver.received, { timeout: PATIENCE_MS })
const verified = (secret: string) =>
  receiver.received.map(({ body, headers }) =>
    new Webhook(secret).verify(body, headers as Record<string, string>),
  )

describe('gap: webhooks: the pages', () => {
  let secret: string

  it('creates an endpoint, and shows its secret once', async () => {
    const { page, open, problems } = visit
    await open('/apps/default/webhooks')
    await button('New endpoint').click()
    await page.getByLabel('URL').fill('not a URL')
    await button('Create endpoint').click()
    await page.getByText('url must be an absolute http or https URL').waitFor()
    await page.getByLabel('URL').fill(receiver.url)
    await page.getByLabel('Description').fill('CRM')
    await button('Create endpoint').click()
    const shown = page.getByRole('figure', { name: 'The secret' })
    secret = (await shown.innerText()).trim()
    expect(secret).toMatch(/^whsec_/)
    await button('Done').click()
    await page.getByRole('heading', { level: 1, name: receiver.url }).waitFor()
    expect(await page.getByText(secret).count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('sends a test event, shows its failure and its attempts, and after a repair sends it again', async () => {
    const { page, problems, idle } = visit
    receiver.answer = (_, response) => {
      response.writeHead(500).end('The database is down')
      return undefined
    }
    await button('Send a test event').click()
    await received(1)
    expect(verified(secret)).toMatchObject([{ type: 'webhook.test', appId: 'default' }])
    const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row', { name: /webhook.test/ })
    await row.getByText(/Responded with 500\. Next attempt/).waitFor()
    await page.getByText('Deliveries are failing').waitFor()
    await row.getByRole('button', { name: /^View/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Delivery' })
    await dialog.getByText('The database is down').first().waitFor()
    await dialog.getByRole('figure', { name: 'Body of the request' }).getByText('webhook.test').waitFor()
    expect(await dialog.getByText(/^\d+ ms$/).count()).toBeGreaterThan(0)
    // The first retry follows within seconds.
    expect(await dialog.getByText(/\d:\d\d:\d\d\s[AP]M$/).count()).toBeGreaterThan(0)
    await idle()
    expect(await violations(page)).toEqual([])
    await picture(page, 'webhook-delivery')
    const desk = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 844 })
    await dialog.getByText('The database is down').first().waitFor()
    if (desk) await page.setViewportSize(desk)
    await page.keyboard.press('Escape')
    receiver.answer = () => 200
    await row.getByRole('button', { name: /^Resend/ }).click()
    await row.getByText('succeeded').waitFor()
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
    expect(ids.size).toBe(1)
    await vi.waitUntil(async () => (await page.getByText('Deliveries are failing').count()) === 0, {
      timeout: PATIENCE_MS,
    })
    expect(problems).toEqual([])
  })

  it('rotates the secret', async () => {
    const { page } = visit
    await button('Rotate the secret').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    const rotated = (await page.getByRole('figure', { name: 'The secret' }).innerText()).trim()
    expect(rotated).not.toBe(secret)
    await button('Done').click()
    await page.getByText('The previous secret signs as well until').waitFor()
    await button('Send a test event').click()
    await received(1)
    for (const each of [secret, rotated]) expect(verified(each)).toHaveLength(1)
  })

  it('filters by type, disables, enables and deletes an endpoint', async () => {
    const { page, idle } = visit
    await button('Edit').click()
    await page.getByRole('combobox', { name: 'Event types' }).fill('user.cre')
    await page.getByRole('option', { name: 'user.created' }).click()
    // The list stays open for more choices, over the buttons.
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Receives user.created.').waitFor()
    await dashboard.server.admin.call('createUser { id }', { input: { id: 'ada' } })
    await dashboard.server.admin.call('createFeature { id }', {
      input: { id: 'f', name: 'F', type: 'BINARY' },
    })
    await received(1)
    expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(['user.created'])
    await button('Disable').click()
    await button('Enable').waitFor()
    expect(await button('Send a test event').isDisabled()).toBe(true)
    await button('Enable').click()
    await button('Disable').waitFor()
    await button(/^Delete$/).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Create your first endpoint' }).waitFor()
    await idle()
    expect(visit.problems).toEqual([])
  })
})
