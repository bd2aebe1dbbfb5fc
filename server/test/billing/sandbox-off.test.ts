import { Writable } from 'node:stream'
import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { startService } from '../../src/service.ts'
import { readConfig } from '../../src/settings/config.ts'
import { REAL_CLOCKS } from '../harness/clocks.ts'
import { rowsOf } from '../harness/database.ts'
import { MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { jobsDone } from './jobs-done.ts'
import { GOOD_CARD, openSandboxShop, type SandboxShop } from './sandbox-shop.ts'

// Whoever has a link of the sandbox gets what it is for without paying. Off is off, at the moment of the payment.

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))
let shop: SandboxShop
beforeEach(async () => {
  shop = await openSandboxShop(server)
})

const set = async (provider: string, input: object) =>
  shop.dashboard.call('setProviderAccount { enabled warning }', { provider, input })

const sandbox = async () => {
  const providerAccounts = await shop.dashboard.call('providerAccounts { provider enabled warning }')
  return providerAccounts.find(({ provider }: { provider: string }) => provider === 'sandbox')
}

const WAYS_OFF: [string, () => Promise<unknown>][] = [
  ['was turned off', () => set('sandbox', { enabled: false })],
  ['stands beside a live key', () => set('stripe', { secretKey: 'sk_live_1234' })],
  ['stands beside a restricted live key', () => set('stripe', { secretKey: 'rk_live_1234' })],
]

describe('gap: billing, a sandbox that is off', () => {
  it.each(WAYS_OFF)('accepts no payment on an earlier link, when it %s', async (_, turnOff) => {
    const url = await shop.link('plan')
    await turnOff()
    const page = await fetch(url)
    expect([page.status, await page.text()]).toEqual([
      403,
      expect.stringContaining('The sandbox does not accept payments'),
    ])
    const paid = await shop.submit(url, GOOD_CARD)
    expect([paid.status, await paid.text()]).toEqual([
      403,
      expect.stringContaining('The sandbox does not accept payments'),
    ])
    await jobsDone(server.databaseUrl)
    expect(await shop.subscriptions()).toEqual([])
    expect((await shop.linkError('plan')).message).toContain('sandbox is not enabled for this app')

    // Whoever wants to go back still can.
    const back = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ action: 'cancel' }),
      redirect: 'manual',
    })
    expect(back.status).toBe(303)
  })

  it('is on again with its links once an owner turns it on, with a warning beside a live key', async () => {
    const url = await shop.link('plan')
    await set('stripe', { secretKey: 'sk_live_1234' })
    expect(await sandbox()).toMatchObject({ enabled: false, warning: null })
    const on = await set('sandbox', { enabled: true })
    expect(on).toEqual({
      enabled: true,
      warning: expect.stringContaining('enabled together with live payments'),
    })
    expect((await shop.submit(url, GOOD_CARD)).status).toBe(303)
    // Another live key asks for another decision.
    await set('stripe', { secretKey: 'sk_live_5678' })
    expect(await sandbox()).toMatchObject({ enabled: false })
  })

  it('turned on before there was a live key, it goes off with that all the same', async () => {
    await set('sandbox', { enabled: false })
    await set('sandbox', { enabled: true })
    await set('stripe', { secretKey: 'sk_test_1234' })
    expect(await sandbox()).toMatchObject({
      enabled: true,
      warning: expect.stringContaining('disabled automatically'),
    })
    await set('stripe', { secretKey: 'sk_live_1234' })
    expect(await sandbox()).toMatchObject({ enabled: false })
  })

  it('stays as it is where an owner says nothing about it', async () => {
    await set('sandbox', {})
    await set('stripe', { secretKey: 'sk_live_1234' })
    expect(await set('sandbox', {})).toMatchObject({ enabled: false })
    await set('sandbox', { enabled: true })
    expect(await set('sandbox', {})).toMatchObject({ enabled: true })
    // A start tells of every app where it is on.
    await set('sandbox', { enabled: false })
  })

  it('renews nothing: what was bought in it lasts until the end of its paid time', async () => {
    shop = await openSandboxShop(server, { testClock: true })
    await shop.buy('plan')
    await set('sandbox', { enabled: false })
    expect(await shop.subscriptions()).toEqual(['plan ACTIVE'])
    const [paid] = await rowsOf<{ until: Date }>(
      { connectionString: server.databaseUrl },
      'select paid_until as until from provider_subscription where app_id = $1',
      [shop.id],
    )
    await shop.advance(new Date(Number(paid?.until) + 1_000).toISOString())
    expect(await shop.subscriptions()).toEqual(['plan CANCELLED'])
  })
})

describe('gap: billing, a start', () => {
  const warnings = async (env: Record<string, string>) => {
    const lines: string[] = []
    const log = pino(
      { level: 'warn' },
      new Writable({
        write(chunk, _, done) {
          lines.push(String(chunk))
          done()
        },
      }),
    )
    const config = readConfig({
      PORT: '0',
      DATABASE_URL: server.databaseUrl,
      TOLLGATE_API_KEY: 'tg_test_key_of_the_default_app',
      ...MASTER_KEY_SETTINGS,
      ...env,
    })
    const service = await startService(config, REAL_CLOCKS, log)
    await service.stop()
    return lines.filter((line) => line.includes('sandbox is enabled together with Stripe'))
  }

  it('says in one line where the sandbox is on beside Stripe, and nothing where it is off', async () => {
    expect(await warnings({ STRIPE_SECRET_KEY: 'sk_live_1234' })).toEqual([])
    await set('stripe', { secretKey: 'sk_live_1234' })
    expect(await warnings({})).toEqual([])
    await set('sandbox', { enabled: true })
    const [line, ...more] = await warnings({ STRIPE_SECRET_KEY: 'sk_test_1234' })
    expect(more).toEqual([])
    expect(JSON.parse(line ?? '{}')).toMatchObject({ count: 2, apps: ['default', shop.id] })
  })
})
