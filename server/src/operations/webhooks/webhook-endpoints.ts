import { type EndpointRow, listEndpoints } from '../../store/webhooks/endpoints.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'

/** The webhook endpoints of an app, oldest first. */
export async function webhookEndpoints({ service, appId }: Call): Promise<EndpointRow[]> {
  await requireApp(service.pool, appId)
  return listEndpoints(service.pool, appId)
}
