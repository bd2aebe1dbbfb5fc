import {
  type NoticeVerdict,
  readSandboxNotice,
  readStripeNotice,
  refsIn,
  storedBody,
  subjectOf,
} from '../../billing/notice.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { findApp } from '../../store/apps/apps.ts'
import { insertNotice } from '../../store/billing/notices.ts'
import { transaction } from '../../store/connection/database.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { holdErasures, isErased } from '../../store/privacy/erased-refs.ts'
import type { Service } from '../call/service.ts'
import { accountOf, PROVIDERS, type ProviderName } from './provider-of.ts'

/** The outcome of a delivery to an app's webhook. */
export type NoticeReceipt =
  | 'accepted'
  | 'duplicate'
  | 'signature'
  | 'stale'
  | 'malformed'
  | 'unknown app'
  | 'not set up'

const READERS: Record<ProviderName, typeof readSandboxNotice | typeof readStripeNotice> = {
  sandbox: readSandboxNotice,
  stripe: readStripeNotice,
}

interface Arrival {
  provider: string
  appId: string
  /** the exact bytes that were signed */
  body: Buffer
  signature: string | undefined
}

/**
 * Verifies an event and stores it once; the provider need not send it again. A job processes it later. Null: there is
 * no such provider.
 */
export async function receiveNotice(service: Service, arrival: Arrival): Promise<NoticeReceipt | null> {
  const provider = PROVIDERS.find((known) => known === arrival.provider)
  if (!provider) return null
  const receipt = await take(service, provider, arrival)
  service.metrics.notices.inc({ provider, outcome: receipt })
  return receipt
}

async function take(service: Service, provider: ProviderName, arrival: Arrival): Promise<NoticeReceipt> {
  const { appId, body, signature } = arrival
  if (!isIdentifier(appId) || !(await findApp(service.pool, appId))) return 'unknown app'
  const { webhookSecrets } = await accountOf(service, appId, provider)
  if (webhookSecrets.length === 0) return 'not set up'
  const seconds = Math.floor(service.clock() / 1000)
  const verdict: NoticeVerdict = await READERS[provider](webhookSecrets, signature, body, seconds)
  if ('refused' in verdict) return verdict.refused
  const { eventId, type } = verdict
  const subjects = Object.values(subjectOf(verdict)).filter((ref) => ref !== null)
  const refs = refsIn(verdict.payload)
  if (![eventId, type, ...subjects, ...refs].every(isIdentifier)) return 'malformed'
  const named = refs.map((ref) => ({ provider, ref }))
  const isNew = await transaction(service.pool, async (tx) => {
    await holdErasures(tx, appId)
    // The event is about a deleted user, whose data must not be stored again.
    if (await isErased(tx, appId, named)) return true
    const seq = await insertNotice(tx, appId, { provider, eventId, type, body: storedBody(verdict, body) })
    if (seq === null) return false
    await addJob(tx, 'handle-notice', { appId, seq }, `notice:${appId}:${seq}`)
    return true
  })
  return isNew ? 'accepted' : 'duplicate'
}
