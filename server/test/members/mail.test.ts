import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { readMail } from '../../src/settings/mail-settings.ts'
import { type Client, dashboardClient, signedIn } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { freePort } from '../harness/free-port.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { OWNER, startTestServer, type TestServer } from '../harness/server.ts'
import { type ReceivedMail, startSmtpServer, textOf } from '../harness/smtp-server.ts'

const PASSWORD = 'another good password'

let smtp: Awaited<ReturnType<typeof startSmtpServer>>
let server: TestServer
let addresses = 0
beforeAll(async () => {
  smtp = await startSmtpServer()
  const port = await freePort()
  server = await startTestServer({
    env: {
      TOLLGATE_SMTP_URL: smtp.url.replace('//', '//mailer:secret@'),
      TOLLGATE_MAIL_FROM: 'Tollgate <tollgate@example.com>',
      PORT: String(port),
      TOLLGATE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      TOLLGATE_TRUSTED_PROXIES: '1',
    },
  })
})
afterAll(async () => {
  await server?.stop()
  await smtp?.close()
})
beforeEach(() => {
  smtp.state.mode = 'accept'
  smtp.received.length = 0
})

/** Somebody at an address of their own. */
const stranger = (): Client =>
  dashboardClient(server.url).with({
    'X-Forwarded-For': `203.0.113.${++addresses}`,
  })

const request = (client: Client, email: string) =>
  client.ask('mutation ($email: String!) { requestPasswordReset(email: $email) }', { email })

const mailTo = (email: string): Promise<ReceivedMail> =>
  vi.waitFor(
    () => {
      const mail = smtp.received.find(({ to }) => to.includes(email))
      if (!mail) throw new Error(`no mail to ${email}`)
      return mail
    },
    { timeout: PATIENCE_MS, interval: 20 },
  )

const tokenIn = (mail: ReceivedMail, page: string): string =>
  new RegExp(`${server.url}/${page}#token=([\\w-]+)`).exec(textOf(mail))?.[1] ?? ''

async function newMember(email: string): Promise<string> {
  await server.dashboard.call('inviteMember { id }', { email, role: 'EDITOR' })
  const token = tokenIn(await mailTo(email), 'invite')
  await stranger().call('acceptInvitation { id }', { token, password: PASSWORD })
  smtp.received.length = 0
  return email
}

