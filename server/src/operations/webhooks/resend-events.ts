import { badUserInput, quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_RESENT_EVENTS, MAX_RESENT_FAILED } from '../../domain/limits.ts'
import { timeOf } from '../../domain/time.ts'
import { timestampOrNull } from '../../store/connection/database.ts'
import { resendDeliveries, resendFailed } from '../../store/webhooks/deliveries.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireEnabledEndpoint } from './require-endpoint.ts'

/** The number of deliveries queued again, and whether there are more of them. */
export interface Resent {
  resent: number
  more: boolean
}

/**
 * Sends events again to one endpoint, or for the first time, whatever became of them and whatever its types are. All or
 * none.
 */
export async function resendEvents(
  call: Call,
  endpointId: string,
  eventIds: readonly string[],
): Promise<Resent> {
  const { appId } = call
  if (eventIds.length < 1 || eventIds.length > MAX_RESENT_EVENTS) {
    throw badUserInput(`eventIds must contain 1 to ${MAX_RESENT_EVENTS} IDs`, 'eventIds')
  }
  return mutate(call, async (tx, moment) => {
    await requireEnabledEndpoint(tx, appId, endpointId)
    if (call.actor.kind === 'app') await moment()
    const known = new Set(await resendDeliveries(tx, appId, endpointId, eventIds.filter(isIdentifier)))
    const missing = eventIds.find((id) => !known.has(id))
    if (missing !== undefined) {
      throw badUserInput(`Event not found, or no longer kept: ${quote(missing)}`, 'eventIds')
    }
    return { resent: known.size, more: false }
  })
}

/** Sends all failed deliveries of a time again, at most a certain number per call, oldest first. */
export async function resendFailedEvents(
  call: Call,
  endpointId: string,
  { from, to }: { from: string | null; to: string | null },
): Promise<Resent> {
  const { appId } = call
  return mutate(call, async (tx, moment) => {
    const range = {
      from: timestampOrNull(from === null ? null : timeOf('from', from)),
      to: timestampOrNull(to === null ? null : timeOf('to', to)),
    }
    await requireEnabledEndpoint(tx, appId, endpointId)
    if (call.actor.kind === 'app') await moment()
    const resent = await resendFailed(tx, appId, endpointId, { ...range, limit: MAX_RESENT_FAILED })
    return { resent, more: resent === MAX_RESENT_FAILED }
  })
}
