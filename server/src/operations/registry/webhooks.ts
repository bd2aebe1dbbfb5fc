import { type AuditSentence, by, byId, byResult, type MutationEntry, type QueryEntry } from './entry.ts'

export const webhookQueries = {
  eventTypes: { dashboard: true, role: 'VIEWER' },
  webhookEndpoints: { admin: true, scope: 'ALL', errors: [], dashboard: true, role: 'VIEWER' },
  webhookDeliveries: {
    admin: true,
    scope: 'ALL',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    dashboard: true,
    role: 'VIEWER',
  },
} as const satisfies Record<string, QueryEntry>

const ofEndpoint = { kind: 'webhookEndpoint', id: by('endpointId') } as const

export const webhookMutations = {
  createWebhookEndpoint: {
    admin: true,
    scope: 'ALL',
    errors: [],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'webhookEndpoint', id: byResult },
    sentence: 'created the webhook endpoint {url}',
  },
  updateWebhookEndpoint: {
    admin: true,
    scope: 'ALL',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'webhookEndpoint', id: byId },
    sentence: ({ before, after }) =>
      before?.enabled === after?.enabled
        ? 'changed the webhook endpoint {url}'
        : `${after?.enabled === true ? 'enabled' : 'disabled'} the webhook endpoint {url}`,
  },
  rotateWebhookSecret: {
    admin: true,
    scope: 'ALL',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'webhookEndpoint', id: byId },
    sentence: 'rotated the signing secret of the webhook endpoint {url}',
  },
  deleteWebhookEndpoint: {
    admin: true,
    scope: 'ALL',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'webhookEndpoint', id: byId },
    sentence: 'deleted the webhook endpoint {url}',
  },
  sendTestEvent: {
    admin: true,
    scope: 'ALL',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: ofEndpoint,
    sentence: 'sent a test event to the webhook endpoint {url}',
  },
  resendEvents: {
    admin: true,
    scope: 'ALL',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: ofEndpoint,
    sentence: 'resent events to the webhook endpoint {url}',
  },
  resendFailedEvents: {
    admin: true,
    scope: 'ALL',
    errors: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: ofEndpoint,
    sentence: 'resent failed events to the webhook endpoint {url}',
  },
} as const satisfies Record<string, MutationEntry>

export const webhookEvents = {
  disableWebhookEndpoint: ({ after }) =>
    after?.disabledReason === 'GONE'
      ? 'disabled the webhook endpoint {url}, which answered 410 Gone'
      : 'disabled the webhook endpoint {url}, to which nothing was delivered for five days',
} as const satisfies Record<string, AuditSentence>
