import { randomUUID } from 'node:crypto'
import { soldTimes } from '../../domain/credit-sale.ts'
import { badUserInput, quote, subscriptionLinkError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { costOf } from '../../domain/price.ts'
import { checkRedirect } from '../../domain/redirect.ts'
import { PLAIN_TERMS } from '../../domain/sale-terms.ts'
import { insertCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { findCreditPrice } from '../../store/billing/prices.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireFeature, requireHeldUser } from '../call/require.ts'
import { checkTakesPayments, type Link, linkOf } from './payment-link.ts'
import { priceNotFound } from './prices.ts'

interface CreditLinkInput {
  userId: string
  priceId: string
  quantity: number
  successUrl: string
  cancelUrl: string
  /** for later charges without the payer */
  saveCard: boolean
}

/** A payment link for credits of a user. Retries create only one link, as for packages. */
export async function generateCreditLink(call: Call, input: CreditLinkInput): Promise<Link> {
  const { appId, service } = call
  const { userId, priceId, quantity, successUrl, cancelUrl, saveCard } = input
  checkRedirect('successUrl', successUrl)
  checkRedirect('cancelUrl', cancelUrl)
  const { id } = await mutate(call, async (tx, moment) => {
    const user = await requireHeldUser(tx, appId, userId)
    const { app } = await moment()
    const price = isIdentifier(priceId) ? await findCreditPrice(tx, appId, priceId) : null
    if (!price) throw priceNotFound(null, priceId)
    if (price.archivedAt !== null) {
      throw subscriptionLinkError(
        `The price ${quote(priceId)} is archived. Restore it in the dashboard or use another price.`,
      )
    }
    const credits = soldTimes(price.credits, quantity)
    if (costOf(price, quantity) === null) {
      throw badUserInput('quantity soldTimes the price exceeds the maximum amount', 'quantity')
    }
    const feature = requireFeature(app.catalogue, credits.featureId)
    if (feature.archived) {
      throw subscriptionLinkError(
        `The feature ${quote(feature.id)} is archived. Restore it in the dashboard before selling credits for it.`,
      )
    }
    if (service.usageStore.queueOf(app.layout, appId, user.id) !== null) {
      throw badUserInput('Users on another database server cannot have credits', 'userId')
    }
    await checkTakesPayments(call, tx, price.provider)
    const session = {
      id: `ses_${randomUUID()}`,
      templateId: null,
      userUid: user.uid,
      provider: price.provider,
      items: [{ packageId: null, priceId, quantity }],
      credits,
      terms: saveCard ? { ...PLAIN_TERMS, saveCard } : PLAIN_TERMS,
      successUrl,
      cancelUrl,
    }
    await insertCheckoutSession(tx, appId, session)
    return { id: session.id }
  })
  return linkOf(call, id)
}
