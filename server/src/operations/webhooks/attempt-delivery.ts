import { deliveryOutcome, withAttempt } from '../../domain/delivery-outcome.ts'
import { retryAfterOf } from '../../domain/webhook-retry.ts'
import type { AttemptOutcome, ClaimedDelivery } from '../../store/webhooks/claim-deliveries.ts'
import type { WebhookSender } from '../../webhooks/send-webhook.ts'
import { signatureHeaders } from '../../webhooks/signature.ts'
import type { Service } from '../call/service.ts'
import { openSecret } from './endpoint-secrets.ts'
import { eventBody } from './event-body.ts'

/** A finished attempt. */
export interface Finished extends AttemptOutcome {
  /** The receiver answered 410 Gone. */
  gone: boolean
  /** Whether there was a response, of any status. */
  answered: boolean
}

type Deps = Pick<Service, 'webhooks' | 'clock'>

/** Makes one attempt at a claimed delivery. Null: the service is stopping, and the attempt does not count. */
export async function attemptDelivery(
  service: Deps,
  sender: WebhookSender,
  delivery: ClaimedDelivery,
  lease: string,
): Promise<Finished | null> {
  const { appId, endpointId, seq } = delivery
  const at = service.clock()
  const of = { appId, endpointId, seq, lease }
  const request = requestOf(service, delivery, at)
  if (typeof request === 'string') {
    const attempt = { at, durationMs: 0, status: null, error: request, body: '' }
    const log = withAttempt(delivery.log, attempt)
    return { ...of, state: 'FAILED', nextIn: null, log, gone: false, answered: false }
  }
  const response = await sender.send(request)
  if (!response) return null
  const { retryAfter, durationMs, ...answer } = response
  const { gone, ...outcome } = deliveryOutcome(
    { status: answer.status, retryAfter: retryAfterOf(retryAfter, service.clock()) },
    delivery.attempts + 1,
    Math.random(),
  )
  const log = withAttempt(delivery.log, { at, durationMs: Math.round(durationMs), ...answer })
  return { ...of, ...outcome, log, gone, answered: answer.status !== null }
}

/** The request of a delivery, or the reason why it cannot be made. */
function requestOf(service: Deps, delivery: ClaimedDelivery, now: number) {
  const { appId, endpointId, eventId: id, url, secret, previousSecret } = delivery
  const body = eventBody(appId, delivery)
  if (body === null) return 'the event is no longer kept'
  const secrets = [secret, previousSecret].filter((sealed) => sealed !== null)
  const open = secrets.map((sealed) => openSecret(service, appId, endpointId, sealed))
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'User-Agent': 'Tollgate-Webhooks',
    ...signatureHeaders(open, { id, timestamp: Math.floor(now / 1000), body }),
  }
  return { url, headers, body }
}
