import { randomBytes } from 'node:crypto'
import type { Tx } from '../../store/connection/database.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { insertEvent } from './books.ts'

export const newRef = (kind: 'cus' | 'sub' | 'evt' | 'in' | 're'): string =>
  `${kind}_sandbox_${randomBytes(12).toString('hex')}`

/** Anyone who has it can pay. */
export const newCheckoutId = (): string => `cs_sandbox_${randomBytes(24).toString('base64url')}`

/** The object of an event, with enough of it for a receiver to ask for the rest. */
interface EventObject {
  object: 'checkout.session' | 'subscription' | 'invoice' | 'charge'
  id: string
  customer: string | null
  subscription?: string
}

/** Stores an event, and queues its delivery in the same transaction. */
export async function announce(tx: Tx, appId: string, type: string, object: EventObject): Promise<void> {
  const id = newRef('evt')
  await insertEvent(tx, appId, id, { id, object: 'event', type, data: { object } })
  await addJob(tx, 'send-sandbox-event', { appId, id })
}
