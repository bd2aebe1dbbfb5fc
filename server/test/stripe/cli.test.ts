import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shared } from '../harness/shared.ts'
import { startStripe } from './stand-in.ts'

const CLI = join(dirname(createRequire(import.meta.url).resolve('@stripe/cli/package.json')), 'bin/shim.js')

/** What each trigger must have made happen; where nothing stands, the event that it is named after. */
const TRIGGERS: [trigger: string, events?: string[]][] = [
  ['checkout.session.completed', ['payment_intent.succeeded', 'checkout.session.completed']],
  ['checkout.session.expired'],
  [
    'checkout.session.async_payment_succeeded',
    ['checkout.session.completed', 'checkout.session.async_payment_succeeded'],
  ],
  [
    'checkout.session.async_payment_failed',
    ['checkout.session.completed', 'checkout.session.async_payment_failed'],
  ],
  ['customer.created'],
  ['customer.updated'],
  ['customer.deleted'],
  ['customer.subscription.created', ['customer.subscription.created', 'invoice.paid']],
  ['customer.subscription.updated'],
  ['customer.subscription.paused'],
  ['customer.subscription.deleted'],
  ['invoice.created'],
  ['invoice.finalized'],
  ['invoice.paid'],
  ['invoice.payment_failed'],
  ['invoice.payment_succeeded'],
  ['invoice.payment_action_required'],
  ['subscription.payment_failed', ['customer.subscription.created', 'invoice.payment_failed']],
  ['subscription.payment_succeeded', ['customer.subscription.created', 'invoice.payment_succeeded']],
  ['price.created'],
  ['price.updated'],
  ['product.created'],
  ['product.updated'],
  ['product.deleted'],
]

const stripe = shared(startStripe)
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tollgate-stripe-cli-'))
})

afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

/** The official CLI, with a home of its own and no way out: only the loopback is spared by a proxy that is not there. */
async function trigger(event: string, key = stripe.key): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [CLI, 'trigger', event, '--api-base', stripe.url, '--api-key', key],
    {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        XDG_CONFIG_HOME: home,
        STRIPE_CLI_TELEMETRY_OPTOUT: '1',
        HTTPS_PROXY: 'http://127.0.0.1:1',
        HTTP_PROXY: 'http://127.0.0.1:1',
      },
    },
  )
  return stdout
}

describe('gap: billing, the Stripe stand-in as the official CLI sees it', () => {
  it.each(TRIGGERS)('runs stripe trigger %s', async (event, expected = [event]) => {
    const before = stripe.events.length
    expect(await trigger(event)).toContain('Trigger succeeded')
    const happened: string[] = stripe.events.slice(before).map(({ type }) => type)
    expect(happened.filter((type) => expected.includes(type))).toEqual(expect.arrayContaining(expected))
  })

  it('refuses it with another key', async () => {
    await expect(trigger('customer.created', 'sk_test_another_key_1234567890')).rejects.toThrow(
      'Invalid API Key',
    )
  })
})
