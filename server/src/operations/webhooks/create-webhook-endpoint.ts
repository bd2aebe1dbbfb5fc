import { randomUUID } from 'node:crypto'
import { checkEndpointUrl } from '../../domain/endpoint-url.ts'
import { badUserInput } from '../../domain/errors.ts'
import { eventFilter } from '../../domain/event-filter.ts'
import { checkText } from '../../domain/identifier.ts'
import { MAX_WEBHOOK_ENDPOINTS } from '../../domain/limits.ts'
import { lockApp } from '../../store/apps/apps.ts'
import { countEndpoints, type EndpointRow, insertEndpoint } from '../../store/webhooks/endpoints.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import type { Service } from '../call/service.ts'
import { newSealedSecret, openSecret } from './endpoint-secrets.ts'
import { requireEndpoint } from './require-endpoint.ts'

export interface NewEndpoint {
  url: string
  /** empty: all types */
  types: readonly string[]
  description: string | null
}

/** An endpoint with its signing secret, which is returned once. */
export type EndpointWithSecret = EndpointRow & { secret: string }

/** The same with the sealed secret, in base64: this is stored under an Idempotency-Key. */
export type EndpointWithSealed = EndpointRow & { sealed: string }

export async function createWebhookEndpoint(call: Call, input: NewEndpoint): Promise<EndpointWithSecret> {
  const { appId, service } = call
  const made = await mutate<EndpointWithSealed>(call, async (tx, moment) => {
    checkEndpointUrl('url', input.url, service.webhooks.allowPrivate)
    const types = eventFilter('types', input.types)
    checkText('description', input.description)
    // Locked, so that two concurrent calls cannot both take the last place.
    await lockApp(tx, appId)
    if (call.actor.kind === 'app') await moment()
    if ((await countEndpoints(tx, appId)) >= MAX_WEBHOOK_ENDPOINTS) {
      throw badUserInput(
        `An app can have at most ${MAX_WEBHOOK_ENDPOINTS} webhook endpoints. Delete one first.`,
      )
    }
    const id = `we_${randomUUID()}`
    const secret = newSealedSecret(service, appId, id)
    await insertEndpoint(tx, appId, { ...input, id, types, secret })
    return { ...(await requireEndpoint(tx, appId, id)), sealed: secret.toString('base64') }
  })
  return withSecret(service, appId, made)
}

export function withSecret(
  service: Service,
  appId: string,
  { sealed, ...endpoint }: EndpointWithSealed,
): EndpointWithSecret {
  return { ...endpoint, secret: openSecret(service, appId, endpoint.id, Buffer.from(sealed, 'base64')) }
}
