import { checkEndpointUrl } from '../../domain/endpoint-url.ts'
import { eventFilter } from '../../domain/event-filter.ts'
import { checkText } from '../../domain/identifier.ts'
import {
  disableEndpoint,
  type EndpointRow,
  enableEndpoint,
  updateEndpoint,
} from '../../store/webhooks/endpoints.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import type { NewEndpoint } from './create-webhook-endpoint.ts'
import { requireEndpoint, requireLockedEndpoint } from './require-endpoint.ts'

/** Absent fields are not changed. */
export type EndpointChange = Partial<NewEndpoint & { enabled: boolean }>

/**
 * Changes an endpoint. A disabled one gets no new deliveries; those that are waiting continue once it is enabled again.
 * Waiting deliveries go to the new URL.
 */
export async function updateWebhookEndpoint(
  call: Call,
  id: string,
  { enabled, ...change }: EndpointChange,
): Promise<EndpointRow> {
  const { appId, service } = call
  return mutate(call, async (tx, moment) => {
    if (change.url !== undefined) checkEndpointUrl('url', change.url, service.webhooks.allowPrivate)
    checkText('description', change.description)
    const types = change.types && eventFilter('types', change.types)
    const before = await requireLockedEndpoint(tx, appId, id)
    if (call.actor.kind === 'app') await moment()
    await updateEndpoint(tx, appId, { ...before, ...change, types: types ?? before.types })
    if (enabled === true) await enableEndpoint(tx, appId, id)
    if (enabled === false) await disableEndpoint(tx, appId, id, null)
    return requireEndpoint(tx, appId, id)
  })
}
