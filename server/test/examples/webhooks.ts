import { expect } from 'vitest'
import type { MutationExamples, QueryExamples } from './example.ts'
import type { World } from './world.ts'

// No name under .invalid exists, so nothing is sent.

const url = (id: string) => `https://${id.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}.invalid/hooks`

const deliveries = (world: World) =>
  `webhookDeliveries(endpointId: "${world.endpoint}", state: SUCCEEDED) { next }`
const nothingDelivered = { webhookDeliveries: { next: null } }

export const webhookQueries = {
  eventTypes: { args: () => ({}) },
  webhookEndpoints: { args: () => ({}), statements: 2 },
  webhookDeliveries: {
    args: ({ world }) => ({ endpointId: world.quietEndpoint, state: 'SUCCEEDED', first: 10, after: '99' }),
    statements: 3,
  },
} satisfies Partial<QueryExamples>

export const webhookMutations = {
  createWebhookEndpoint: {
    args: ({ id }) => ({ input: { url: url(id), types: ['feature.deleted'], description: 'CRM' } }),
    audit: ({ id }) => ({
      sentence: `created the webhook endpoint ${url(id)}`,
      subjectKind: 'webhookEndpoint',
      before: null,
      after: { url: url(id), types: ['feature.deleted'], description: 'CRM', enabled: true },
    }),
    repeated: {
      answered: ['"secret":"whsec_', '"types":["feature.deleted"]'],
      meanwhile: ({ world }) =>
        `updateWebhookEndpoint(id: "${world.endpoint}", input: { enabled: true }) { id }`,
      effect: ({ world }) => deliveries(world),
      once: nothingDelivered,
    },
    statements: 8,
    keyed: [13, 5],
  },
  updateWebhookEndpoint: {
    args: ({ world, id }) => ({
      id: world.endpoint,
      input: { description: id, types: ['feature.deleted'], url: url('world'), enabled: true },
    }),
    audit: ({ world, id }) => ({
      sentence: `changed the webhook endpoint ${url('world')}`,
      subjectKind: 'webhookEndpoint',
      subjectId: world.endpoint,
      before: { types: ['feature.deleted'] },
      after: { description: id },
    }),
    repeated: {
      answered: ['"enabled":true'],
      meanwhile: ({ world }) =>
        `updateWebhookEndpoint(id: "${world.endpoint}", input: { description: "Later" }) { id }`,
      effect: ({ world }) => deliveries(world),
      once: nothingDelivered,
    },
    statements: 9,
    keyed: [14, 5],
  },
  rotateWebhookSecret: {
    args: ({ world }) => ({ id: world.quietEndpoint }),
    audit: ({ world }) => ({
      subjectKind: 'webhookEndpoint',
      subjectId: world.quietEndpoint,
      after: { previousSecretUntil: expect.any(String) },
    }),
    repeated: {
      answered: ['"secret":"whsec_'],
      meanwhile: ({ world }) => `rotateWebhookSecret(id: "${world.quietEndpoint}") { id }`,
      effect: ({ world }) => deliveries(world),
      once: nothingDelivered,
    },
    statements: 8,
    keyed: [13, 5],
  },
  deleteWebhookEndpoint: {
    after: ['createWebhookEndpoint'],
    args: ({ made }) => ({ id: made.createWebhookEndpoint.id }),
    audit: ({ made, id }) => ({
      sentence: `deleted the webhook endpoint ${url(id)}`,
      subjectKind: 'webhookEndpoint',
      subjectId: made.createWebhookEndpoint.id,
      before: { url: url(id) },
      after: null,
    }),
    repeated: {
      answered: ['"id":"we_'],
      meanwhile: ({ world }) =>
        `updateWebhookEndpoint(id: "${world.endpoint}", input: { enabled: true }) { id }`,
      effect: ({ world }) => deliveries(world),
      once: nothingDelivered,
    },
    statements: 7,
    keyed: [12, 5],
  },
  sendTestEvent: {
    args: ({ world }) => ({ endpointId: world.endpoint }),
    audit: ({ world }) => ({
      sentence: `sent a test event to the webhook endpoint ${url('world')}`,
      subjectKind: 'webhookEndpoint',
      subjectId: world.endpoint,
    }),
    repeated: {
      answered: ['"type":"webhook.test"', '"id":"evt_'],
      meanwhile: ({ world }) => `sendTestEvent(endpointId: "${world.endpoint}") { id }`,
      effect: ({ world }) => deliveries(world),
      once: nothingDelivered,
    },
    statements: 7,
    keyed: [12, 5],
  },
  resendEvents: {
    after: ['sendTestEvent'],
    args: ({ world, made }) => ({ endpointId: world.endpoint, eventIds: [made.sendTestEvent.id] }),
    audit: ({ world }) => ({
      sentence: `resent events to the webhook endpoint ${url('world')}`,
      subjectKind: 'webhookEndpoint',
      subjectId: world.endpoint,
    }),
    repeated: {
      answered: ['"resent":1'],
      meanwhile: ({ world }) => `sendTestEvent(endpointId: "${world.endpoint}") { id }`,
      effect: ({ world }) => deliveries(world),
      once: nothingDelivered,
    },
    statements: 7,
    keyed: [12, 5],
  },
  resendFailedEvents: {
    args: ({ world }) => ({
      endpointId: world.endpoint,
      from: '2026-01-01T00:00:00Z',
      to: '2050-01-01T00:00:00Z',
    }),
    audit: ({ world }) => ({
      sentence: `resent failed events to the webhook endpoint ${url('world')}`,
      subjectKind: 'webhookEndpoint',
      subjectId: world.endpoint,
    }),
    repeated: {
      answered: ['"resent":0', '"more":false'],
      meanwhile: ({ world }) => `sendTestEvent(endpointId: "${world.endpoint}") { id }`,
      effect: ({ world }) => deliveries(world),
      once: nothingDelivered,
    },
    statements: 7,
    keyed: [12, 5],
  },
} satisfies Partial<MutationExamples>
