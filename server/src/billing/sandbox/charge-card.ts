import type { CardOutcome } from '../../domain/card.ts'
import { PLAIN_TERMS } from '../../domain/sale-terms.ts'
import { holdCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { type Pool, type Tx, transaction } from '../../store/connection/database.ts'
import { type ChargeOutcome, type ChargeRequest, ProviderError } from '../provider.ts'
import { chargeFor } from './bill.ts'
import * as books from './books.ts'
import { announce, newCheckoutId } from './events.ts'
import type { IsOn } from './payments.ts'

/** Declines of a saved card. A card that is not listed pays. */
const DECLINES: Partial<Record<CardOutcome, { hard: boolean; reason: string }>> = {
  declined: { hard: false, reason: 'The card was declined.' },
  'fails to renew': { hard: false, reason: 'The card was declined: insufficient funds.' },
  'is reported stolen': { hard: true, reason: 'The card was declined: it was reported stolen.' },
}

/** How long a checkout that is paid at once could have been paid. */
const LIFE_HOURS = 1

/** Charges a saved card: a checkout that is paid at once. */
export async function chargeCard(
  pool: Pool,
  appId: string,
  request: ChargeRequest,
  isOn: IsOn,
): Promise<ChargeOutcome> {
  const { outcome, isNew } = await transaction(pool, (tx) => chargeOnce(tx, appId, request, isOn))
  if (isNew && request.card === 'loses an answer')
    throw new ProviderError('unreachable', 'the test card lost the answer to this charge')
  return outcome
}

async function chargeOnce(
  tx: Tx,
  appId: string,
  { id: sessionId, item, customerRef, card }: ChargeRequest,
  isOn: IsOn,
): Promise<{ outcome: ChargeOutcome; isNew: boolean }> {
  // A concurrent deletion of the user must not be followed by a charge.
  if (!(await holdCheckoutSession(tx, appId, sessionId)))
    throw new ProviderError('refused', 'this charge is no longer wanted')
  const earlier = await books.findCheckoutOf(tx, appId, sessionId)
  if (earlier !== null) return { outcome: { kind: 'made', ref: earlier }, isNew: false }
  if (!(await isOn(tx, appId))) throw new ProviderError('refused', 'the sandbox is disabled')
  const decline = DECLINES[card as CardOutcome]
  if (decline) return { outcome: { kind: 'declined', ...decline }, isNew: false }
  const { name, price, quantity } = item
  const { currency, interval } = price
  const sold = { priceId: price.id, name, amount: chargeFor(price, quantity), currency, interval }
  const made = { appId, id: newCheckoutId(), sessionId, customerId: customerRef, items: [sold] }
  const ref = await books.insertCheckout(
    tx,
    { ...made, terms: PLAIN_TERMS, successUrl: '', cancelUrl: '' },
    LIFE_HOURS,
  )
  await books.closeCheckout(tx, appId, ref, { state: 'paid', customerId: customerRef, subscriptionId: null })
  await announce(tx, appId, 'checkout.session.completed', {
    object: 'checkout.session',
    id: ref,
    customer: customerRef,
  })
  return { outcome: { kind: 'made', ref }, isNew: true }
}
