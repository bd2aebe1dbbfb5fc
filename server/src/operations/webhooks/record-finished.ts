import { MAX_FAILING_MS } from '../../domain/webhook-retry.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { snapshot } from '../../store/audit/snapshots.ts'
import { lookUpKeys, type Tx, transaction } from '../../store/connection/database.ts'
import {
  type EndpointRef,
  noteFailures,
  noteSuccesses,
  recordOutcomes,
} from '../../store/webhooks/claim-deliveries.ts'
import { type DisabledReason, disableEndpoint, lockEndpoint } from '../../store/webhooks/endpoints.ts'
import type { Service } from '../call/service.ts'
import type { Finished } from './attempt-delivery.ts'

/** Records finished attempts. Disables endpoints that answered 410 Gone or have failed for days. */
export async function recordFinished(
  { pool, log }: Pick<Service, 'pool' | 'log'>,
  finished: readonly Finished[],
): Promise<void> {
  const succeeded = endpointsOf(finished.filter(({ state }) => state === 'SUCCEEDED'))
  // Of one that does both, the success counts.
  const failed = endpointsOf(finished.filter(({ state }) => state !== 'SUCCEEDED')).filter(
    (one) => !succeeded.some((other) => isSame(one, other)),
  )
  const gone = endpointsOf(finished.filter((one) => one.gone))
  const disabled = await transaction(pool, async (tx) => {
    await lookUpKeys(tx)
    await recordOutcomes(tx, finished)
    if (succeeded.length > 0) await noteSuccesses(tx, succeeded)
    const failing = failed.length > 0 ? await noteFailures(tx, failed, MAX_FAILING_MS) : []
    return [...(await disableAll(tx, gone, 'GONE')), ...(await disableAll(tx, failing, 'FAILING'))]
  })
  for (const { reason, ...endpoint } of disabled) {
    const because = reason === 'GONE' ? 'it answered 410 Gone' : 'nothing was delivered for five days'
    log.warn(endpoint, `a webhook endpoint was disabled: ${because}`)
  }
}

/** In one order, so that concurrent processes do not wait for each other in a circle. */
function endpointsOf(finished: readonly EndpointRef[]): EndpointRef[] {
  const found = new Map(
    finished.map(({ appId, endpointId }) => [JSON.stringify([appId, endpointId]), { appId, endpointId }]),
  )
  return [...found.keys()].sort().flatMap((key) => found.get(key) ?? [])
}

const isSame = (a: EndpointRef, b: EndpointRef): boolean =>
  a.appId === b.appId && a.endpointId === b.endpointId

async function disableAll(tx: Tx, endpoints: readonly EndpointRef[], reason: DisabledReason) {
  const disabled: (EndpointRef & { reason: DisabledReason; url: string })[] = []
  for (const { appId, endpointId } of endpoints) {
    const endpoint = await lockEndpoint(tx, appId, endpointId)
    if (!endpoint?.enabled) continue
    const before = await snapshot(tx, 'webhookEndpoint', appId, endpointId)
    await disableEndpoint(tx, appId, endpointId, reason)
    await insertAuditEntry(tx, {
      actorKind: 'SERVICE',
      memberEmail: 'tollgate',
      appId,
      operation: 'disableWebhookEndpoint',
      subjectKind: 'webhookEndpoint',
      subjectId: endpointId,
      before,
      after: await snapshot(tx, 'webhookEndpoint', appId, endpointId),
    })
    disabled.push({ appId, endpointId, reason, url: endpoint.url })
  }
  return disabled
}
