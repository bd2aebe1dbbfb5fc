import type { BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SIGN_IN_TRIES } from '../../server/src/domain/limits.ts'
import { dashboardClient } from '../../server/test/harness/client.ts'
import { OWNER } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { openDashboard, signIn } from './harness/dashboard.ts'
import { furnish } from './harness/furnish.ts'
import { cookiesSent, type OtherSite, openOtherSite } from './harness/other-site.ts'

const dashboard = shared(openDashboard)
let other: OtherSite
/** who has signed in, and then looks at other sites */
let victim: BrowserContext
beforeAll(async () => {
  await furnish(dashboard.server)
  other = await openOtherSite()
  victim = (await dashboard.signedIn()).page.context()
})
afterAll(async () => {
  await other?.close()
})

const COOKIE = 'tollgate_session'

/** When the page's first request to this address is over, whether or not the page may see the answer. */
const ended = (page: Page, url: string): Promise<void> =>
  new Promise((resolve) => {
    const note = (request: Request) => {
      if (request.url().startsWith(url)) resolve()
    }
    page.on('requestfinished', note)
    page.on('requestfailed', note)
  })

describe('gap: another site uses its visitor’s session', () => {
  const MUTATION = JSON.stringify({
    query:
      'mutation { createFeature(appId: "default", input: {id: "forged", name: "Forged", type: BINARY}) { id } }',
  })
  const CSV = 'id,email\nada,forged@example.com\n'
  const API = '/dashboard/graphql'
  const IMPORT = '/dashboard/import/users?app=default'

  /** A form's only field, so that with text/plain its body is what `body` says. */
  const form = (path: string, type: string, body: string) => {
    const [name = '', value = ''] = body.includes('=') ? body.split('=', 2) : [body, '']
    const quoted = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    return `<form method="post" action="${dashboard.server.url}${path}" enctype="${type}">
      <textarea name="${quoted(name)}">${quoted(value)}</textarea></form><script>document.forms[0].submit()</script>`
  }
  const call = (path: string, options: string) =>
    `<script>fetch('${dashboard.server.url}${path}', { method: 'POST', credentials: 'include', ${options} })</script>`
  const quote = (body: string) => `body: ${JSON.stringify(body)}`

  const ASKS_FIRST = 'a script that asks first'
  const ATTACKS: [name: string, path: string, page: () => string][] = [
    [
      'a form that sends JSON as text',
      API,
      () => form(API, 'text/plain', `${MUTATION.slice(0, -1)},"x":"="}`),
    ],
    ['a form of fields', API, () => form(API, 'application/x-www-form-urlencoded', `query=${MUTATION}`)],
    ['a form with a file', API, () => form(API, 'multipart/form-data', `query=${MUTATION}`)],
    ['a script that sends text', API, () => call(API, `mode: 'no-cors', ${quote(MUTATION)}`)],
    [ASKS_FIRST, API, () => call(API, `headers: { 'Content-Type': 'application/json' }, ${quote(MUTATION)}`)],
    ['a form that imports users', IMPORT, () => form(IMPORT, 'text/plain', CSV)],
    ['a script that imports users', IMPORT, () => call(IMPORT, `mode: 'no-cors', ${quote(CSV)}`)],
    [
      'a picture that is a mutation',
      API,
      () =>
        `<img src="${dashboard.server.url}${API}?query=${encodeURIComponent(JSON.parse(MUTATION).query)}">`,
    ],
  ]

  it.for(
    ATTACKS.flatMap(([name, path, page]) =>
      (['near', 'far'] as const).map((from) => ({ name, path, page, from })),
    ),
  )('$name, from a $from site, changes nothing', async ({ name, path, page: html, from }) => {
    const page = await victim.newPage()
    other.show(html())
    const attacked = `${dashboard.server.url}${path}`
    const cookies = await cookiesSent(page, attacked)
    const answered = ended(page, attacked)
    await page.goto(other[from])
    await answered
    // A neighbour's requests carry the session: what refuses them is the service, not the browser. A script that
    // has to ask first never gets to send it.
    const carries = from === 'near' && name !== ASKS_FIRST
    await expect.poll(cookies).toContainEqual(carries ? expect.stringContaining(COOKIE) : undefined)
    expect(cookies().some((cookie) => cookie !== undefined)).toBe(carries)
    const { features, user } = await dashboard.server.dashboard.data(
      '{ features(appId: "default") { id } user(appId: "default", id: "ada") { email } }',
    )
    expect({ features, user }).toEqual({
      features: [{ id: 'calls' }, { id: 'sso' }],
      user: { email: 'ada@example.com' },
    })
    await page.close()
  })

  it('the same calls from the dashboard itself go through', async () => {
    const page = await victim.newPage()
    await page.goto(dashboard.server.url)
    const answer = await page.evaluate(
      `fetch('${API}', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: ${JSON.stringify(
        JSON.stringify({ query: '{ me { email } }' }),
      )} }).then((response) => response.json())`,
    )
    expect(answer).toEqual({ data: { me: { email: OWNER.email } } })
    await page.close()
  })
})

describe('gap: another site puts the dashboard into a frame', () => {
  it.for(['/', '/sign-in', '/apps/default/keys', '/members'])('%s stays out of it', async (path) => {
    const page = await victim.newPage()
    other.show(`<iframe src="${dashboard.server.url}${path}"></iframe>`)
    for (const from of [other.near, other.far]) {
      const refused = page.waitForEvent('console', (message) => /frame/i.test(message.text()))
      await page.goto(from)
      expect((await refused).text()).toMatch(/frame-ancestors|X-Frame-Options/)
      await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/)
    }
    await page.close()
  })
})

describe('gap: signing in', () => {
  it('accepts no session from before the sign-in', async () => {
    const { url } = dashboard.server
    const { page, close } = await dashboard.visit()
    await page.context().addCookies([{ name: COOKIE, value: 'planted', url }])
    await page.goto(`${url}/sign-in`)
    await signIn(page, OWNER)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    const [cookie, ...others] = await page.context().cookies(url)
    expect(others).toEqual([])
    expect(cookie).toMatchObject({ name: COOKIE, httpOnly: true, sameSite: 'Strict' })
    expect(cookie?.value).not.toBe('planted')
    const planted = dashboardClient(url).with({ Cookie: `${COOKIE}=planted` })
    expect(await planted.data('{ me { email } }')).toEqual({ me: null })
    await close()
  })

  it('slows down after wrong guesses, and says so', async () => {
    const email = 'guessed@example.com'
    const visitor = dashboardClient(dashboard.server.url)
    for (let tries = 0; tries < SIGN_IN_TRIES; tries++) {
      await visitor.error(`mutation { signIn(email: "${email}", password: "guess ${tries}") { email } }`)
    }
    const { page, open, close } = await dashboard.visit()
    await open('/sign-in')
    await signIn(page, { email, password: 'the right one' })
    expect(await page.getByRole('alert').innerText()).toMatch(
      /^Too many failed sign-in attempts; retry in \d+ s/,
    )
    await close()
  })

  it('returns only to a page of the dashboard', async () => {
    const { page, close } = await dashboard.visit()
    await page.goto(`${dashboard.server.url}/sign-in?to=${encodeURIComponent(`${other.far}/`)}`)
    await signIn(page, OWNER)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(new URL(page.url()).origin).toBe(dashboard.server.url)
    await close()
  })
})
