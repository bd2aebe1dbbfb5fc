import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Client, Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { type Received, type Receiver, startReceiver } from '../harness/receiver.ts'
import { createApp, MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Invariants: every event reaches every endpoint that wants it, at least once, with one id and one body; nothing that one
// endpoint does delays another.

const server = shared(() =>
  startTestServer({ env: { ...MASTER_KEY_SETTINGS, TOLLGATE_WEBHOOK_ALLOW_PRIVATE: 'on' } }),
)
let receiver: Receiver
let admin: Client
let appId: string
let apps = 0
beforeEach(async () => {
  receiver = await startReceiver()
  appId = `app-${++apps}`
  admin = await createApp(server, appId)
})
afterEach(() => receiver.stop())

const sql = (text: string, values: unknown[] = []) =>
  rowsOf<Data>({ connectionString: server.databaseUrl }, text, values)

async function createEndpoint(input: Data = {}): Promise<{ id: string; secret: string }> {
  const made = await admin.call('createWebhookEndpoint { id secret }', {
    input: { url: receiver.url, ...input },
  })
  return { id: made.id, secret: made.secret }
}

const createUser = (id: string) => admin.call('createUser { id }', { input: { id } })
const eventOf = ({ body }: Received) => JSON.parse(body)
const received = (count: number) =>
  vi.waitUntil(() => receiver.received.length >= count && receiver.received, { timeout: PATIENCE_MS })

/** The deliveries of an endpoint, newest first, once none of them is in progress and each was attempted. */
const settled = (endpointId: string, filter: Data = {}): Promise<Data[]> =>
  vi.waitUntil(
    async () => {
      const { nodes } = await admin.call(
        `webhookDeliveries { nodes { id eventId type state attemptCount nextAttemptAt body createdAt
          attempts { at durationMs status error body } } next }`,
        { endpointId, ...filter },
      )
      const isDone = (d: Data) => d.attemptCount > 0 && (d.state !== 'PENDING' || d.nextAttemptAt !== null)
      return nodes.length > 0 && nodes.every(isDone) && nodes
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )

const endpoint = async (id: string): Promise<Data> =>
  (
    await admin.data(
      '{ webhookEndpoints { id enabled disabledReason disabledAt failingSince previousSecretUntil types url } }',
    )
  ).webhookEndpoints.find((one: Data) => one.id === id)

/** Waits until what was due before is in progress: another endpoint has got an event that happens now. */
async function delivered(): Promise<void> {
  const other = await startReceiver()
  await createEndpoint({ url: other.url, types: ['feature.created'] })
  await admin.call('createFeature { id }', { input: { id: 'later', name: 'Later', type: 'BINARY' } })
  await vi.waitUntil(() => other.received.length > 0, { timeout: PATIENCE_MS })
  await other.stop()
}

/** As if the time until the next attempt had passed. */
const untilNextAttempt = (endpointId: string) =>
  sql(
    `update webhook_delivery set due_at = now() where endpoint_id = $1 and state = 'PENDING' and lease is null`,
    [endpointId],
  )

describe('gap: webhooks: a delivery', () => {
  it('is one signed POST per event, in the form of Standard Webhooks', async () => {
    const { id, secret } = await createEndpoint()
    await createUser('ada')
    await vi.waitUntil(
      () => receiver.received.some((one) => eventOf(one).type === 'user.created'),
      PATIENCE_MS,
    )
    const sent = receiver.received.find((one) => eventOf(one).type === 'user.created') as Received
    const event = new Webhook(secret).verify(sent.body, sent.headers as Record<string, string>)
    expect(event).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      type: 'user.created',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      appId,
      userId: 'ada',
      sequence: expect.any(Number),
      data: { object: { id: 'ada' }, previous: null },
    })
    expect(sent.headers).toMatchObject({
      'webhook-id': eventOf(sent).id,
      'content-type': 'application/json',
      'user-agent': 'Tollgate-Webhooks',
    })
    const { events } = await admin.data('{ events(types: ["user.created"]) { nodes { id sequence } } }')
    expect(events.nodes).toEqual([{ id: eventOf(sent).id, sequence: eventOf(sent).sequence }])
    const delivery = (await settled(id)).find((one) => one.eventId === eventOf(sent).id)
    expect(delivery).toMatchObject({
      type: 'user.created',
      state: 'SUCCEEDED',
      attemptCount: 1,
      nextAttemptAt: null,
      body: sent.body,
      attempts: [{ status: 200, error: null, body: 'answered 200' }],
    })
  })

  it('goes to the endpoints of its app that want its type', async () => {
    const all = await createEndpoint()
    const some = await createEndpoint({ types: ['user.deleted', 'feature.created'] })
    const none = await createEndpoint({ types: ['payment.failed'] })
    const other = await createApp(server, `${appId}-other`)
    await other.call('createUser { id }', { input: { id: 'eve' } })
    await createUser('ada')
    await admin.call('createFeature { id }', { input: { id: 'calls', name: 'Calls', type: 'CONSUMABLE' } })
    expect((await settled(some.id)).map(({ type }) => type)).toEqual(['feature.created'])
    const types = (await settled(all.id)).map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['user.created', 'feature.created']))
    const { webhookDeliveries } = await admin.data(
      `{ webhookDeliveries(endpointId: "${none.id}") { nodes { id } next } }`,
    )
    expect(webhookDeliveries).toEqual({ nodes: [], next: null })
    expect(receiver.received.map((one) => eventOf(one).appId)).not.toContain(`${appId}-other`)
  })

  it('is retried with the same id and body, and a new time and signature', async () => {
    const { id, secret } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = () => 500
    await createUser('ada')
    const [failed] = await settled(id)
    expect(failed).toMatchObject({ state: 'PENDING', attemptCount: 1, attempts: [{ status: 500 }] })
    const wait = Date.parse(failed?.nextAttemptAt) - Date.parse(failed?.attempts[0].at)
    expect(wait).toBeGreaterThan(4_000)
    expect(wait).toBeLessThan(60_000)
    receiver.answer = () => 204
    await untilNextAttempt(id)
    const [done] = await vi.waitUntil(
      async () => {
        const found = await settled(id)
        return found[0]?.state === 'SUCCEEDED' && found
      },
      { timeout: PATIENCE_MS },
    )
    expect(done).toMatchObject({ attemptCount: 2, attempts: [{ status: 500 }, { status: 204 }] })
    const [first, second] = receiver.received as [Received, Received]
    expect(second.body).toBe(first.body)
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
    for (const { body, headers } of [first, second])
      new Webhook(secret).verify(body, headers as Record<string, string>)
  })

  it('waits as long as Retry-After asks', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = (_, response) => {
      response.writeHead(429, { 'Retry-After': '3600' }).end()
      return undefined
    }
    await createUser('ada')
    const [delivery] = await settled(id)
    const wait = Date.parse(delivery?.nextAttemptAt) - Date.now()
    expect(wait).toBeGreaterThan(3_500_000)
    expect(wait).toBeLessThan(3_700_000)
  })

  it('fails after ten attempts, and can be resent', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = () => 503
    await createUser('ada')
    await settled(id)
    await sql(`update webhook_delivery set attempts = 9 where endpoint_id = $1`, [id])
    await untilNextAttempt(id)
    await vi.waitUntil(async () => (await settled(id))[0]?.state === 'FAILED', { timeout: PATIENCE_MS })
    const [failed] = await settled(id, { state: 'FAILED' })
    expect(failed).toMatchObject({ attemptCount: 10, nextAttemptAt: null })
    receiver.answer = () => 200
    const eventIds = [failed?.eventId]
    expect(await admin.call('resendEvents { resent more }', { endpointId: id, eventIds })).toEqual({
      resent: 1,
      more: false,
    })
    const [done] = await settled(id, { state: 'SUCCEEDED' })
    expect(done).toMatchObject({ eventId: failed?.eventId, attemptCount: 1 })
    expect(done?.attempts).toHaveLength(3)
  })

  it('is signed with both secrets while the secret is rotated', async () => {
    const { id, secret } = await createEndpoint({ types: ['user.created'] })
    const rotated = await admin.call('rotateWebhookSecret { id secret }', { id })
    expect(rotated.secret).not.toBe(secret)
    const { previousSecretUntil } = await endpoint(id)
    expect(Date.parse(previousSecretUntil) - Date.now()).toBeGreaterThan(23.9 * 3_600_000)
    await createUser('ada')
    const [both] = (await received(1)) as [Received]
    for (const each of [secret, rotated.secret])
      new Webhook(each).verify(both.body, both.headers as Record<string, string>)
    await sql(`update webhook_endpoint set previous_secret_until = now() where id = $1`, [id])
    expect((await endpoint(id)).previousSecretUntil).toBeNull()
    await createUser('bob')
    const [, alone] = (await received(2)) as [Received, Received]
    new Webhook(rotated.secret).verify(alone.body, alone.headers as Record<string, string>)
    expect(() => new Webhook(secret).verify(alone.body, alone.headers as Record<string, string>)).toThrow()
  })

  it('says when its event is no longer kept, and is not sent', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = () => 500
    await createUser('ada')
    const [delivery] = await settled(id)
    await sql(`delete from event_log where id = $1`, [delivery?.eventId])
    await untilNextAttempt(id)
    await vi.waitUntil(async () => (await settled(id))[0]?.state === 'FAILED', { timeout: PATIENCE_MS })
    const [gone] = await settled(id)
    expect(gone).toMatchObject({
      body: null,
      attempts: [{ status: 500 }, { error: 'the event is no longer kept' }],
    })
    expect(receiver.received).toHaveLength(1)
  })
})

