import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { API_KEY } from '../../server/test/harness/server.ts'
import { type Dashboard, openDashboard, type Visit } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'

// The lines that the pages show are run as they stand: what a shell makes of them, and Node with the built SDK.

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const env = { PATH: process.env.PATH ?? '', TOLLGATE_API_KEY: API_KEY }

let dashboard: Dashboard
let visit: Visit
beforeAll(async () => {
  await run(process.execPath, ['build.mjs', '--if-stale'], { cwd: `${ROOT}/sdk` })
  dashboard = await openDashboard()
  await furnish(dashboard.server)
  await dashboard.server.dashboard.data(`mutation {
    createPrice(appId: "default", packageId: "basic", input: {amount: 900, currency: "eur", interval: "month"}) { id }
    createBillingTemplate(appId: "default", input: {id: "by-card", name: "By card", packageIds: ["basic"]}) { id }
  }`)
  visit = await dashboard.signedIn()
}, 180_000)
afterAll(() => dashboard?.close())

const linesOf = (figure: Locator) => figure.locator('pre').innerText()

const shell = async (lines: string) => JSON.parse((await run('sh', ['-c', lines], { env })).stdout)
const node = async (lines: string) =>
  (await run(process.execPath, ['--input-type=module', '-e', lines], { env, cwd: ROOT })).stdout

describe('gap: the first minute by its lines alone', () => {
  it.for([
    { language: 'curl', figure: 'The same with curl', by: shell },
    { language: 'Node SDK', figure: 'The same with the SDK', by: node },
  ])('$language', { timeout: 180_000 }, async ({ language, figure, by }) => {
    const { page, open, close } = await dashboard.signedIn()
    await page.clock.install()
    const appId = language.toLowerCase().replace(' ', '-')
    const { dashboard: api } = dashboard.server
    await api.data('mutation ($id: String!) { createApp(id: $id, name: "Lines") { id } }', { id: appId })
    await open(`/apps/${appId}`)
    const step = page.locator('[aria-current="step"]')
    // The page looks for what happened every four seconds.
    const lookAgain = () => page.clock.fastForward(4_000)
    const reached = async (title: string) => {
      await lookAgain()
      await step.getByText(title, { exact: true }).first().waitFor()
    }

    await page.getByRole('button', { name: 'Use a new key in these examples' }).click()
    await page.getByRole('radiogroup', { name: 'Language' }).getByText(language).click()
    await step.getByText(/tg_/).waitFor()
    const lines = () => linesOf(step.getByRole('figure', { name: figure }))
    await by(await lines())
    await reached('Create a package')
    await by(await lines())
    await reached('Publish it')
    await api.data('mutation ($appId: String!) { publishPackage(appId: $appId, id: "pro") { id } }', {
      appId,
    })
    await reached('Create a user')
    await by(await lines())
    await reached('Subscribe them')
    await by(await lines())
    await reached('Run your first check')
    expect(JSON.stringify(await by(await lines()))).toMatch(/access\W+true/)
    await lookAgain()
    await page.getByRole('heading', { name: 'Your first minute' }).waitFor({ state: 'detached' })
    await close()
  })
})

describe('gap: lines to copy', () => {
  it('of the playground ask what the page asked', async () => {
    const { page, open } = visit
    await open('/apps/default/playground?user=ada&feature=calls&delta=2')
    const check = await shell(await linesOf(page.getByRole('figure', { name: 'The check with curl' })))
    expect(check.data.canUseFeature).toMatchObject({ access: true, consumption: { used: 8, budget: 10 } })
    await page.getByRole('tab', { name: 'Node SDK' }).click()
    const said = await node(await linesOf(page.getByRole('figure', { name: 'The check with the SDK' })))
    expect(said).toMatch(/access: true/)
    expect(said).toContain(check.data.canUseFeature.reason)
  })

  it('of a playground question with quotes in it are still one question', async () => {
    const { page, open } = visit
    const user = `o'neil "$HOME" \\ \`id\``
    await open(`/apps/default/playground?user=${encodeURIComponent(user)}&feature=calls`)
    const asked = await shell(await linesOf(page.getByRole('figure', { name: 'The check with curl' })))
    expect(asked.data.canUseFeature.access).toBe(false)
    await page.getByRole('tab', { name: 'Node SDK' }).click()
    const said = await node(await linesOf(page.getByRole('figure', { name: 'The check with the SDK' })))
    expect(said).toMatch(/USER_NOT_FOUND/)
  })

  it('of a new key work with it', async () => {
    const { page, open } = visit
    await open('/apps/default/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Lines')
    await page.getByRole('button', { name: 'Create key' }).click()
    const listed = await shell(await linesOf(page.getByRole('figure', { name: 'A first call with curl' })))
    expect(listed.data.features).toContainEqual({ id: 'calls', name: 'API calls' })
    const said = await node(await linesOf(page.getByRole('figure', { name: 'A first call with the SDK' })))
    expect(said).toContain("id: 'calls'")
  })

  it('of a template make a payment link', async () => {
    const { page, open } = visit
    await open('/apps/default/billing')
    await page.getByRole('button', { name: 'More for the template By card' }).click()
    await page.getByRole('menuitem', { name: 'Create link' }).click()
    const made = await shell(await linesOf(page.getByRole('figure', { name: 'The same with curl' })))
    expect(made.data.generateSubscriptionLink.url).toMatch(`${dashboard.server.url}/checkout/`)
  })

  it("of a user's token ask about that user", async () => {
    const { page, open } = visit
    await open('/apps/default/users/ada')
    await page.getByRole('button', { name: /^More actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Create a token' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create a token' }).click()
    const asked = await shell(await linesOf(page.getByRole('figure', { name: 'A call with curl' })))
    expect(asked.data).toEqual({
      me: { id: 'ada', name: 'Ada Lovelace' },
      subscriptions: [{ package: { name: 'Basic' } }],
    })
    const said = await node(await linesOf(page.getByRole('figure', { name: 'In a page' })))
    expect(said).toMatch(/status: 'ACTIVE'/)
  })
})
