import { type BillingProvider, type ChargeOutcome, ProviderError } from '../../billing/provider.ts'
import {
  type CheckoutSession,
  findCheckoutSession,
  holdCheckoutSession,
} from '../../store/billing/checkout-sessions.ts'
import { findAnyPrices } from '../../store/billing/prices.ts'
import { type ChargeJob, holdChargeCard, noteChargeAsked } from '../../store/credits/recharges.ts'
import { findUserByUid } from '../../store/users/users.ts'
import type { Service } from '../call/service.ts'
import { catalogueOf } from '../catalogue/catalogue.ts'
import { askAboutCheckout } from './ask-provider.ts'
import { declineRecharge } from './decline-recharge.ts'
import { providerOf } from './provider-of.ts'
import { customerAt } from './saved-card.ts'
import { soldName } from './sold-name.ts'

/** A charge as stored, with what the provider is asked to charge. */
interface Charge {
  session: CheckoutSession
  amount: number
  card: string | null
  isRetry: boolean
}

/**
 * Charges the saved card of a user for a rule. It may run any number of times: the provider charges once per session. If
 * the provider does not answer, the error is thrown, and the job is tried again.
 */
export async function chargeRecharge(service: Service, job: ChargeJob): Promise<void> {
  const { pool } = service
  const { appId, sessionId } = job
  const attempt = await noteChargeAsked(pool, appId, sessionId)
  const session = await findCheckoutSession(pool, appId, sessionId)
  if (!session) return refundOrphan(service, job)
  // Another run has ended it.
  if (attempt?.state !== 'UNDER_WAY') return
  const provider = await providerOf(service, appId, session.provider)
  const outcome = await outcomeOf(service, appId, provider, { session, ...attempt })
  if (outcome.kind === 'declined') return declineRecharge(service, appId, session, outcome)
  if (!(await holdCheckoutSession(pool, appId, sessionId))) {
    // The user was deleted during the charge, so the credit cannot be added.
    const { amount } = attempt
    return provider.refund(outcome.ref, { amount, reason: 'REQUESTED_BY_CUSTOMER', key: sessionId })
  }
  await askAboutCheckout(service, { appId, provider: session.provider, ref: outcome.ref })
}

/** The user was deleted. An earlier run of this job may have charged before, and never learned of it. */
async function refundOrphan(service: Service, job: ChargeJob): Promise<void> {
  const { appId, sessionId: key, amount, since } = job
  const provider = await providerOf(service, appId, job.provider)
  const ref = await provider.findCharge(key, since)
  if (ref !== null) await provider.refund(ref, { amount, reason: 'REQUESTED_BY_CUSTOMER', key })
}

/** A refusal by the provider is final: nothing was charged. */
async function outcomeOf(
  service: Service,
  appId: string,
  provider: BillingProvider,
  charge: Charge,
): Promise<ChargeOutcome> {
  try {
    return await ask(service, appId, provider, charge)
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'refused') throw error
    return { kind: 'declined', hard: true, reason: error.message }
  }
}

async function ask(
  service: Service,
  appId: string,
  provider: BillingProvider,
  { session, card: known, isRetry }: Charge,
): Promise<ChargeOutcome> {
  const { pool } = service
  const user = session.userUid === null ? null : await findUserByUid(pool, appId, session.userUid)
  const customerRef = customerAt(user?.billingId ?? null, session.provider)
  const saved = customerRef === null ? null : (known ?? (await provider.savedCard(customerRef)))
  if (customerRef === null || saved === null)
    return { kind: 'declined', hard: true, reason: 'The user has no saved card.' }
  const [item] = session.items
  const [price] = await findAnyPrices(pool, appId, session.provider, item ? [item.priceId] : [])
  if (!item || !price) throw new Error('a recharge has no price')
  const catalogue = await catalogueOf({ service, appId })
  return provider.charge({
    id: session.id,
    item: { name: soldName(catalogue, { credits: session.credits }), price, quantity: item.quantity ?? 1 },
    customerRef,
    card: (await holdChargeCard(pool, appId, session.id, saved)) ?? saved,
    isRetry,
  })
}