describe('gap: webhooks: an endpoint', () => {
  it('that does not respond delays no other, and one failing event no later one', async () => {
    const slow = await createEndpoint({ types: ['user.created'] })
    const quick = await startReceiver()
    const fast = await createEndpoint({ url: quick.url, types: ['user.created'] })
    receiver.answer = () => undefined
    const users = Array.from({ length: 30 }, (_, i) => `u${i}`)
    for (const user of users) await createUser(user)
    const ids = () => new Set(quick.received.map(({ headers }) => headers['webhook-id']))
    await vi.waitUntil(() => ids().size === users.length, { timeout: PATIENCE_MS })
    expect((await settled(fast.id)).every(({ state }) => state === 'SUCCEEDED')).toBe(true)
    // Meanwhile it has a few requests open, and no more.
    expect(receiver.received.length).toBeLessThanOrEqual(8)
    await admin.call('deleteWebhookEndpoint { id }', { id: slow.id })
    quick.received.length = 0
    quick.answer = (one) => (eventOf(one).userId === 'bad' ? 500 : 200)
    await createUser('bad')
    await createUser('good')
    const good = await vi.waitUntil(() => quick.received.find((one) => eventOf(one).userId === 'good'), {
      timeout: PATIENCE_MS,
    })
    expect(eventOf(good).userId).toBe('good')
    await quick.stop()
  })

  it('that answers 410 Gone is disabled, which the audit log says', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = () => 410
    await createUser('ada')
    const [delivery] = await settled(id)
    expect(delivery).toMatchObject({ state: 'FAILED', attempts: [{ status: 410 }] })
    expect(await endpoint(id)).toMatchObject({
      enabled: false,
      disabledReason: 'GONE',
      disabledAt: expect.any(String),
    })
    const { rows } = await server.dashboard.of(appId).call('auditLog { rows { sentence actor } }', {
      appId,
      actorKind: 'SERVICE',
    })
    expect(rows).toEqual([
      {
        sentence: `disabled the webhook endpoint ${receiver.url}, which answered 410 Gone`,
        actor: 'Tollgate',
      },
    ])
    // Nothing is queued for it any more, and it takes nothing until it is enabled.
    await createUser('bob')
    await vi.waitUntil(
      async () => {
        const { events } = await admin.data('{ events(types: ["user.created"]) { nodes { id } } }')
        return events.nodes.length === 2
      },
      { timeout: PATIENCE_MS },
    )
    const refusal = await admin.error(`mutation { sendTestEvent(endpointId: "${id}") { id } }`)
    expect(refusal.message).toContain('is disabled. Enable it first.')
    receiver.answer = () => 200
    await admin.call('updateWebhookEndpoint { id }', { id, input: { enabled: true } })
    expect(await endpoint(id)).toMatchObject({ enabled: true, disabledReason: null, disabledAt: null })
    await createUser('carl')
    await received(2)
    expect(receiver.received.map((one) => eventOf(one).userId)).toEqual(['ada', 'carl'])
  })

  it('that fails for five days is disabled; one success in between starts the count again', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = () => 500
    const failAgain = async (user: string, since: string) => {
      await sql(`update webhook_endpoint set failing_since = now() - $2::interval where id = $1`, [id, since])
      await createUser(user)
      await vi.waitUntil(async () => (await settled(id)).length > 0, { timeout: PATIENCE_MS })
      return endpoint(id)
    }
    await createUser('ada')
    await settled(id)
    expect((await endpoint(id)).failingSince).toEqual(expect.any(String))
    expect(await failAgain('bob', '4 days 23 hours')).toMatchObject({ enabled: true })
    receiver.answer = () => 200
    await createUser('carl')
    await vi.waitUntil(async () => (await endpoint(id)).failingSince === null, { timeout: PATIENCE_MS })
    receiver.answer = () => 500
    await createUser('dora')
    await vi.waitUntil(async () => (await endpoint(id)).failingSince !== null, { timeout: PATIENCE_MS })
    await failAgain('erin', '5 days 1 second')
    await vi.waitUntil(async () => !(await endpoint(id)).enabled, { timeout: PATIENCE_MS })
    expect(await endpoint(id)).toMatchObject({ disabledReason: 'FAILING' })
    const { rows } = await server.dashboard.of(appId).call('auditLog { rows { sentence } }', {
      appId,
      actorKind: 'SERVICE',
    })
    expect(rows).toEqual([
      {
        sentence: `disabled the webhook endpoint ${receiver.url}, to which nothing was delivered for five days`,
      },
    ])
  })

  it('gets a backlog at a pace that leaves time to requests, and does not delay another one meanwhile', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    await admin.call('updateWebhookEndpoint { id }', { id, input: { enabled: false } })
    const times: number[] = []
    receiver.answer = () => {
      times.push(performance.now())
      return 200
    }
    const other = await startReceiver()
    await createEndpoint({ url: other.url, types: ['feature.created'] })
    await sql(
      `insert into webhook_delivery (app_id, endpoint_id, event_id, event_type)
       select $1, $2, 'evt_' || i, 'webhook.test' from generate_series(1, 300) i`,
      [appId, id],
    )
    await admin.call('updateWebhookEndpoint { id }', { id, input: { enabled: true } })
    await received(1)
    await admin.call('createFeature { id }', { input: { id: 'f', name: 'F', type: 'BINARY' } })
    await vi.waitUntil(() => other.received.length > 0, { timeout: PATIENCE_MS })
    const before = receiver.received.length
    await received(300)
    await other.stop()
    expect(before).toBeLessThan(300)
    // 8 at once, at most every 40 ms; a timer may be a little early.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(36 * 38)
  })

  it('that is disabled keeps what is waiting, and continues when it is enabled', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = () => 500
    await createUser('ada')
    await settled(id)
    await admin.call('updateWebhookEndpoint { id }', { id, input: { enabled: false } })
    expect(await endpoint(id)).toMatchObject({ enabled: false, disabledReason: null })
    receiver.answer = () => 200
    await untilNextAttempt(id)
    await delivered()
    expect(receiver.received).toHaveLength(1)
    const enabledAt = Date.now()
    await admin.call('updateWebhookEndpoint { id }', { id, input: { enabled: true } })
    const [done] = await settled(id, { state: 'SUCCEEDED' })
    expect(done?.attempts.map(({ status }: Data) => status)).toEqual([500, 200])
    expect(Date.parse(done?.attempts[1].at)).toBeGreaterThanOrEqual(enabledAt)
  })

  it('gets a test event that no other endpoint and no reader of the log gets', async () => {
    const { id, secret } = await createEndpoint({ types: ['payment.failed'] })
    await createEndpoint({ url: receiver.url.replace('/hooks', '/other') })
    const event = await admin.call('sendTestEvent { id type at }', { endpointId: id })
    const [sent] = (await received(1)) as [Received]
    expect(new Webhook(secret).verify(sent.body, sent.headers as Record<string, string>)).toEqual({
      ...{ id: event.id, type: 'webhook.test', timestamp: event.at, appId, userId: null, sequence: 0 },
      data: { version: 1, object: { message: 'This is a test event of Tollgate.' }, previous: null },
    })
    expect(sent.path).toBe('/hooks')
    const { events } = await admin.data('{ events { nodes { type } } }')
    expect(events.nodes).not.toContainEqual({ type: 'webhook.test' })
    const [delivery] = await settled(id)
    expect(delivery).toMatchObject({
      eventId: event.id,
      type: 'webhook.test',
      state: 'SUCCEEDED',
      body: sent.body,
    })
  })

  it('can be sent events from before it was created', async () => {
    await createUser('ada')
    const { events } = await vi.waitUntil(
      async () => {
        const found = await admin.data('{ events(types: ["user.created"]) { nodes { id } } }')
        return found.events.nodes.length === 1 && found
      },
      { timeout: PATIENCE_MS },
    )
    const { id } = await createEndpoint({ types: ['payment.failed'] })
    const eventIds = events.nodes.map((one: Data) => one.id)
    await admin.call('resendEvents { resent }', { endpointId: id, eventIds })
    await received(1)
    expect(receiver.received.map((one) => eventOf(one).id)).toEqual(eventIds)
    const unknown = await admin.error(
      `mutation ($ids: [String!]!) { resendEvents(endpointId: "${id}", eventIds: $ids) { resent } }`,
      { ids: [...eventIds, 'evt_unknown'] },
    )
    expect(unknown).toMatchObject({
      message: 'Event not found, or no longer kept: "evt_unknown"',
      extensions: { code: 'BAD_USER_INPUT', field: 'eventIds' },
    })
  })

  it('gets the failed events of a time again', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    receiver.answer = () => 500
    for (const user of ['a', 'b', 'c']) await createUser(user)
    await vi.waitUntil(async () => (await settled(id)).length === 3, { timeout: PATIENCE_MS })
    await sql(
      `update webhook_delivery set state = 'FAILED', due_at = null, lease = null where endpoint_id = $1`,
      [id],
    )
    await sql(
      `update webhook_delivery set created_at = '2026-01-01' where endpoint_id = $1
         and seq = (select min(seq) from webhook_delivery where endpoint_id = $1)`,
      [id],
    )
    receiver.answer = () => 200
    receiver.received.length = 0
    const resend = (range: Data) =>
      admin.call('resendFailedEvents { resent more }', { endpointId: id, ...range })
    expect(await resend({ to: '2025-12-31T00:00:00Z' })).toEqual({ resent: 0, more: false })
    expect(await resend({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' })).toEqual({
      resent: 1,
      more: false,
    })
    await received(1)
    expect(receiver.received.map((one) => eventOf(one).userId)).toEqual(['a'])
    expect(await resend({})).toEqual({ resent: 2, more: false })
    await received(3)
    const succeeded = async () => (await settled(id, { state: 'SUCCEEDED' })).length
    await vi.waitUntil(async () => (await succeeded()) === 3, { timeout: PATIENCE_MS })
  })

  it('takes its deliveries with it when it is deleted', async () => {
    const { id } = await createEndpoint()
    await createUser('ada')
    await settled(id)
    await admin.call('deleteWebhookEndpoint { id }', { id })
    const gone = await admin.error(`{ webhookDeliveries(endpointId: "${id}") { next } }`)
    expect(gone.extensions.code).toBe('WEBHOOK_ENDPOINT_NOT_FOUND')
    const before = receiver.received.length
    await createUser('bob')
    await delivered()
    expect(receiver.received).toHaveLength(before)
  })
})

describe('gap: webhooks: metrics', () => {
  it('show attempts and what is waiting', async () => {
    const { id } = await createEndpoint({ types: ['user.created'] })
    await createUser('ada')
    await settled(id)
    const text = await (await fetch(`${server.url}/metrics`)).text()
    expect(text).toMatch(/^tollgate_webhook_attempts_total\{outcome="succeeded"\} \d+$/m)
    expect(text).toMatch(/^tollgate_webhook_deliveries_pending \d+$/m)
    expect(text).toMatch(/^tollgate_webhook_oldest_due_seconds [\d.e-]+$/m)
  })
})
