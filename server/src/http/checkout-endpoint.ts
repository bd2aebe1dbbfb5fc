import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { TollgateError } from '../domain/errors.ts'
import { type ChoiceState, chooseInterval, viewChoice } from '../operations/billing/choose-interval.ts'
import { viewReceipt } from '../operations/billing/payment-receipt.ts'
import {
  type CheckoutView,
  NOTHING_ENTERED,
  pay,
  turnBack,
  viewCheckout,
} from '../operations/billing/sandbox-checkout.ts'
import type { Service } from '../operations/call/service.ts'
import { endResponse, readBody } from './body.ts'
import { checkoutPage, messagePage, receiptPage } from './checkout-page.ts'
import { choicePage } from './choice-page.ts'
import { isOurHost, notOurHost } from './our-host.ts'

/** `/checkout/{id}`: the payment page of the sandbox. */
export async function answerCheckout(
  service: Service,
  publicUrl: string,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const id = path.slice('/checkout/'.length)
  const nonce = randomBytes(16).toString('base64')
  const show = (status: number, page: string, mayLeadTo: string[] = []) => {
    response.writeHead(status, headersOf(nonce, mayLeadTo))
    endResponse(request, response, request.method === 'HEAD' ? '' : page)
  }
  const unknown = () =>
    show(404, messagePage(nonce, 'Payment not found', 'This payment link does not exist. Request a new one.'))
  const render = (status: number, view: CheckoutView) =>
    show(status, checkoutPage(nonce, view), [view.successUrl, view.cancelUrl])

  const showChoice = (state: ChoiceState | null) => {
    if (state === null) return unknown()
    if (state.kind === 'open') return show(200, choicePage(nonce, state.choice), [])
    const back = state.kind === 'chosen' ? undefined : { href: state.cancelUrl, label: 'Go back' }
    if (state.kind === 'expired') {
      return show(
        410,
        messagePage(
          nonce,
          'Link expired',
          'This payment link has expired. You were not charged. Request a new link.',
          back,
        ),
      )
    }
    if (state.kind === 'refused') {
      const text = `${state.message} You were not charged. Try again, or request a new link.`
      return show(503, messagePage(nonce, 'Payment not possible', text, back))
    }
    // A redirect of the form would have to lead to an address that its policy names.
    response.setHeader('Refresh', `0; url=${locationOf(state.url)}`)
    const onwards = { href: state.url, label: 'Continue to payment' }
    return show(200, messagePage(nonce, 'Continue to payment', 'The payment page opens.', onwards))
  }

  if (!isOurHost(request.headers.host, publicUrl)) {
    return show(421, messagePage(nonce, 'Wrong address', notOurHost(publicUrl)))
  }
  const { searchParams } = new URL(request.url ?? '', publicUrl)
  const chosenFrom = [searchParams.get('app') ?? '', searchParams.get('session') ?? ''] as const
  if (request.method === 'GET' || request.method === 'HEAD') {
    if (id === 'paid') {
      const app = searchParams.get('app') ?? ''
      const receipt = await viewReceipt(service, app, searchParams.get('session') ?? '')
      return receipt ? show(200, receiptPage(nonce, receipt)) : unknown()
    }
    if (id === 'cancelled') {
      const text = 'You were not charged. Open the payment link again to pay later.'
      return show(200, messagePage(nonce, 'Payment cancelled', text))
    }
    if (id === 'choose') return showChoice(await viewChoice(service, ...chosenFrom))
    const view = await viewCheckout(service, id)
    return view ? render(STATUSES[view.state] ?? 200, view) : unknown()
  }
  if (request.method !== 'POST') {
    response.setHeader('Allow', 'GET, HEAD, POST')
    return show(405, messagePage(nonce, 'Invalid request', 'Only GET, HEAD and POST are supported here.'))
  }
  let form: URLSearchParams
  try {
    form = new URLSearchParams((await readBody(request)).toString('utf8'))
  } catch (error) {
    if (!(error instanceof TollgateError)) throw error
    return show(400, messagePage(nonce, 'Invalid request', error.message))
  }
  if ([...form.values()].some((value) => CONTROLS.test(value))) {
    return show(400, messagePage(nonce, 'Invalid request', 'A field contains control characters.'))
  }
  const entered = (name: string) => form.get(name) ?? ''
  if (id === 'choose') return showChoice(await chooseInterval(service, ...chosenFrom, entered('interval')))
  const entry = {
    email: entered('email'),
    name: entered('name'),
    number: entered('number'),
    expiry: entered('expiry'),
    cvc: entered('cvc'),
  }
  const outcome = entered('action') === 'cancel' ? await turnBack(service, id) : await pay(service, id, entry)
  if (!outcome) return unknown()
  const { checkout } = outcome
  if (outcome.kind === 'refused') return render(422, { ...checkout, entry, problems: outcome.problems })
  if (outcome.kind === 'expired' || outcome.kind === 'off') {
    const view = { ...checkout, state: outcome.kind, entry: NOTHING_ENTERED, problems: {} }
    return render(STATUSES[outcome.kind] ?? 200, view)
  }
  response.writeHead(303, {
    ...headersOf(nonce, [checkout.successUrl, checkout.cancelUrl]),
    Location: locationOf(
      outcome.kind === 'paid'
        ? checkout.successUrl.replaceAll('{CHECKOUT_SESSION_ID}', id)
        : checkout.cancelUrl,
    ),
  })
  endResponse(request, response)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/
/** For pages without a payment form. */
const STATUSES: Partial<Record<CheckoutView['state'], number>> = { expired: 410, off: 403 }

/** Encoded for a header. */
const locationOf = (url: string): string => new URL(url).href

const SAFE_ORIGIN = /^https?:\/\/[\w.~:[\]-]+$/

/** No scripts. Browsers follow a form's redirect only to origins that the policy allows for forms. */
function headersOf(nonce: string, mayLeadTo: string[]): Record<string, string> {
  // A host name may contain characters that end a directive of the policy. Such an origin is omitted.
  const origins = mayLeadTo.map((url) => new URL(url).origin).filter((origin) => SAFE_ORIGIN.test(origin))
  const targets = [...new Set(origins)].join(' ')
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src 'nonce-${nonce}'; font-src 'self'; form-action 'self' ${targets}; base-uri 'none'; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
    'X-Robots-Tag': 'noindex',
  }
}
