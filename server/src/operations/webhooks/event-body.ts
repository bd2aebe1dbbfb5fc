import { eventData } from '../../domain/event.ts'
import type { DeliveryRow } from '../../store/webhooks/deliveries.ts'

/** The type of events that `sendTestEvent` makes. They are not in the event log. */
export const TEST_EVENT_TYPE = 'webhook.test'

const TEST_DATA = eventData({ message: 'This is a test event of Tollgate.' })

type Delivered = Pick<
  DeliveryRow,
  'eventId' | 'eventType' | 'sequence' | 'createdAt' | 'eventAt' | 'userId' | 'data'
>

/**
 * The body of every request of a delivery: the event as JSON. Null: it is no longer kept. The sequence of a test event is
 * 0.
 */
export function eventBody(appId: string, delivery: Delivered): string | null {
  const { eventId: id, eventType: type, sequence, createdAt, eventAt, userId, data } = delivery
  const body = (at: number, sequence: number, data: unknown) =>
    JSON.stringify({ id, type, timestamp: new Date(at).toISOString(), appId, userId, sequence, data })
  if (sequence === null) return body(createdAt, 0, TEST_DATA)
  return eventAt === null ? null : body(eventAt, sequence, data)
}
