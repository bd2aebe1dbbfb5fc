import { badUserInput } from '../../domain/errors.ts'
import { MAX_DELIVERIES } from '../../domain/limits.ts'
import { type DeliveryRow, type DeliveryState, listDeliveries } from '../../store/webhooks/deliveries.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyBefore, pageOf } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { eventBody } from './event-body.ts'
import { requireEndpoint } from './require-endpoint.ts'

const USUAL = 50

/** A delivery with the body of its requests; null: the event is no longer kept. */
export type ShownDelivery = DeliveryRow & { body: string | null }

/** Deliveries to one endpoint, newest first. */
export async function webhookDeliveries(
  { service, appId }: Call,
  endpointId: string,
  state: DeliveryState | null,
  { first, after }: Page,
): Promise<KeyedPage<ShownDelivery>> {
  await requireApp(service.pool, appId)
  const size = first ?? USUAL
  if (size < 1 || size > MAX_DELIVERIES) {
    throw badUserInput(`first must be from 1 to ${MAX_DELIVERIES}`, 'first')
  }
  const before = keyBefore(after)
  await requireEndpoint(service.pool, appId, endpointId)
  const rows = await listDeliveries(service.pool, appId, { endpointId, state }, before, size + 1)
  const shown = rows.map((row) => ({ ...row, body: eventBody(appId, row) }))
  return pageOf(shown, size, ({ seq }) => seq)
}
