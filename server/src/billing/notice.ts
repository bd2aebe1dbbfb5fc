import type { Json, JsonObject } from '../domain/metadata.ts'
import type { NoticeSubject } from './provider.ts'
import { checkSignature, SIGNATURE_TOLERANCE_SECONDS, type SignatureVerdict } from './signature.ts'

/** Metadata key of charges of saved cards. */
export const RECHARGE = 'tollgate_recharge'

/** A provider's webhook event with a verified signature. */
interface ReadNotice {
  eventId: string
  type: string
  payload: JsonObject
}

export type NoticeVerdict = ReadNotice | { refused: 'signature' | 'stale' | 'malformed' }

export function readSandboxNotice(
  secrets: readonly string[],
  header: string | undefined,
  body: Buffer,
  nowSeconds: number,
): NoticeVerdict {
  return verified(checkSignature(secrets, header, body, nowSeconds), body)
}

export async function readStripeNotice(
  secrets: readonly string[],
  header: string | undefined,
  body: Buffer,
  nowSeconds: number,
): Promise<NoticeVerdict> {
  const { default: Stripe } = await import('stripe')
  const verdicts = secrets.map((secret): SignatureVerdict => {
    try {
      const signature = Stripe.webhooks.signature
      signature?.verifyHeader(
        body,
        header ?? '',
        secret,
        SIGNATURE_TOLERANCE_SECONDS,
        undefined,
        nowSeconds * 1000,
      )
      return signature ? 'good' : 'signature'
    } catch (error) {
      return error instanceof Error && /tolerance/i.test(error.message) ? 'stale' : 'signature'
    }
  })
  const verdict = verdicts.find((v) => v === 'good') ?? verdicts.find((v) => v === 'stale') ?? 'signature'
  return verified(verdict, body)
}

function verified(verdict: SignatureVerdict, body: Buffer): NoticeVerdict {
  if (verdict !== 'good') return { refused: verdict }
  try {
    const payload: Json = JSON.parse(body.toString('utf8'))
    const event = objectIn(payload)
    const id = textIn(event, 'id')
    const type = textIn(event, 'type')
    if (!event || id === null || type === null) return { refused: 'malformed' }
    return { eventId: id, type, payload: event }
  } catch {
    return { refused: 'malformed' }
  }
}

/** The objects that an event is about; none for event types that are not handled. */
export function subjectOf({ type, payload }: Pick<ReadNotice, 'type' | 'payload'>): NoticeSubject {
  const object = objectIn(objectIn(payload.data)?.object)
  const nothing: NoticeSubject = {
    checkoutRef: null,
    subscriptionRef: null,
    customerRef: null,
    paymentRef: null,
  }
  if (type.startsWith('checkout.session.')) return { ...nothing, checkoutRef: textIn(object, 'id') }
  if (type.startsWith('customer.subscription.')) return { ...nothing, subscriptionRef: textIn(object, 'id') }
  if (type.startsWith('invoice.')) return { ...nothing, subscriptionRef: subscriptionOfInvoice(object) }
  if (type === 'customer.updated' || type === 'customer.deleted') {
    return { ...nothing, customerRef: textIn(object, 'id') }
  }
  // A charge of a saved card takes the place of a checkout. Other payment intents belong to checkouts or invoices.
  if (type.startsWith('payment_intent.'))
    return { ...nothing, checkoutRef: isRecharge(object) ? textIn(object, 'id') : null }
  if (isAboutPayment(type)) return { ...nothing, paymentRef: paymentIn(object) }
  return nothing
}

const isRecharge = (object: JsonObject | null): boolean =>
  textIn(objectIn(object?.metadata), RECHARGE) !== null

const isAboutPayment = (type: string): boolean =>
  type === 'charge.refunded' ||
  type.startsWith('charge.refund.') ||
  type.startsWith('charge.dispute.') ||
  type.startsWith('refund.')

/** The object is the charge, or the refund or dispute of one. */
const paymentIn = (object: JsonObject | null): string | null =>
  refIn(object, 'payment_intent') ?? refIn(object, 'charge') ?? textIn(object, 'id')

/**
 * Stored part of an event. An event about a payment may quote the customer without naming them, so only what is
 * needed to fetch the payment is kept. Otherwise a deleted user's data would be stored again.
 */
export function storedBody({ eventId, type, payload }: ReadNotice, body: Buffer): string {
  if (!isAboutPayment(type)) return body.toString('utf8')
  const object = objectIn(objectIn(payload.data)?.object)
  const kept = ['object', 'id', 'customer', 'payment_intent', 'charge', 'status', 'amount', 'currency']
  const named = Object.fromEntries(
    kept.flatMap((name) => {
      const value = refIn(object, name) ?? object?.[name]
      return typeof value === 'string' || typeof value === 'number' ? [[name, value]] : []
    }),
  )
  return JSON.stringify({ id: eventId, object: 'event', type, data: { object: named } })
}

/** All ids, ours and the provider's, that the object of an event contains. They identify the user. */
export function refsIn(payload: JsonObject): string[] {
  const object = objectIn(objectIn(payload.data)?.object)
  return [
    textIn(object, 'id'),
    refIn(object, 'customer'),
    subscriptionOfInvoice(object),
    textIn(object, 'client_reference_id'),
  ].filter((ref) => ref !== null)
}

/** Its position depends on the API version the webhook was created with. */
function subscriptionOfInvoice(invoice: JsonObject | null): string | null {
  const details = objectIn(objectIn(invoice?.parent)?.subscription_details)
  return refIn(details, 'subscription') ?? refIn(invoice, 'subscription')
}

function objectIn(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
}

function textIn(object: JsonObject | null, name: string): string | null {
  const value = object?.[name]
  return typeof value === 'string' && value !== '' ? value : null
}

const refIn = (object: JsonObject | null, name: string): string | null =>
  textIn(object, name) ?? textIn(objectIn(object?.[name]), 'id')
