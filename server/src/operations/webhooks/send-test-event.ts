import { randomUUID } from 'node:crypto'
import { insertTestDelivery } from '../../store/webhooks/deliveries.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { TEST_EVENT_TYPE } from './event-body.ts'
import { requireEnabledEndpoint } from './require-endpoint.ts'

/** An event that was made for one endpoint. */
export interface TestEvent {
  id: string
  type: string
  at: number
}

/** Queues a test event for one endpoint. It is not in the event log, and no other endpoint receives it. */
export async function sendTestEvent(call: Call, endpointId: string): Promise<TestEvent> {
  const { appId } = call
  return mutate(call, async (tx, moment) => {
    await requireEnabledEndpoint(tx, appId, endpointId)
    if (call.actor.kind === 'app') await moment()
    const event = { id: `evt_${randomUUID().replaceAll('-', '')}`, type: TEST_EVENT_TYPE }
    return { ...event, at: await insertTestDelivery(tx, appId, endpointId, event) }
  })
}
