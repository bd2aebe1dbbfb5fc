import type Stripe from 'stripe'
import { NO_REVERSAL } from '../../domain/reversal.ts'
import { isSandboxCustomer } from '../customer-refs.ts'
import { RECHARGE } from '../notice.ts'
import { type ChargeOutcome, type ChargeRequest, type ProviderCheckout, ProviderError } from '../provider.ts'
import { asked, found, idOf } from './asked.ts'
import { customerFrom, SESSION } from './checkout.ts'
import { reversalOfCharge } from './reversals.ts'

export const isIntent = (ref: string): boolean => ref.startsWith('pi_')

/** The customer's default card, or the newest one that is saved. */
export async function findSavedCard(stripe: Stripe, customerRef: string): Promise<string | null> {
  if (isSandboxCustomer(customerRef)) return null
  const customer = await found(() => stripe.customers.retrieve(customerRef))
  if (!customer || customer.deleted) return null
  const chosen = idOf(customer.invoice_settings.default_payment_method)
  if (chosen !== null) return chosen
  const { data } = await asked(() =>
    stripe.customers.listPaymentMethods(customerRef, { type: 'card', limit: 1 }),
  )
  return data[0]?.id ?? null
}

/** Newest payments of a customer among which a charge is looked for whose answer was lost. */
const MOST_INTENTS = 100

export async function chargeCard(stripe: Stripe, request: ChargeRequest): Promise<ChargeOutcome> {
  const { id, item, customerRef, card, isRetry } = request
  // Stripe forgets idempotency keys after a day.
  const earlier = isRetry ? await findIntent(stripe, request) : null
  if (earlier) return outcomeOf(earlier)
  try {
    const intent = await stripe.paymentIntents.create(
      {
        amount: item.price.amount * item.quantity,
        currency: item.price.currency,
        customer: customerRef,
        payment_method: card,
        allowed_payment_method_types: ['card'],
        off_session: true,
        confirm: true,
        description: item.name,
        metadata: { [SESSION]: id, [RECHARGE]: id },
      },
      { idempotencyKey: id },
    )
    return outcomeOf(intent)
  } catch (error) {
    return outcomeOfError(error)
  }
}

async function findIntent(
  stripe: Stripe,
  { id, customerRef: customer }: ChargeRequest,
): Promise<Stripe.PaymentIntent | null> {
  const { data } = await asked(() => stripe.paymentIntents.list({ customer, limit: MOST_INTENTS }))
  return data.find(({ metadata }) => metadata[SESSION] === id) ?? null
}

/** Payments of an account among which a charge is looked for whose customer is no longer known. */
const MOST_PAYMENTS = 10_000
/** By which the clocks may differ. */
const CLOCKS_MS = 600_000

export async function findCharge(stripe: Stripe, id: string, since: number): Promise<string | null> {
  const created = { gte: Math.floor((since - CLOCKS_MS) / 1000) }
  return asked(async () => {
    let looked = 0
    for await (const intent of stripe.paymentIntents.list({ created, limit: 100 })) {
      if (intent.metadata[SESSION] === id) return outcomeOf(intent).kind === 'made' ? intent.id : null
      if (++looked === MOST_PAYMENTS) throw new Error(`the charge ${id} is not among the newest payments`)
    }
    return null
  })
}

/** Codes of declines after which another attempt with the same card makes no sense. */
const HARD = new Set([
  'authentication_required',
  'authentication_not_handled',
  'card_not_supported',
  'expired_card',
  'fraudulent',
  'incorrect_number',
  'invalid_account',
  'invalid_number',
  'lost_card',
  'merchant_blacklist',
  'payment_method_unactivated',
  'pickup_card',
  'restricted_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'security_violation',
  'stolen_card',
  'stop_payment_order',
])

const isHard = ({ code, decline_code }: { code?: string | undefined; decline_code?: string | undefined }) =>
  [code, decline_code].some((each) => each !== undefined && HARD.has(each))

function outcomeOf(intent: Stripe.PaymentIntent): ChargeOutcome {
  const { id, status, last_payment_error: error } = intent
  if (status === 'succeeded' || status === 'processing') return { kind: 'made', ref: id }
  if (status === 'requires_action')
    return { kind: 'declined', hard: true, reason: 'The card requires its owner to authenticate.' }
  return {
    kind: 'declined',
    hard: isHard(error ?? {}),
    reason: error?.message ?? 'The card was declined.',
  }
}

async function outcomeOfError(error: unknown): Promise<ChargeOutcome> {
  const { default: Client } = await import('stripe')
  if (error instanceof Client.errors.StripeCardError)
    return { kind: 'declined', hard: isHard(error), reason: error.message }
  // The same request is being answered at this moment.
  if (error instanceof Client.errors.StripeError && error.code === 'idempotency_key_in_use')
    throw new ProviderError('unreachable', error.message)
  return asked(() => Promise.reject(error))
}

/** A charge of a saved card, as the checkout that it takes the place of. */
export async function fetchCharge(stripe: Stripe, ref: string): Promise<ProviderCheckout> {
  const intent = await stripe.paymentIntents.retrieve(ref, { expand: ['customer', 'latest_charge'] })
  const { latest_charge: charge, customer, amount_received: amount, currency, status } = intent
  const made = typeof charge === 'object' && charge?.paid ? charge : null
  const paidAt = made && made.created * 1000
  const state = STATES[status] ?? 'FAILED'
  return {
    ref,
    sessionId: intent.metadata[SESSION] ?? null,
    state,
    customer: typeof customer === 'object' ? customerFrom(customer) : null,
    subscriptionRef: null,
    paidAt,
    startsAt: paidAt,
    paymentRef: ref,
    reversal: made ? await reversalOfCharge(stripe, made) : NO_REVERSAL,
    paid: state === 'PAID' ? { amount, currency } : null,
  }
}

const STATES: Partial<Record<Stripe.PaymentIntent.Status, ProviderCheckout['state']>> = {
  succeeded: 'PAID',
  processing: 'AWAITING',
}
