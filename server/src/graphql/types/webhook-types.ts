import type { KeyedPage } from '../../operations/call/pages.ts'
import type { EndpointWithSecret, NewEndpoint } from '../../operations/webhooks/create-webhook-endpoint.ts'
import type { Resent } from '../../operations/webhooks/resend-events.ts'
import type { TestEvent } from '../../operations/webhooks/send-test-event.ts'
import type { EndpointChange } from '../../operations/webhooks/update-webhook-endpoint.ts'
import type { ShownDelivery } from '../../operations/webhooks/webhook-deliveries.ts'
import { type Attempt, DELIVERY_STATES } from '../../store/webhooks/deliveries.ts'
import { DISABLED_REASONS, type EndpointRow } from '../../store/webhooks/endpoints.ts'
import type { Builder } from './builder.ts'
import { type Maybe, required } from './inputs.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

const TYPES = 'Event types to deliver; empty for all types.'
const URL = 'Absolute https URL that receives events by POST.'

export function defineWebhookTypes<Context extends object>(builder: Builder<Context>) {
  const disabledReason = builder.enumType('WebhookDisabledReason', {
    description:
      'Reason why the service disabled a webhook endpoint. GONE: it answered 410 Gone. FAILING: nothing was delivered for five days.',
    values: DISABLED_REASONS,
  })
  const state = builder.enumType('WebhookDeliveryState', {
    description: 'PENDING: an attempt is in progress or planned. FAILED: no further attempt is planned.',
    values: DELIVERY_STATES,
  })
  const endpoint = builder.objectRef<EndpointRow>('WebhookEndpoint').implement({
    description: 'A URL that receives the events of the app.',
    fields: (t) => ({
      id: t.exposeString('id'),
      url: t.exposeString('url', { description: URL }),
      types: t.exposeStringList('types', { description: TYPES }),
      description: t.exposeString('description', { nullable: true }),
      enabled: t.exposeBoolean('enabled', {
        description: 'Whether events are delivered. Deliveries that are pending wait while it is false.',
      }),
      disabledReason: t.expose('disabledReason', {
        type: disabledReason,
        nullable: true,
        description: 'Null if the endpoint is enabled, or was disabled by a caller.',
      }),
      disabledAt: t.string({ nullable: true, resolve: (e) => isoTimeOrNull(e.disabledAt) }),
      failingSince: t.string({
        nullable: true,
        description:
          'Time of the first failed attempt since the last successful one; null if the last one succeeded.',
        resolve: (e) => isoTimeOrNull(e.failingSince),
      }),
      previousSecretUntil: t.string({
        nullable: true,
        description: 'After a rotation, the time until which the previous secret signs as well.',
        resolve: (e) => isoTimeOrNull(e.previousSecretUntil),
      }),
      createdAt: t.string({ resolve: (e) => isoTime(e.createdAt) }),
    }),
  })
  const withSecret = builder.objectRef<EndpointWithSecret>('WebhookEndpointWithSecret').implement({
    description: 'A webhook endpoint whose signing secret was just created.',
    fields: (t) => ({
      id: t.exposeString('id'),
      secret: t.exposeString('secret', { description: 'Signing secret. It cannot be retrieved again.' }),
      endpoint: t.field({ type: endpoint, resolve: (made) => made }),
    }),
  })
  const attempt = builder.objectRef<Attempt>('WebhookAttempt').implement({
    description: 'One request of a webhook delivery.',
    fields: (t) => ({
      at: t.string({ resolve: (a) => isoTime(a.at) }),
      durationMs: t.exposeInt('durationMs'),
      status: t.exposeInt('status', {
        nullable: true,
        description: 'HTTP status of the response; null if there was none.',
      }),
      error: t.exposeString('error', {
        nullable: true,
        description: 'Reason why there was no response; null if there was one.',
      }),
      body: t.exposeString('body', { description: 'First 1,024 characters of the body of the response.' }),
    }),
  })
  const delivery = builder.objectRef<ShownDelivery>('WebhookDelivery').implement({
    description: 'One event on its way to one webhook endpoint.',
    fields: (t) => ({
      id: t.string({ resolve: (d) => String(d.seq) }),
      eventId: t.exposeString('eventId', { description: 'ID of the event, sent as `webhook-id`.' }),
      type: t.exposeString('eventType', { description: 'Type of the event.' }),
      state: t.expose('state', { type: state }),
      attemptCount: t.exposeInt('attempts', {
        description: 'Number of attempts since the event was sent or resent.',
      }),
      nextAttemptAt: t.string({
        nullable: true,
        description: 'Time of the next attempt; null if none is planned or one is in progress.',
        resolve: (d) => (d.underWay ? null : isoTimeOrNull(d.dueAt)),
      }),
      attempts: t.field({
        type: [attempt],
        description: 'The latest 20 attempts, oldest first.',
        resolve: (d) => d.log,
      }),
      body: t.exposeString('body', {
        nullable: true,
        description: 'Body of every request; null if the event is no longer kept.',
      }),
      createdAt: t.string({ resolve: (d) => isoTime(d.createdAt) }),
    }),
  })
  const deliveries = builder.objectRef<KeyedPage<ShownDelivery>>('WebhookDeliveries').implement({
    fields: (t) => ({
      nodes: t.field({ type: [delivery], resolve: (page) => page.rows }),
      next: t.string({
        nullable: true,
        description: 'Cursor for the next page, passed as `after`; null on the last page.',
        resolve: (page) => page.next,
      }),
    }),
  })
  const testEvent = builder.objectRef<TestEvent>('TestEvent').implement({
    description: 'Event sent to one webhook endpoint only. It is not in the event log.',
    fields: (t) => ({
      id: t.exposeString('id'),
      type: t.exposeString('type'),
      at: t.string({ resolve: (e) => isoTime(e.at) }),
    }),
  })
  const resent = builder.objectRef<Resent>('ResentEvents').implement({
    fields: (t) => ({
      resent: t.exposeInt('resent', { description: 'Number of deliveries queued again.' }),
      more: t.exposeBoolean('more', {
        description: 'Whether there may be more failed deliveries, for another call.',
      }),
    }),
  })
  const deleted = builder.objectRef<{ id: string }>('DeletedWebhookEndpoint').implement({
    fields: (t) => ({ id: t.exposeString('id') }),
  })
  const create = builder.inputType('CreateWebhookEndpointInput', {
    fields: (t) => ({
      url: t.string({ required: true, description: URL }),
      types: t.stringList({ description: TYPES }),
      description: t.string(),
    }),
  })
  const update = builder.inputType('UpdateWebhookEndpointInput', {
    description: 'Changes to a webhook endpoint. Omitted fields are not changed.',
    fields: (t) => ({
      url: t.string({ description: URL }),
      types: t.stringList({ description: TYPES }),
      description: t.string({ description: 'Null clears it.' }),
      enabled: t.boolean({
        description: 'Enabling also clears the reason why the service disabled the endpoint.',
      }),
    }),
  })
  return { endpoint, withSecret, deliveries, state, testEvent, resent, deleted, create, update }
}

