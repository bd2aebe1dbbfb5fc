import { beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../../server/test/harness/client.ts'
import { rowsOf } from '../../server/test/harness/database.ts'
import { adminClient, startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, type Visit } from './harness/dashboard.ts'

const dashboard = shared(openDashboard)
/** another process on the same database */
const second = shared(() => startTestServer({ databaseUrl: dashboard.server.databaseUrl }))
let visit: Visit
beforeAll(async () => {
  visit = await dashboard.signedIn()
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
  await page.getByRole('button', { name: 'Done' }).click()
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

    await page.getByRole('button', { name: /^Actions for Production/ }).click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    const latter = await takeSecret()
    expect(latter).not.toBe(former)
    expect([await answer(former), await answer(latter)]).toEqual(['answered', 'answered'])
    await page.getByText(/^Ends /).waitFor()

    await endOverlap()
    expect([await answer(former), await answer(latter)]).toEqual(['UNAUTHENTICATED', 'answered'])

    await open('/apps/default/keys')
    const row = page.getByRole('row').filter({ hasText: 'Production' }).filter({ hasText: 'Active' })
    await row.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByText(/^It was last used on|^The key has never been used/).waitFor()
    await page.getByText('1 other key keeps working.').waitFor()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('Revoked', { exact: true }).waitFor()
    expect(await answer(latter)).toBe('UNAUTHENTICATED')
    expect(visit.problems).toEqual([])
  })
})

describe('gap: scope and expiry of API keys in the dashboard', () => {
  const keyNamed = async (name: string) => {
    const { apiKeys } = await dashboard.server.dashboard.data(
      '{ apiKeys(appId: "default") { name scope expiresAt } }',
    )
    return apiKeys.find((key: { name: string }) => key.name === name)
  }

  it('are chosen for a new key, changed, and explained', async () => {
    const { page, open } = visit
    await open('/apps/default/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Meter')
    expect(await dialog.getByRole('radio', { name: 'All', exact: true }).isChecked()).toBe(true)
    await dialog.getByText('Check access, record usage and show it.').waitFor()
    await dialog.getByRole('radio', { name: 'Usage', exact: true }).check()
    await dialog.getByRole('combobox', { name: 'Expires' }).click()
    await page.getByRole('option', { name: 'In 30 days' }).click()
    await dialog.getByText('Requests with the key fail after this time').waitFor()
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByText(/It works until/).waitFor()
    // The example is a call that the key may make.
    const example = page.getByRole('figure', { name: 'A first call with curl' })
    expect(await example.innerText()).toContain('canUseFeature')
    const secret = await takeSecret()
    expect(await answer(secret)).toBe('FORBIDDEN')
    const made = await keyNamed('Meter')
    expect(made.scope).toBe('USAGE')
    const days = (Date.parse(made.expiresAt) - Date.now()) / 86_400_000
    expect(Math.abs(days - 30)).toBeLessThan(0.1)

    const row = page.getByRole('row').filter({ hasText: 'Meter' })
    await row.getByText('Usage', { exact: true }).waitFor()
    await row.getByText(/^Ends /).waitFor()
    await row.getByRole('button', { name: /^Actions for Meter/ }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await dialog.getByLabel('Name').fill('Reports')
    await dialog.getByRole('radio', { name: 'Read', exact: true }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/ saved\. The change applies immediately\.$/).waitFor()
    expect(await answer(secret)).toBe('answered')
    expect(await keyNamed('Reports')).toEqual({ ...made, name: 'Reports', scope: 'READ' })

    const edited = page.getByRole('row').filter({ hasText: 'Reports' })
    await edited.getByRole('button', { name: /^Actions for Reports/ }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await dialog.getByLabel('Until').fill('2020-01-01T00:00')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('expiresAt must be in the future').waitFor()
    await dialog.getByRole('combobox', { name: 'Expires' }).click()
    await page.getByRole('option', { name: 'Never' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await edited.getByText('Active', { exact: true }).waitFor()
    expect(await keyNamed('Reports')).toMatchObject({ scope: 'READ', expiresAt: null })
    expect(visit.problems).toEqual([])
  })
})

describe('gap: the keys of user tokens in the dashboard', () => {
  const newToken = async (): Promise<string> => {
    const made = await dashboard.server.admin.data('mutation { generateUserToken(userId: "ada") { token } }')
    return made.generateUserToken.token
  }
  const kidOf = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString()).kid

  /** What both processes say to a user's token. */
  async function answerTo(token: string): Promise<string> {
    const answers = new Set<string>()
    for (const { url } of [dashboard.server, second]) {
      const { errors } = await new Client(`${url}/client/graphql`, { Authorization: token }).ask(
        '{ me { id } }',
      )
      answers.add(errors?.[0]?.extensions.code ?? 'answered')
    }
    return [...answers].join(' and ')
  }

  it('rotates with an overlap of an hour, and revokes at once', async () => {
    const { page, open } = visit
    await dashboard.server.admin.data('mutation { createUser(input: {id: "ada"}) { id } }')
    await open('/apps/default/keys')
    await page.getByText('No keys yet. The first token creates one.').waitFor()
    const former = await newToken()
    await open('/apps/default/keys')
    const table = page.getByRole('table', { name: 'User token keys' })
    const rowOf = (token: string) => table.getByRole('row').filter({ hasText: kidOf(token) })
    await rowOf(former).getByText('Signing', { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Rotate the token key' }).click()
    await rowOf(former).getByText('Retired', { exact: true }).waitFor()
    expect(
      await rowOf(former)
        .getByText(/^until .*\d/)
        .count(),
    ).toBe(1)
    const { tokenKeys } = await dashboard.server.dashboard.data(
      '{ tokenKeys(appId: "default") { id retiredAt tokensEndAt } }',
    )
    const [signing, retired] = tokenKeys
    expect(signing).toMatchObject({ retiredAt: null, tokensEndAt: null })
    expect(retired.id).toBe(kidOf(former))
    expect(Date.parse(retired.tokensEndAt) - Date.parse(retired.retiredAt)).toBe(3_600_000)
    const latter = await newToken()
    expect(kidOf(latter)).not.toBe(kidOf(former))
    await rowOf(latter).getByText('Signing', { exact: true }).waitFor()
    expect([await answerTo(former), await answerTo(latter)]).toEqual(['answered', 'answered'])

    const dialog = page.getByRole('dialog', { name: 'Revoke the token key' })
    await rowOf(former)
      .getByRole('button', { name: /^Revoke/ })
      .click()
    await dialog.getByText(`Every token signed by ${kidOf(former)} is refused immediately`).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await answerTo(former)).toBe('answered')
    await rowOf(former)
      .getByRole('button', { name: /^Revoke/ })
      .click()
    await dialog.getByRole('button', { name: 'Revoke the token key' }).click()
    await rowOf(former).getByText('Revoked', { exact: true }).waitFor()
    expect(await rowOf(former).getByRole('button').count()).toBe(0)
    expect([await answerTo(former), await answerTo(latter)]).toEqual(['UNAUTHENTICATED', 'answered'])

    // Two hours on, nothing that the former one has signed is left.
    await rowsOf(
      { connectionString: dashboard.server.databaseUrl },
      `update token_key set revoked_at = null, retired_at = now() - interval '2 hours' where id = $1`,
      [kidOf(former)],
    )
    await open('/apps/default/keys')
    await rowOf(former).getByText('Retired', { exact: true }).waitFor()
    expect(
      await rowOf(former)
        .getByText(/^until /)
        .count(),
    ).toBe(0)
    expect(visit.problems).toEqual([])
  })
})
