import { expect } from 'vitest'
import { withAttempt } from '../../src/domain/delivery-outcome.ts'
import {
  MAX_DELIVERIES,
  MAX_DELIVERIES_PER_ENDPOINT,
  MAX_DELIVERIES_UNDER_WAY,
  MAX_LOGGED_ATTEMPTS,
  MAX_LOGGED_RESPONSE_CHARACTERS,
  MAX_RESENT_EVENTS,
  MAX_RESENT_FAILED,
  MAX_TEXT_CHARACTERS,
  MAX_URL_CHARACTERS,
  MAX_WEBHOOK_ENDPOINTS,
  MAX_WEBHOOK_RESPONSE_BYTES,
  WEBHOOK_SECRET_OVERLAP_HOURS,
  WEBHOOK_TIMEOUT_MS,
} from '../../src/domain/limits.ts'
import { DeliverySlots } from '../../src/operations/webhooks/delivery-slots.ts'
import { WebhookSender } from '../../src/webhooks/send-webhook.ts'
import type { Client } from '../harness/client.ts'
import { monotonic } from '../harness/clocks.ts'
import { rowsOf } from '../harness/database.ts'
import { startReceiver } from '../harness/receiver.ts'
import { createApp } from '../harness/server.ts'
import { type Bound, expectAnswer, expectRefusal, valueBound, type World } from './bound.ts'

const CREATE =
  'mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { id } }'
// No name under .invalid exists, so nothing is sent.
const url = 'https://bounds.invalid/'

async function endpointOf(
  world: World,
  input: object = {},
): Promise<{ admin: Client; appId: string; id: string }> {
  const appId = world.fresh()
  const admin = await createApp(world, appId)
  const { createWebhookEndpoint: made } = await admin.data(CREATE, { input: { url, ...input } })
  return { admin, appId, id: made.id }
}

const sql = (world: World, text: string, values: unknown[]) =>
  rowsOf({ connectionString: world.databaseUrl }, text, values)

/** Adds deliveries that have failed, by hand. */
const addFailed = (world: World, appId: string, endpointId: string, count: number) =>
  sql(
    world,
    `insert into webhook_delivery (app_id, endpoint_id, event_id, event_type, state, due_at)
     select $1, $2, 'evt_' || i, 'webhook.test', 'FAILED', null from generate_series(1, $3::int) i`,
    [appId, endpointId, count],
  )

export const webhookBounds: Bound[] = [
  {
    limit: 'MAX_WEBHOOK_ENDPOINTS',
    what: 'webhook endpoints of an app',
    works: async (world) => expectAnswer(await addedTo(world, MAX_WEBHOOK_ENDPOINTS - 1)),
    refused: async (world) =>
      expectRefusal(await addedTo(world, MAX_WEBHOOK_ENDPOINTS), /at most 32 webhook endpoints/),
  },
  valueBound(
    'MAX_URL_CHARACTERS',
    'the URL of a webhook endpoint',
    { within: MAX_URL_CHARACTERS, beyond: MAX_URL_CHARACTERS + 1 },
    ({ admin }, length) => admin.ask(CREATE, { input: { url: url.padEnd(length, 'x') } }),
    /url must be at most 2048 characters/,
  ),
  valueBound(
    'MAX_TEXT_CHARACTERS',
    'the description of a webhook endpoint',
    { within: MAX_TEXT_CHARACTERS, beyond: MAX_TEXT_CHARACTERS + 1 },
    ({ admin }, length) => admin.ask(CREATE, { input: { url, description: 'x'.repeat(length) } }),
    /description must be at most 1024 characters/,
  ),
  valueBound(
    'MAX_DELIVERIES',
    'a page of deliveries',
    { within: MAX_DELIVERIES, beyond: MAX_DELIVERIES + 1 },
    async (world, first) => {
      const { admin, id } = await endpointOf(world)
      return admin.ask(
        'query ($id: String!, $first: Int) { webhookDeliveries(endpointId: $id, first: $first) { next } }',
        {
          id,
          first,
        },
      )
    },
    /first must be from 1 to 100/,
  ),
  valueBound(
    'MAX_RESENT_EVENTS',
    'events that are resent',
    { within: MAX_RESENT_EVENTS, beyond: MAX_RESENT_EVENTS + 1 },
    async (world, count) => {
      const { admin, appId, id } = await endpointOf(world)
      await addFailed(world, appId, id, count)
      const eventIds = Array.from({ length: count }, (_, i) => `evt_${i + 1}`)
      return admin.ask(
        'mutation ($id: String!, $eventIds: [String!]!) { resendEvents(endpointId: $id, eventIds: $eventIds) { resent } }',
        { id, eventIds },
      )
    },
    /eventIds must contain 1 to 100 IDs/,
  ),
  {
    limit: 'MAX_RESENT_FAILED',
    what: 'failed deliveries that are resent together',
    works: async (world) => expect(await leftAfterResending(world, MAX_RESENT_FAILED)).toBe(0),
    refused: async (world) => expect(await leftAfterResending(world, MAX_RESENT_FAILED + 1)).toBe(1),
  },
  {
    limit: 'WEBHOOK_SECRET_OVERLAP_HOURS',
    what: 'how long the previous signing secret signs',
    works: async (world) =>
      expect(await previousUntil(world, 60 * WEBHOOK_SECRET_OVERLAP_HOURS - 1)).toBeTruthy(),
    refused: async (world) =>
      expect(await previousUntil(world, 60 * WEBHOOK_SECRET_OVERLAP_HOURS)).toBeNull(),
  },
  {
    limit: 'WEBHOOK_TIMEOUT_MS',
    what: 'how long a delivery waits for its response',
    works: async ({ slow }) => expect((await slow.within).status).toBe(200),
    refused: async ({ slow }) => expect((await slow.beyond).error).toBe('no response within 15 s'),
  },
  {
    limit: 'MAX_WEBHOOK_RESPONSE_BYTES',
    what: 'the response after which the connection is used again',
    works: async () => expect((await answered(0, MAX_WEBHOOK_RESPONSE_BYTES)).connections).toBe(1),
    refused: async () => expect((await answered(0, MAX_WEBHOOK_RESPONSE_BYTES + 1)).connections).toBe(2),
  },
  {
    limit: 'MAX_LOGGED_RESPONSE_CHARACTERS',
    what: 'the response in the delivery log',
    works: async () =>
      expect((await answered(0, MAX_LOGGED_RESPONSE_CHARACTERS)).body).toHaveLength(
        MAX_LOGGED_RESPONSE_CHARACTERS,
      ),
    refused: async () =>
      expect((await answered(0, MAX_LOGGED_RESPONSE_CHARACTERS + 1)).body).toHaveLength(
        MAX_LOGGED_RESPONSE_CHARACTERS,
      ),
  },
  {
    limit: 'MAX_LOGGED_ATTEMPTS',
    what: 'attempts in the log of a delivery',
    works: async () => expect(logOf(MAX_LOGGED_ATTEMPTS)).toContain(1),
    refused: async () => expect(logOf(MAX_LOGGED_ATTEMPTS + 1)).not.toContain(1),
  },
  {
    limit: 'MAX_DELIVERIES_PER_ENDPOINT',
    what: 'deliveries to one endpoint at once',
    works: async () => expect(slotsAfter(MAX_DELIVERIES_PER_ENDPOINT - 1).busy[0]?.free).toBe(1),
    refused: async () => expect(slotsAfter(MAX_DELIVERIES_PER_ENDPOINT).busy[0]?.free).toBe(0),
  },
  {
    limit: 'MAX_DELIVERIES_UNDER_WAY',
    what: 'deliveries at once',
    works: async () => expect(slotsAfter(MAX_DELIVERIES_UNDER_WAY - 1).free).toBe(1),
    refused: async () => expect(slotsAfter(MAX_DELIVERIES_UNDER_WAY).free).toBe(0),
  },
]

