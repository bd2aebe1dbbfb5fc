import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../../server/test/harness/database.ts'
import { adminClient, startTestServer, type TestServer } from '../../server/test/harness/server.ts'
import { type Dashboard, openDashboard, type Visit } from './harness/dashboard.ts'

let dashboard: Dashboard
/** another process on the same database */
let second: TestServer
let visit: Visit
beforeAll(async () => {
  dashboard = await openDashboard()
  second = await startTestServer({ databaseUrl: dashboard.server.databaseUrl })
  visit = await dashboard.signedIn()
})
afterAll(async () => {
  await second?.stop()
  await dashboard?.close()
})

/** What both processes say to a key. */
async function answer(secret: string): Promise<string> {
  const answers = new Set<string>()
  for (const { url } of [dashboard.server, second]) {
    const { errors } = await adminClient(url, secret).ask('{ features { id } }')
    answers.add(errors?.[0]?.extensions.code ?? 'answered')
  }
  return [...answers].join(' and ')
}

/** Has the time come at which a key that was rotated ends. */
async function endOverlap(): Promise<void> {
  const sql = (text: string) => rowsOf({ connectionString: dashboard.server.databaseUrl }, text)
  await sql('update api_key set expires_at = now() where expires_at is not null')
  await sql('update app set version = version + 1')
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

    await endOverlap()
    expect([await answer(former), await answer(latter)]).toEqual(['UNAUTHENTICATED', 'answered'])

    const row = page.getByRole('row').filter({ hasText: 'Production' }).filter({ hasText: 'Active' })
    await row.getByRole('button', { name: /^Revoke/ }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('Revoked', { exact: true }).waitFor()
    expect(await answer(latter)).toBe('UNAUTHENTICATED')
    expect(visit.problems).toEqual([])
  })
})