describe('gap: email', () => {
  it('sends an invitation, whose link makes a member', async () => {
    const invited = await server.dashboard.call('inviteMember { url emailed }', {
      email: 'new@example.com',
      role: 'VIEWER',
    })
    expect(invited.emailed).toBe(true)
    const mail = await mailTo('new@example.com')
    expect(mail.from).toBe('tollgate@example.com')
    expect(mail.content).toMatch(/^Subject: You are invited to Tollgate\r$/m)
    expect(textOf(mail)).toContain(`${OWNER.email} invited you to Tollgate as a viewer.`)
    const token = tokenIn(mail, 'invite')
    expect(invited.url).toBe(`${server.url}/invite#token=${token}`)
    const made = await stranger().call('acceptInvitation { email role }', { token, password: PASSWORD })
    expect(made).toEqual({ email: 'new@example.com', role: 'VIEWER' })
    expect(smtp.state.logins).toContain('\0mailer\0secret')
  })

  it('resets a forgotten password from the request to the new sign-in, once, and ends the sessions', async () => {
    const email = await newMember('forgetful@example.com')
    const session = await signedIn(server.url, { email, password: PASSWORD })
    expect((await request(stranger(), ` ${email.toUpperCase()}`)).data).toEqual({
      requestPasswordReset: true,
    })
    const mail = await mailTo(email)
    expect(mail.content).toMatch(/^Subject: Reset your Tollgate password\r$/m)
    const token = tokenIn(mail, 'reset')
    expect(await session.data('{ me { email } }')).toEqual({ me: { email } })
    const again = { token, password: 'yet another password' }
    await stranger().call('resetPassword { email }', again)
    expect(await session.data('{ me { email } }')).toEqual({ me: null })
    await signedIn(server.url, { email, password: again.password })
    const used = await stranger().error(
      'mutation ($t: String!) { resetPassword(token: $t, password: "one more password") { email } }',
      { t: token },
    )
    expect(used.message).toMatch('This link was already used or has expired')
    const { auditLog } = await server.dashboard.data(
      '{ auditLog(operation: "requestPasswordReset") { rows { memberEmail sentence source } } }',
    )
    expect(auditLog.rows).toEqual([
      {
        memberEmail: email,
        sentence: 'requested a password reset link',
        source: expect.stringMatching(/^203/),
      },
    ])
  })

  it('says the same to an address without an account, and sends it nothing', async () => {
    const email = await newMember('known@example.com')
    const answers = [await request(stranger(), 'nobody@example.com'), await request(stranger(), email)]
    expect(answers[0]).toEqual(answers[1])
    await mailTo(email)
    await vi.waitFor(async () => expect(await jobs()).toEqual([]), { timeout: PATIENCE_MS, interval: 50 })
    expect(smtp.received.map(({ to }) => to)).toEqual([[email]])
  })

  it('limits requests for one account, with and without one, and from one address', async () => {
    for (const email of [await newMember('often@example.com'), 'often-nobody@example.com']) {
      for (let i = 0; i < 3; i++) expect((await request(stranger(), email)).errors).toBeUndefined()
      expect((await request(stranger(), email)).errors?.[0]?.extensions).toMatchObject({
        code: 'RATE_LIMITED',
        retryAfter: expect.any(Number),
      })
    }
    const one = stranger()
    const codes = []
    for (let i = 0; i < 21; i++)
      codes.push((await request(one, `nobody-${i}@example.com`)).errors?.[0]?.extensions.code ?? 'ok')
    expect(codes).toEqual([...Array(20).fill('ok'), 'RATE_LIMITED'])
  })

  it('says that an invitation could not be sent, within a bound, and still shows the link', async () => {
    for (const mode of ['refuse', 'silent'] as const) {
      smtp.state.mode = mode
      const started = performance.now()
      const invited = await server.dashboard.call('inviteMember { url emailed }', {
        email: `${mode}@example.com`,
        role: 'VIEWER',
      })
      expect(invited).toEqual({ url: expect.stringContaining('#token='), emailed: false })
      expect(performance.now() - started).toBeLessThan(9_500)
    }
  })

  it('sends a reset link that was refused at first, and gives up after an hour', async () => {
    const email = await newMember('patient@example.com')
    smtp.state.mode = 'refuse'
    await request(stranger(), email)
    await vi.waitFor(async () => expect(await jobs()).toMatchObject([{ attempts: 1, failed: true }]), {
      timeout: PATIENCE_MS,
      interval: 50,
    })
    smtp.state.mode = 'accept'
    await rowsOf(at(), `update graphile_worker._private_jobs set run_at = now() where locked_at is null`)
    expect(tokenIn(await mailTo(email), 'reset')).not.toBe('')
    smtp.received.length = 0
    const payload = JSON.stringify({ email, source: '', at: Date.now() - 61 * 60_000 })
    await rowsOf(at(), `select graphile_worker.add_job('send-password-reset', '${payload}')`)
    await vi.waitFor(async () => expect(await jobs()).toEqual([]), { timeout: PATIENCE_MS, interval: 50 })
    expect(smtp.received).toEqual([])
  })

  it('says how to go on where no email is set up', async () => {
    const plain = await startTestServer()
    try {
      const visitor = dashboardClient(plain.url)
      expect(await visitor.data('{ sendsEmail }')).toEqual({ sendsEmail: false })
      expect((await request(visitor, OWNER.email)).errors?.[0]?.message).toMatch('does not send email')
      const invited = await plain.dashboard.call('inviteMember { emailed }', {
        email: 'a@example.com',
        role: 'VIEWER',
      })
      expect(invited).toEqual({ emailed: null })
    } finally {
      await plain.stop()
    }
  })

  const at = () => ({ connectionString: server.databaseUrl })
  const jobs = () =>
    rowsOf(
      at(),
      `select j.attempts, j.last_error is not null as failed from graphile_worker._private_jobs j
       join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'send-password-reset'`,
    )
})

describe('settings of email', () => {
  const read = (env: Record<string, string>) => readMail((name) => env[name] ?? null)
  const WHOLE = {
    TOLLGATE_SMTP_URL: 'smtps://a:b@mail.example.com',
    TOLLGATE_MAIL_FROM: 'a@example.com',
    TOLLGATE_PUBLIC_URL: 'https://tollgate.example.com',
  }
  it('are read together', () => {
    expect(read({})).toBeNull()
    expect(read(WHOLE)).toEqual({ url: WHOLE.TOLLGATE_SMTP_URL, from: 'a@example.com' })
  })
  it.each([
    [{ TOLLGATE_MAIL_FROM: '' }, 'Set both'],
    [{ TOLLGATE_SMTP_URL: '' }, 'Set both'],
    [{ TOLLGATE_SMTP_URL: 'https://a:hidden@b' }, 'must be an smtp or smtps URL'],
    [{ TOLLGATE_MAIL_FROM: 'nobody' }, 'must be an email address'],
    [{ TOLLGATE_PUBLIC_URL: '' }, 'requires TOLLGATE_PUBLIC_URL'],
  ])('%j: %s', (change, message) => {
    const env = Object.fromEntries(
      Object.entries({ ...WHOLE, ...change }).filter(([, value]) => value !== ''),
    )
    const refused = () => read(env)
    expect(refused).toThrow(StartError)
    expect(refused).toThrow(message)
    expect(refused).not.toThrow('hidden')
  })
})
