import { describe, expect, it } from 'vitest'
import { encrypt } from '../../src/store/secrets/keyring.ts'
import { Client } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const ACCOUNT = 'source enabled keyHint webhookSecrets'

describe('gap: DATABASE_URL without a master key', () => {
  const server = shared(() => startTestServer({ env: { STRIPE_SECRET_KEY: 'sk_test_1234' } }))

  const query = <Row extends object>(text: string, values: unknown[] = []) =>
    rowsOf<Row>({ connectionString: server.databaseUrl }, text, values)
  const setStripe = (appId: string, input: string) =>
    `mutation { setProviderAccount(appId: "${appId}", provider: "stripe", input: { ${input} }) { ${ACCOUNT} } }`
  const stripeOf = async (appId: string) => {
    const { providerAccounts } = await server.dashboard.data(
      `{ providerAccounts(appId: "${appId}") { provider ${ACCOUNT} } }`,
    )
    return providerAccounts.find(({ provider }: { provider: string }) => provider === 'stripe')
  }

  it.each([
    ['secret-key', 'secretKey: "sk_test_1234"'],
    ['webhook-secret', 'webhookSecret: "whsec_1234"'],
    ['both', 'secretKey: "sk_test_1234", webhookSecret: "whsec_1234"'],
  ])('does not store a provider secret (%s), and says what to set', async (appId, input) => {
    await createApp(server, appId)
    const { message, extensions } = await server.dashboard.error(setStripe(appId, input))
    expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(message).toContain('set TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE')
    expect(message).not.toContain('1234')
    expect(await query('select from provider_account where app_id = $1', [appId])).toEqual([])
  })

  it('reads, disables and removes provider secrets stored earlier', async () => {
    await createApp(server, 'earlier')
    const [dataKey] = await query<{ value: Buffer }>(
      `select value from secret where name = 'provider-accounts'`,
    )
    const stored = (field: string, secret: string) => {
      const context = JSON.stringify(['stripe', 'earlier', field])
      return encrypt(dataKey?.value ?? Buffer.alloc(0), context, Buffer.from(secret))
    }
    await query(
      `insert into provider_account (app_id, provider, enabled, secret_key, webhook_secret, previous_webhook_secret)
       values ('earlier', 'stripe', true, $1, $2, $3)`,
      [
        stored('secret key', 'sk_test_1234'),
        stored('webhook secret', 'whsec_new'),
        stored('webhook secret', 'whsec_old'),
      ],
    )
    const account = { source: 'DASHBOARD', enabled: true, keyHint: '1234', webhookSecrets: 2 }
    expect(await stripeOf('earlier')).toMatchObject(account)
    await server.dashboard.error(setStripe('earlier', 'secretKey: "sk_test_5678"'))
    expect(await stripeOf('earlier')).toMatchObject(account)
    await server.dashboard.data(setStripe('earlier', 'enabled: false, dropPreviousWebhookSecret: true'))
    expect(await stripeOf('earlier')).toMatchObject({ ...account, enabled: false, webhookSecrets: 1 })
    await server.dashboard.call('removeProviderAccount', { appId: 'earlier', provider: 'stripe' })
    expect(await stripeOf('earlier')).toMatchObject({ source: 'NONE', keyHint: null })
  })

  it('issues user tokens, switches the sandbox and takes STRIPE_SECRET_KEY', async () => {
    const { generateUserToken } = await server.admin.data(
      'mutation { createUser(input: { id: "ann" }) { id } generateUserToken(userId: "ann") { token } }',
    )
    const client = new Client(`${server.url}/client/graphql`, { Authorization: generateUserToken.token })
    expect(await client.data('{ me { id } }')).toEqual({ me: { id: 'ann' } })
    expect(await stripeOf('default')).toMatchObject({ source: 'ENVIRONMENT', enabled: true, keyHint: '1234' })
    const setProviderAccount = await server.dashboard.call('setProviderAccount { enabled }', {
      provider: 'sandbox',
      input: { enabled: false },
    })
    expect(setProviderAccount).toEqual({ enabled: false })
  })
})
