import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { type EndpointRow, findEndpoint, lockEndpoint } from '../../store/webhooks/endpoints.ts'

export async function requireEndpoint(db: HomeDb, appId: string, id: string): Promise<EndpointRow> {
  const endpoint = isIdentifier(id) ? await findEndpoint(db, appId, id) : null
  if (!endpoint) throw endpointNotFound(id)
  return endpoint
}

/** Locks the endpoint until the transaction ends. */
export async function requireLockedEndpoint(db: HomeDb, appId: string, id: string): Promise<EndpointRow> {
  const endpoint = isIdentifier(id) ? await lockEndpoint(db, appId, id) : null
  if (!endpoint) throw endpointNotFound(id)
  return endpoint
}

/** For something to be sent at once. */
export async function requireEnabledEndpoint(db: HomeDb, appId: string, id: string): Promise<EndpointRow> {
  const endpoint = await requireLockedEndpoint(db, appId, id)
  if (!endpoint.enabled) throw badUserInput(`The webhook endpoint ${quote(id)} is disabled. Enable it first.`)
  return endpoint
}

const endpointNotFound = (id: string) =>
  new TollgateError('WEBHOOK_ENDPOINT_NOT_FOUND', `Webhook endpoint not found: ${quote(id)}`)
