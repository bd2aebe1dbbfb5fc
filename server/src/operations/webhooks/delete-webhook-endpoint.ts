import { deleteEndpoint } from '../../store/webhooks/endpoints.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireLockedEndpoint } from './require-endpoint.ts'

/** Nothing more is delivered. The deliveries of the endpoint are deleted in the background. */
export async function deleteWebhookEndpoint(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutate(call, async (tx, moment) => {
    await requireLockedEndpoint(tx, appId, id)
    if (call.actor.kind === 'app') await moment()
    await deleteEndpoint(tx, appId, id)
    return { id }
  })
}
