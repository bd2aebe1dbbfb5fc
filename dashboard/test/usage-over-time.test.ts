import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../../server/test/harness/axe.ts'
import { publishPackage } from '../../server/test/harness/catalogue.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, picture, type Visit } from './harness/dashboard.ts'

// Usage by date on the pages of a user and of a feature, their CSV, the events of a user, and which events there are.

const dashboard = shared(() => openDashboard())
let visit: Visit
beforeAll(async () => {
  const { server } = dashboard
  const app = { id: 'default', ...server }
  await publishPackage(app, 'plan', { '=calls': { limit: 100 } })
  for (const id of ['+ada', 'bob'])
    await server.admin.data(
      'mutation ($id: String!) { createUser(input: { id: $id }) { id } subscribe(userId: $id, packageIds: "plan") { id } }',
      { id },
    )
  for (const [userId, delta] of [
    ['+ada', 5],
    ['+ada', 2],
    ['bob', 30],
  ])
    await server.admin.call('recordUsage { recorded }', { input: { userId, featureId: '=calls', delta } })
  visit = await dashboard.signedIn()
})
afterAll(async () => {
  await visit?.close()
})

const USER = '/apps/default/users/%2Bada'
const FEATURE = '/apps/default/features/%3Dcalls'
const today = () => new Date().toISOString().slice(0, 10)

async function exported(role: 'button' | 'link'): Promise<string[]> {
  const { page } = visit
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole(role, { name: 'Export CSV' }).click(),
  ])
  return (await readFile(await download.path(), 'utf8')).replace('\ufeff', '').trimEnd().split('\r\n')
}

describe('gap: usage series: the pages', () => {
  it.each([
    [`${USER}?feature=%3Dcalls`, 7, "'+ada"],
    [FEATURE, 37, ''],
  ])('%s shows and exports usage by date', async (path, total, user) => {
    const { page, open, idle, problems } = visit
    await open(path)
    const section = page.getByRole('region', { name: 'Usage over time' })
    await section.getByText(`${total} `, { exact: false }).first().waitFor()
    await section.getByRole('img', { name: `to ${today()}: ${total}` }).waitFor()
    await idle()
    expect(await violations(page)).toEqual([])
    await picture(page, `usage-over-time-${total}`)
    await section.getByRole('textbox', { name: 'From' }).fill(today())
    await section.getByText('Hours in UTC.').waitFor()
    await idle()
    const [head, ...lines] = await exported('button')
    expect(head).toBe('start,feature,user,used')
    expect(lines).toHaveLength(24)
    expect(lines.every((line) => line.includes(`,'=calls,${user},`))).toBe(true)
    expect(lines.reduce((sum, line) => sum + Number(line.split(',').at(-1)), 0)).toBe(total)
    expect(problems).toEqual([])
  })

  it('exports the ledger of a user', async () => {
    await visit.open(`${USER}?tab=ledger`)
    const [head, ...lines] = await exported('link')
    expect(head).toBe('id,user,recordedAt,feature,action,change,totalAfter,periodStart,credit')
    expect(lines.map((line) => line.replaceAll('"', '').split(',').slice(3, 7))).toEqual([
      ["'=calls", 'ADD', '2', '7'],
      ["'=calls", 'ADD', '5', '5'],
    ])
  })
})

describe('gap: events: the pages', () => {
  it('lists the events of a user with their payloads', async () => {
    const { page, open, idle, problems } = visit
    await open(`${USER}?tab=events`)
    const events = page.getByRole('list', { name: 'Events' })
    await events.getByText('subscription.created').click()
    await events.getByText('"packageId": "plan"').waitFor()
    await idle()
    expect(await violations(page)).toEqual([])
    await picture(page, 'user-events')
    await page.getByRole('combobox', { name: 'Type' }).fill('user.cre')
    await page.getByRole('option', { name: 'user.created' }).click()
    await idle()
    expect(await events.getByRole('listitem').count()).toBe(1)
    expect(problems).toEqual([])
  })

  it('fit on a phone: the tab is in sight, and payloads break their lines', async () => {
    const phone = await dashboard.signedIn(undefined, { viewport: { width: 390, height: 844 } })
    const { page } = phone
    await phone.open(`${USER}?tab=events`)
    const box = await page.getByRole('tab', { name: 'Events' }).boundingBox()
    expect((box?.x ?? 390) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    await page.getByRole('list', { name: 'Events' }).getByText('entitlements.changed').first().click()
    await page.getByText('"entitlements": [').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await phone.close()
  })

  it('turns usage.recorded on and sets the retention', async () => {
    const { page, open } = visit
    await open('/apps/default/webhooks')
    const settings = page.getByRole('region', { name: 'Event settings' })
    await settings.getByLabel('Send usage.recorded').check()
    await settings.getByLabel('Event retention in days').fill('60')
    await settings.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const saved = await dashboard.server.dashboard.call('eventSettings { usageRecorded keptDays }')
    expect(saved).toEqual({ usageRecorded: true, keptDays: 60 })
  })

  it('edits the thresholds of a feature', async () => {
    const { page, open } = visit
    await open(`${FEATURE}?edit=1`)
    const input = page.getByLabel('Usage thresholds in percent')
    expect(await input.inputValue()).toBe('80, 100')
    await input.fill('50, x')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Thresholds are whole percentages').waitFor()
    await input.fill('50, 90%')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').first().waitFor()
    const { feature } = await dashboard.server.admin.data('{ feature(id: "=calls") { thresholds } }')
    expect(feature.thresholds).toEqual([50, 90])
  })
})
