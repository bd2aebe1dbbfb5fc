import { randomUUID } from 'node:crypto'
import { quote, subscriptionLinkError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { choicesOf, type Offer, offerOf } from '../../domain/offer.ts'
import { providerName } from '../../domain/provider-name.ts'
import { checkRedirect } from '../../domain/redirect.ts'
import { termsFor } from '../../domain/sale-terms.ts'
import { endedAt } from '../../domain/subscription.ts'
import { findTemplate } from '../../store/billing/billing-templates.ts'
import { insertCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireHeldUser } from '../call/require.ts'
import { templateItems } from './billing-templates.ts'
import { checkTakesPayments, type Link, linkOf } from './payment-link.ts'

interface LinkInput {
  userId: string | null
  templateId: string
  successUrl: string
  cancelUrl: string
}

/**
 * The session is committed first, in a separate transaction. Then the provider is called with the session's id as its
 * idempotency key, so that retries create only one link.
 */
export async function generateSubscriptionLink(call: Call, input: LinkInput): Promise<Link> {
  checkRedirect('successUrl', input.successUrl)
  checkRedirect('cancelUrl', input.cancelUrl)
  const { id } = await mutate(call, async (tx, moment) => {
    const user = input.userId === null ? null : await requireHeldUser(tx, call.appId, input.userId)
    const { app, now } = await moment()
    const { templateId } = input
    const template = isIdentifier(templateId) ? await findTemplate(tx, call.appId, templateId) : null
    if (!template || template.archivedAt !== null) {
      throw subscriptionLinkError(
        template
          ? `The billing template ${quote(templateId)} is archived. Restore it in the dashboard or use another template.`
          : `Billing template not found: ${quote(templateId)}. Create one with a price in the dashboard.`,
      )
    }
    const terms = template.terms
    const offer = offerOf(templateItems(template, app.catalogue), terms)
    if ('problem' in offer) {
      throw subscriptionLinkError(
        `No payment link can be created for the billing template ${quote(templateId)}. ${offer.problem}`,
      )
    }
    const held = user ? await subscriptionsOfUser(tx, call.appId, user.uid, now) : []
    checkPayer(held, offer, now)
    await checkTakesPayments(call, tx, offer.provider)
    const choices = choicesOf(templateItems(template, app.catalogue), terms)
    const session = {
      id: `ses_${randomUUID()}`,
      templateId,
      userUid: user?.uid ?? null,
      provider: offer.provider,
      items: choices.length > 0 ? [] : itemsOf(offer),
      choices:
        choices.length > 0
          ? choices.map((choice) => ({ interval: choice.interval, items: itemsOf(choice) }))
          : null,
      credits: null,
      terms: termsFor(terms, hasTried(held, offer)),
      successUrl: input.successUrl,
      cancelUrl: input.cancelUrl,
    }
    await insertCheckoutSession(tx, call.appId, session)
    return { id: session.id }
  })
  return linkOf(call, id)
}

const itemsOf = ({ items }: Offer) =>
  items.map((item) => ({ packageId: item.package.id, priceId: item.price.id }))

/** Rejects before the payment what would fail after it. */
function checkPayer(held: readonly SubscriptionRow[], offer: Offer, now: number): void {
  const live = held.filter((s) => endedAt(s, now) === null)
  // A subscription that is about to end may be bought again.
  const lasting = live.filter((s) => s.provider !== null && s.cancelAt === null)
  const twice = lasting.find((s) => offer.items.some(({ package: { id } }) => id === s.packageId))
  if (twice) {
    throw subscriptionLinkError(
      `The user already has a paid subscription to the package ${quote(twice.packageId)} at ${providerName(twice.provider ?? '')}`,
    )
  }
  const hasBase = offer.items.some((item) => !item.package.isAddon) || live.some((s) => !s.isAddon)
  if (!hasBase) {
    throw subscriptionLinkError(
      'The template only has add-ons. Pass the userId of a user with a live base plan, or use a template with a base plan.',
    )
  }
}

const hasTried = (held: readonly SubscriptionRow[], { items }: Offer): boolean =>
  held.some((s) => s.trialEndsAt !== null && items.some((item) => item.package.id === s.packageId))