export function newEndpoint(input: {
  url: string
  types?: Maybe<string[]>
  description?: Maybe<string>
}): NewEndpoint {
  return { url: input.url, types: input.types ?? [], description: input.description ?? null }
}

export function endpointChange(input: {
  url?: Maybe<string>
  types?: Maybe<string[]>
  description?: Maybe<string>
  enabled?: Maybe<boolean>
}): EndpointChange {
  return {
    ...(input.url !== undefined && { url: required('url', input.url) }),
    ...(input.types !== undefined && { types: required('types', input.types) }),
    ...(input.description !== undefined && { description: input.description }),
    ...(input.enabled !== undefined && { enabled: required('enabled', input.enabled) }),
  }
}

/** Descriptions that the schemas share. */
export const WEBHOOK_TEXTS = {
  webhookEndpoints: 'Webhook endpoints of the app, oldest first.',
  webhookDeliveries: 'Deliveries to a webhook endpoint, newest first.',
  createWebhookEndpoint:
    'Creates a webhook endpoint. It receives events from now on, signed as defined by Standard Webhooks.',
  updateWebhookEndpoint: 'Changes a webhook endpoint, or enables or disables it.',
  rotateWebhookSecret:
    'Replaces the signing secret of a webhook endpoint. For 24 hours, deliveries carry the signatures of both secrets.',
  deleteWebhookEndpoint: 'Deletes a webhook endpoint and its deliveries.',
  sendTestEvent: 'Sends an event of type `webhook.test` to one webhook endpoint.',
  resendEvents:
    'Sends events to a webhook endpoint again, or for the first time if it did not exist when they happened. At most 100 per call.',
  resendFailedEvents:
    'Sends all events again whose delivery to a webhook endpoint failed, oldest first. At most 10,000 per call.',
  first: 'Maximum number of items, at most 100. Defaults to 50.',
  after: 'The `next` value of the previous page.',
  from: 'Only deliveries created at this time (ISO 8601) or later.',
  to: 'Only deliveries created before this time (ISO 8601).',
} as const
