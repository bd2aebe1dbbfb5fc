import { deleteEvent, findEvent } from '../../billing/sandbox/books.ts'
import { signatureHeader } from '../../billing/signature.ts'
import { traceHeaders } from '../../telemetry/tracing.ts'
import type { Service } from '../call/service.ts'
import { sandboxSecret } from './provider-of.ts'

const TIMEOUT_MS = 10_000

/** Delivers a sandbox event to our own webhook as any provider would: over HTTP, signed. */
export async function sendSandboxEvent(service: Service, appId: string, id: string): Promise<void> {
  const payload = await findEvent(service.pool, appId, id)
  if (payload === null) return
  const body = Buffer.from(payload)
  const seconds = Math.floor(service.clock() / 1000)
  const secret = sandboxSecret(service.billing, appId)
  const response = await fetch(`${service.billing.ownUrl()}/webhooks/sandbox/${encodeURIComponent(appId)}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Tollgate-Signature': signatureHeader(secret, body, seconds),
      ...traceHeaders(),
    },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok)
    throw new Error(`the webhook endpoint returned ${response.status}: ${await response.text()}`)
  await deleteEvent(service.pool, appId, id)
}