/** One more endpoint for an app that has so many. */
async function addedTo(world: World, count: number) {
  const { admin, appId } = await endpointOf(world)
  await sql(
    world,
    `insert into webhook_endpoint (app_id, id, url, secret)
     select $1, 'we_' || i, '${url}', '' from generate_series(1, $2::int) i`,
    [appId, count - 1],
  )
  return admin.ask(CREATE, { input: { url } })
}

async function leftAfterResending(world: World, count: number): Promise<number> {
  const { admin, appId, id } = await endpointOf(world)
  await addFailed(world, appId, id, count)
  const { resent } = await admin.call('resendFailedEvents { resent }', { endpointId: id })
  await admin.call('updateWebhookEndpoint { id }', { id, input: { enabled: false } })
  return count - resent
}

/** Until when the previous secret signs, so many minutes after a rotation. */
async function previousUntil(world: World, minutes: number): Promise<string | null> {
  const { admin, id } = await endpointOf(world)
  await admin.call('rotateWebhookSecret { id }', { id })
  await sql(
    world,
    `update webhook_endpoint set previous_secret_until = previous_secret_until - make_interval(mins => $2) where id = $1`,
    [id, minutes],
  )
  return (await admin.data('{ webhookEndpoints { previousSecretUntil } }')).webhookEndpoints[0]
    .previousSecretUntil
}

/** Deliveries that take almost as long as they may, and longer. They run beside other tests. */
export const slowDeliveries = () => ({
  within: answered(WEBHOOK_TIMEOUT_MS - 2_000),
  beyond: answered(WEBHOOK_TIMEOUT_MS + 2_000),
})

/** The outcome of two deliveries, answered after a time with a body of so many bytes, and the connections they took. */
async function answered(ms: number, bytes = 0) {
  const receiver = await startReceiver((_, response) => {
    setTimeout(() => response.writeHead(200).end('x'.repeat(bytes)), ms)
    return undefined
  })
  const sender = new WebhookSender({ allowPrivate: true, monotonic })
  const request = { url: receiver.url, headers: {}, body: '{}' }
  const first = await sender.send(request)
  if (ms === 0) await sender.send(request)
  sender.close()
  const connections = receiver.connections()
  await receiver.stop()
  return { status: first?.status, error: first?.error, body: first?.body, connections }
}

function logOf(count: number): number[] {
  let log: number[] = []
  for (let attempt = 1; attempt <= count; attempt++) log = withAttempt(log, attempt)
  return log
}

function slotsAfter(count: number): DeliverySlots {
  const slots = new DeliverySlots()
  for (let i = 0; i < count; i++) slots.take({ appId: 'app', endpointId: 'endpoint' })
  return slots
}
