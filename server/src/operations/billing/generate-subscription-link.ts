import { randomUUID } from 'node:crypto'
import { ProviderError } from '../../billing/provider.ts'
import { quote, subscriptionLinkError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { type Offer, offerOf } from '../../domain/offer.ts'
import { providerName, providerNameFirst } from '../../domain/provider-name.ts'
import { checkRedirect } from '../../domain/redirect.ts'
import { termsFor } from '../../domain/sale-terms.ts'
import { endedAt } from '../../domain/subscription.ts'
import { findTemplate } from '../../store/billing/billing-templates.ts'
import {
  type CheckoutSession,
  findCheckoutSession,
  insertCheckoutSession,
  setCheckoutUrl,
} from '../../store/billing/checkout-sessions.ts'
import { findPrices } from '../../store/billing/prices.ts'
import { type SubscriptionRow, subscriptionsOfUser } from '../../store/subscriptions/subscriptions.ts'
import { findUserByUid } from '../../store/users/users.ts'
import { type Call, momentOf } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireHeldUser, requirePackage } from '../call/require.ts'
import { accountOf, checkProvider, providerOf, providerWords } from './provider-of.ts'
import { templateItems } from './template-items.ts'

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
export async function generateSubscriptionLink(call: Call, input: LinkInput): Promise<{ url: string }> {
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
    const { enabled } = await accountOf(
      { pool: tx, billing: call.service.billing },
      call.appId,
      checkProvider(offer.provider),
    )
    if (!enabled) {
      throw subscriptionLinkError(
        `${providerNameFirst(offer.provider)} is not enabled for this app. Set it up in the dashboard, under Billing.`,
      )
    }
    const session = {
      id: `ses_${randomUUID()}`,
      templateId,
      userUid: user?.uid ?? null,
      provider: offer.provider,
      items: offer.items.map((item) => ({ packageId: item.package.id, priceId: item.price.id })),
      terms: termsFor(terms, hasTried(held, offer)),
      successUrl: input.successUrl,
      cancelUrl: input.cancelUrl,
    }
    await insertCheckoutSession(tx, call.appId, session)
    return { id: session.id }
  })
  return linkOf(call, id)
}

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

/** The stored link of a session, or a new one. */
async function linkOf(call: Call, id: string): Promise<{ url: string }> {
  const { service, appId } = call
  const session = await findCheckoutSession(service.pool, appId, id)
  if (!session) throw linkIsGone()
  if (session.url !== null) return { url: session.url }
  if (session.state === 'EXPIRED') {
    throw subscriptionLinkError(
      `The payment link could not be created at ${providerName(session.provider)}. Generate a new one.`,
    )
  }
  try {
    const provider = await providerOf(service, appId, session.provider)
    const created = await provider.createCheckout({
      id,
      offer: await offerAgain(call, session),
      terms: session.terms,
      user: session.userUid === null ? null : await findUserByUid(service.pool, appId, session.userUid),
      successUrl: session.successUrl,
      cancelUrl: session.cancelUrl,
    })
    await setCheckoutUrl(service.pool, appId, id, created)
    if (await findCheckoutSession(service.pool, appId, id)) return { url: created.url }
    // The user was deleted meanwhile, so a payment would grant nothing.
    await provider.closeCheckout(created.ref)
    throw linkIsGone()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw subscriptionLinkError(providerWords(session.provider, error))
  }
}

const linkIsGone = () =>
  subscriptionLinkError(
    'The payment link no longer exists because its user was deleted or it is too old. Generate a new one.',
  )

/** The offer at the time when the session was created. */
async function offerAgain(call: Call, { items, provider }: CheckoutSession): Promise<Offer> {
  const { app } = await momentOf(call)
  const ids = items.map(({ priceId }) => priceId)
  const prices = await findPrices(call.service.pool, call.appId, provider, ids)
  const offered = items.flatMap(({ packageId, priceId }) => {
    const price = prices.find((p) => p.id === priceId)
    return price ? [{ package: requirePackage(app.catalogue, packageId), price }] : []
  })
  const [first] = offered
  if (!first) throw new Error('a checkout session has no price')
  return { items: offered, provider, currency: first.price.currency, interval: first.price.interval }
}
