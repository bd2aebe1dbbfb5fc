import { EVENT_TYPES } from '../../domain/event.ts'
import { createWebhookEndpoint } from '../../operations/webhooks/create-webhook-endpoint.ts'
import { deleteWebhookEndpoint } from '../../operations/webhooks/delete-webhook-endpoint.ts'
import { resendEvents, resendFailedEvents } from '../../operations/webhooks/resend-events.ts'
import { rotateWebhookSecret } from '../../operations/webhooks/rotate-webhook-secret.ts'
import { sendTestEvent } from '../../operations/webhooks/send-test-event.ts'
import { updateWebhookEndpoint } from '../../operations/webhooks/update-webhook-endpoint.ts'
import { webhookDeliveries } from '../../operations/webhooks/webhook-deliveries.ts'
import { webhookEndpoints } from '../../operations/webhooks/webhook-endpoints.ts'
import type { Builder } from '../types/builder.ts'
import { defineWebhookTypes, endpointChange, newEndpoint, WEBHOOK_TEXTS } from '../types/webhook-types.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'

export function defineWebhooks(builder: Builder<DashboardContext>): void {
  const types = defineWebhookTypes(builder)
  queryFields(builder, (t, { appId }) => ({
    eventTypes: t.stringList({
      description: 'All event types that a webhook endpoint can receive.',
      resolve: () => [...EVENT_TYPES],
    }),
    webhookEndpoints: t.field({
      type: [types.endpoint],
      description: WEBHOOK_TEXTS.webhookEndpoints,
      args: { appId },
      resolve: (_, { appId }, context) => webhookEndpoints(appCall(context, appId)),
    }),
    webhookDeliveries: t.field({
      type: types.deliveries,
      description: WEBHOOK_TEXTS.webhookDeliveries,
      args: {
        appId,
        endpointId: t.arg.string({ required: true }),
        state: t.arg({ type: types.state }),
        first: t.arg.int({ description: WEBHOOK_TEXTS.first }),
        after: t.arg.string({ description: WEBHOOK_TEXTS.after }),
      },
      resolve: (_, { appId, endpointId, state, ...page }, context) =>
        webhookDeliveries(appCall(context, appId), endpointId, state ?? null, page),
    }),
  }))
  mutationFields(builder, (t, { appId, id }) => {
    const endpointId = t.arg.string({ required: true })
    return {
      createWebhookEndpoint: t.field({
        type: types.withSecret,
        description: WEBHOOK_TEXTS.createWebhookEndpoint,
        args: { appId, input: t.arg({ type: types.create, required: true }) },
        resolve: (_, { appId, input }, context) =>
          createWebhookEndpoint(appCall(context, appId), newEndpoint(input)),
      }),
      updateWebhookEndpoint: t.field({
        type: types.endpoint,
        description: WEBHOOK_TEXTS.updateWebhookEndpoint,
        args: { appId, id, input: t.arg({ type: types.update, required: true }) },
        resolve: (_, { appId, id, input }, context) =>
          updateWebhookEndpoint(appCall(context, appId), id, endpointChange(input)),
      }),
      rotateWebhookSecret: t.field({
        type: types.withSecret,
        description: WEBHOOK_TEXTS.rotateWebhookSecret,
        args: { appId, id },
        resolve: (_, { appId, id }, context) => rotateWebhookSecret(appCall(context, appId), id),
      }),
      deleteWebhookEndpoint: t.field({
        type: types.deleted,
        description: WEBHOOK_TEXTS.deleteWebhookEndpoint,
        args: { appId, id },
        resolve: (_, { appId, id }, context) => deleteWebhookEndpoint(appCall(context, appId), id),
      }),
      sendTestEvent: t.field({
        type: types.testEvent,
        description: WEBHOOK_TEXTS.sendTestEvent,
        args: { appId, endpointId },
        resolve: (_, { appId, endpointId }, context) => sendTestEvent(appCall(context, appId), endpointId),
      }),
      resendEvents: t.field({
        type: types.resent,
        description: WEBHOOK_TEXTS.resendEvents,
        args: { appId, endpointId, eventIds: t.arg.stringList({ required: true }) },
        resolve: (_, { appId, endpointId, eventIds }, context) =>
          resendEvents(appCall(context, appId), endpointId, eventIds),
      }),
      resendFailedEvents: t.field({
        type: types.resent,
        description: WEBHOOK_TEXTS.resendFailedEvents,
        args: {
          appId,
          endpointId,
          from: t.arg.string({ description: WEBHOOK_TEXTS.from }),
          to: t.arg.string({ description: WEBHOOK_TEXTS.to }),
        },
        resolve: (_, { appId, endpointId, from, to }, context) =>
          resendFailedEvents(appCall(context, appId), endpointId, { from: from ?? null, to: to ?? null }),
      }),
    }
  })
}
