import { describe, expect, it } from 'vitest'
import { MAX_TEXT_CHARACTERS, MAX_WEBHOOK_ENDPOINTS } from '../../src/domain/limits.ts'
import { rowsOf } from '../harness/database.ts'
import { createApp, MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

const CREATE = `mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { id secret } }`
const url = 'https://hooks.invalid/tollgate'

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))

describe('gap: webhooks: bad input names the field', () => {
  it.each([
    ['url', { url: 'hooks.example' }, 'must be an absolute https URL'],
    ['url', { url: 'http://hooks.example' }, 'must be an absolute https URL'],
    ['url', { url: 'https://127.0.0.1/' }, 'must not lead to a private network (loopback address)'],
    ['url', { url: 'https://2130706433/' }, 'TOLLGATE_WEBHOOK_ALLOW_PRIVATE=on'],
    ['url', { url: 'https://me:secret@hooks.example/' }, 'must not contain a user name or password'],
    ['types', { url, types: ['user.exploded'] }, 'contains the unknown event type "user.exploded"'],
    ['description', { url, description: 'x'.repeat(MAX_TEXT_CHARACTERS + 1) }, 'at most 1024 characters'],
  ])('%s: %j', async (field, input, message) => {
    const error = await server.admin.error(CREATE, { input })
    expect(error.message).toContain(message)
    expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field })
  })

  it.each([
    ['url', { url: 'ftp://hooks.example' }],
    ['url', { url: null }],
    ['types', { types: ['nothing'] }],
    ['types', { types: null }],
    ['enabled', { enabled: null }],
    ['description', { description: 'x'.repeat(MAX_TEXT_CHARACTERS + 1) }],
  ])('of a change, too: %s: %j', async (field, input) => {
    const { createWebhookEndpoint: made } = await server.admin.data(CREATE, { input: { url } })
    const UPDATE = `mutation ($id: String!, $input: UpdateWebhookEndpointInput!) {
      updateWebhookEndpoint(id: $id, input: $input) { id }
    }`
    const error = await server.admin.error(UPDATE, { id: made.id, input })
    expect(error.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field })
    await server.admin.call('deleteWebhookEndpoint { id }', { id: made.id })
  })

  it('at most 32 endpoints', async () => {
    const admin = await createApp(server, 'many')
    const results = await Promise.all(
      Array.from({ length: MAX_WEBHOOK_ENDPOINTS + 3 }, () => admin.ask(CREATE, { input: { url } })),
    )
    expect(results.filter(({ errors }) => !errors)).toHaveLength(MAX_WEBHOOK_ENDPOINTS)
    const refused = results.flatMap(({ errors = [] }) => errors.map(({ message }) => message))
    expect(new Set(refused)).toEqual(
      new Set(['An app can have at most 32 webhook endpoints. Delete one first.']),
    )
    const { webhookEndpoints } = await admin.data('{ webhookEndpoints { id } }')
    await admin.call('deleteWebhookEndpoint { id }', { id: webhookEndpoints[0].id })
    expect((await admin.ask(CREATE, { input: { url } })).errors).toBeUndefined()
  })

  it.each([
    'updateWebhookEndpoint(id: $id, input: {})',
    'rotateWebhookSecret(id: $id)',
    'deleteWebhookEndpoint(id: $id)',
  ])('of an unknown endpoint: %s', async (call) => {
    const error = await server.admin.error(`mutation ($id: String!) { ${call} { id } }`, { id: 'we_none' })
    expect(error).toMatchObject({
      message: 'Webhook endpoint not found: "we_none"',
      extensions: { code: 'WEBHOOK_ENDPOINT_NOT_FOUND', status: 404 },
    })
  })
})

describe('gap: webhooks: secrets', () => {
  it('are stored sealed, also with an Idempotency-Key, and repeated under it', async () => {
    const keyed = server.admin.with({ 'Idempotency-Key': 'endpoint' })
    const { createWebhookEndpoint: made } = await keyed.data(CREATE, { input: { url } })
    const { createWebhookEndpoint: again } = await keyed.data(CREATE, { input: { url } })
    expect(again).toEqual(made)
    const secret = Buffer.from(made.secret.slice('whsec_'.length), 'base64')
    for (const table of ['webhook_endpoint', 'idempotency', 'audit_entry', 'secret']) {
      const rows = await rowsOf<{ text: string }>(
        { connectionString: server.databaseUrl },
        `select t::text as text from ${table} t`,
      )
      expect(rows.length).toBeGreaterThan(0)
      for (const { text } of rows) {
        for (const form of [made.secret, secret.toString('hex'), secret.toString('base64')])
          expect(text.includes(form)).toBe(false)
      }
    }
  })

  it('are not created without a master key, which says what to set', async () => {
    const unsealed = await startTestServer()
    const error = await unsealed.admin.error(CREATE, { input: { url } })
    expect(error.message).toMatch(/without a master key: set TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE/)
    expect(error.extensions.code).toBe('BAD_USER_INPUT')
    await unsealed.stop()
  })
})
