import { WEBHOOK_SECRET_OVERLAP_HOURS } from '../../domain/limits.ts'
import { replaceSecret } from '../../store/webhooks/endpoints.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { type EndpointWithSealed, type EndpointWithSecret, withSecret } from './create-webhook-endpoint.ts'
import { newSealedSecret } from './endpoint-secrets.ts'
import { requireEndpoint, requireLockedEndpoint } from './require-endpoint.ts'

/** Replaces the signing secret. For a day, deliveries carry the signatures of both. */
export async function rotateWebhookSecret(call: Call, id: string): Promise<EndpointWithSecret> {
  const { appId, service } = call
  const rotated = await mutate<EndpointWithSealed>(call, async (tx, moment) => {
    await requireLockedEndpoint(tx, appId, id)
    if (call.actor.kind === 'app') await moment()
    const secret = newSealedSecret(service, appId, id)
    await replaceSecret(tx, appId, id, secret, WEBHOOK_SECRET_OVERLAP_HOURS)
    return { ...(await requireEndpoint(tx, appId, id)), sealed: secret.toString('base64') }
  })
  return withSecret(service, appId, rotated)
}
