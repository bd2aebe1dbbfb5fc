import type { AdminMutation, AdminQuery } from '../../operations/registry/registry.ts'
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
import { type AdminContext, mutationCall, queryCall } from './context.ts'

export function defineAdminWebhooks(builder: Builder<AdminContext>): void {
  const types = defineWebhookTypes(builder)
  builder.queryFields(
    (t) =>
      ({
        webhookEndpoints: t.field({
          type: [types.endpoint],
          description: WEBHOOK_TEXTS.webhookEndpoints,
          resolve: (_, _args, context) => webhookEndpoints(queryCall(context)),
        }),
        webhookDeliveries: t.field({
          type: types.deliveries,
          description: WEBHOOK_TEXTS.webhookDeliveries,
          args: {
            endpointId: t.arg.string({ required: true }),
            state: t.arg({ type: types.state }),
            first: t.arg.int({ description: WEBHOOK_TEXTS.first }),
            after: t.arg.string({ description: WEBHOOK_TEXTS.after }),
          },
          resolve: (_, { endpointId, state, ...page }, context) =>
            webhookDeliveries(queryCall(context), endpointId, state ?? null, page),
        }),
      }) satisfies Partial<Record<AdminQuery, unknown>>,
  )
  builder.mutationFields((t) => {
    const id = t.arg.string({ required: true })
    const endpointId = t.arg.string({ required: true })
    return {
      createWebhookEndpoint: t.field({
        type: types.withSecret,
        description: WEBHOOK_TEXTS.createWebhookEndpoint,
        args: { input: t.arg({ type: types.create, required: true }) },
        resolve: (_, { input }, context, info) =>
          createWebhookEndpoint(mutationCall(context, info), newEndpoint(input)),
      }),
      updateWebhookEndpoint: t.field({
        type: types.endpoint,
        description: WEBHOOK_TEXTS.updateWebhookEndpoint,
        args: { id, input: t.arg({ type: types.update, required: true }) },
        resolve: (_, { id, input }, context, info) =>
          updateWebhookEndpoint(mutationCall(context, info), id, endpointChange(input)),
      }),
      rotateWebhookSecret: t.field({
        type: types.withSecret,
        description: WEBHOOK_TEXTS.rotateWebhookSecret,
        args: { id },
        resolve: (_, { id }, context, info) => rotateWebhookSecret(mutationCall(context, info), id),
      }),
      deleteWebhookEndpoint: t.field({
        type: types.deleted,
        description: WEBHOOK_TEXTS.deleteWebhookEndpoint,
        args: { id },
        resolve: (_, { id }, context, info) => deleteWebhookEndpoint(mutationCall(context, info), id),
      }),
      sendTestEvent: t.field({
        type: types.testEvent,
        description: WEBHOOK_TEXTS.sendTestEvent,
        args: { endpointId },
        resolve: (_, { endpointId }, context, info) => sendTestEvent(mutationCall(context, info), endpointId),
      }),
      resendEvents: t.field({
        type: types.resent,
        description: WEBHOOK_TEXTS.resendEvents,
        args: { endpointId, eventIds: t.arg.stringList({ required: true }) },
        resolve: (_, { endpointId, eventIds }, context, info) =>
          resendEvents(mutationCall(context, info), endpointId, eventIds),
      }),
      resendFailedEvents: t.field({
        type: types.resent,
        description: WEBHOOK_TEXTS.resendFailedEvents,
        args: {
          endpointId,
          from: t.arg.string({ description: WEBHOOK_TEXTS.from }),
          to: t.arg.string({ description: WEBHOOK_TEXTS.to }),
        },
        resolve: (_, { endpointId, from, to }, context, info) =>
          resendFailedEvents(mutationCall(context, info), endpointId, { from: from ?? null, to: to ?? null }),
      }),
    } satisfies Partial<Record<AdminMutation, unknown>>
  })
}
