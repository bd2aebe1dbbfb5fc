import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../server/test/harness/free-port.ts'
import { PATIENCE_MS } from '../../server/test/harness/patience.ts'
import { OWNER } from '../../server/test/harness/server.ts'
import { startSmtpServer, textOf } from '../../server/test/harness/smtp-server.ts'
import { type Dashboard, openDashboard } from './harness/dashboard.ts'

let smtp: Awaited<ReturnType<typeof startSmtpServer>>
let dashboard: Dashboard
beforeAll(async () => {
  smtp = await startSmtpServer()
  const port = await freePort()
  dashboard = await openDashboard({
    env: {
      PORT: port,
      TOLLGATE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      TOLLGATE_SMTP_URL: smtp.url,
      TOLLGATE_MAIL_FROM: 'tollgate@example.com',
    },
  })
})
afterAll(async () => {
  await dashboard?.close()
  await smtp?.close()
})

const linkIn = (page: string) =>
  vi.waitFor(
    () => {
      const link = smtp.received
        .map(
          (mail) => new RegExp(`http://127\\.0\\.0\\.1:\\d+/${page}#token=[\\w-]+`).exec(textOf(mail))?.[0],
        )
        .at(-1)
      if (!link) throw new Error('no mail')
      return new URL(link)
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )

describe('gap: a forgotten password where email is set up', () => {
  it('is replaced from the sign-in page, by the link in an email', async () => {
    const { page, open, close, problems } = await dashboard.visit()
    await open('/sign-in')
    await page.getByLabel('Email', { exact: true }).fill(OWNER.email)
    await page.getByRole('button', { name: 'Forgot password?' }).click()
    const to = page.getByLabel('Email of your account')
    await to.waitFor()
    expect(await to.inputValue()).toBe(OWNER.email)
    await page.getByRole('button', { name: 'Email a reset link' }).click()
    await page
      .getByText(`If ${OWNER.email} has an account, a link to set a new password is on its way.`)
      .waitFor()
    const { pathname, hash } = await linkIn('reset')
    await open(`${pathname}${hash}`)
    await page.getByText(`For ${OWNER.email}.`).waitFor()
    await page.getByLabel('Password', { exact: true }).fill('a password to remember')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.waitForURL((url) => !url.pathname.startsWith('/reset'))
    expect(problems).toEqual([])
    await close()
  })
})
