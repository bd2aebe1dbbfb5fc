import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminClient } from '../../server/test/harness/server.ts'
import { type Dashboard, openDashboard, type Visit } from './harness/dashboard.ts'

let dashboard: Dashboard
let visit: Visit
beforeAll(async () => {
  dashboard = await openDashboard()
  visit = await dashboard.signedIn()
})
afterAll(() => dashboard?.close())

const answer = async (secret: string) => {
  const { errors } = await adminClient(dashboard.server.url, secret).ask('{ features { id } }')
  return errors?.[0]?.extensions.code ?? 'answered'
}

/** The secret that is shown this once, and then away with it. */
async function takeSecret(): Promise<string> {
  const { page } = visit
  const secret = (await page.getByRole('figure', { name: 'The secret' }).innerText()).trim()
  await page.getByRole('button', { name: 'I have it' }).click()
  expect(await page.content()).not.toContain(secret)
  return secret
}

describe('spec §5: API keys in the dashboard', () => {
  it('shows a secret once, rotates it with an overlap, and revokes', async () => {
    const { page, open } = visit
    await open('/apps/default/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('The name is missing.').waitFor()
    await page.getByRole('dialog').getByLabel('Name').fill('Production')
    await page.getByRole('button', { name: 'Create key' }).click()
    const former = await takeSecret()
    expect(await answer(former)).toBe('answered')

    await page.getByRole('button', { name: /^Rotate Production/ }).click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    const latter = await takeSecret()
    expect(latter).not.toBe(former)
    expect([await answer(former), await answer(latter)]).toEqual(['answered', 'answered'])
    await page.getByText(/^Ends /).waitFor()

    const row = page.getByRole('row').filter({ hasText: 'Ends' })
    await row.getByRole('button', { name: /^Revoke/ }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('Revoked', { exact: true }).waitFor()
    expect([await answer(former), await answer(latter)]).toEqual(['UNAUTHENTICATED', 'answered'])
    expect(visit.problems).toEqual([])
  })
})
