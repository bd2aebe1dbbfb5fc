import { amountText, type Interval } from '../domain/price.ts'
import { asksForCard } from '../domain/sale-terms.ts'
import type { PaymentReceipt } from '../operations/billing/payment-receipt.ts'
import type { CheckoutView } from '../operations/billing/sandbox-checkout.ts'
import { CHECKOUT_STYLE } from './checkout-style.ts'

/** The whole page, for any state of the payment. All outside input is escaped. */
export function checkoutPage(nonce: string, view: CheckoutView): string {
  switch (view.state) {
    case 'paid':
      return messagePage(nonce, 'Payment complete', paidText(receiptOf(view)), {
        href: view.successUrl.replaceAll('{CHECKOUT_SESSION_ID}', view.id),
        label: `Back to ${view.appName}`,
      })
    case 'expired':
      return messagePage(
        nonce,
        'Link expired',
        'This payment link has expired. You were not charged. Request a new link.',
        {
          href: view.cancelUrl,
          label: 'Go back',
        },
      )
    case 'off':
      return messagePage(
        nonce,
        'Sandbox disabled',
        'The sandbox does not accept payments. You were not charged. Request a new link.',
        { href: view.cancelUrl, label: 'Go back' },
      )
    default:
      return paymentPage(nonce, view)
  }
}

const receiptOf = ({ items, terms }: CheckoutView) => ({
  items: items.map((item) => ({ ...item, provider: 'sandbox' })),
  terms,
  isPaid: true,
})

/** Confirms the purchase to payers of links that lead back here. */
export function receiptPage(nonce: string, { appName, shopUrl, ...sold }: PaymentReceipt): string {
  return messagePage(
    nonce,
    sold.isPaid ? 'Payment complete' : 'Payment received',
    paidText(sold),
    shopUrl === null ? undefined : { href: shopUrl, label: `Back to ${appName}` },
  )
}

/** "You paid $49.00 for Team." */
function paidText(sold: Pick<PaymentReceipt, 'items' | 'terms' | 'isPaid'>): string {
  const { items, terms, isPaid } = sold
  const names = new Intl.ListFormat('en').format(items.map(({ name }) => name))
  const [first] = items
  if (!first) return 'Thank you.'
  const total = amountText({ ...first, amount: items.reduce((sum, item) => sum + item.amount, 0) })
  const each = first.interval === null ? '' : ` per ${first.interval}`
  if (!isPaid) return `Thank you. Your order of ${names} for ${total}${each} is being confirmed.`
  return terms.trialDays === null
    ? `You paid ${total} for ${names}. Thank you.`
    : `Your trial of ${names} has started. After ${days(terms.trialDays)}, it costs ${total}${each}.`
}

/** A page with a message only. */
export function messagePage(
  nonce: string,
  title: string,
  text: string,
  onwards?: { href: string; label: string },
): string {
  const link = onwards
    ? `<p><a class="button" href="${escaped(onwards.href)}">${escaped(onwards.label)}</a></p>`
    : ''
  return page(nonce, title, `<main class="message"><h1>${title}</h1><p>${escaped(text)}</p>${link}</main>`)
}

function paymentPage(nonce: string, view: CheckoutView): string {
  const { trialDays } = view.terms
  const later = sum(view)
  const total = trialDays === null ? later : nothing(view)
  const due = `${later}${every(view.items[0]?.interval ?? null)}`
  const card = asksForCard(view.terms)
  const act = trialDays === null ? `Pay ${total}` : 'Start trial'
  const wrong = Object.keys(view.problems).length > 0
  const payer =
    view.customerId === null
      ? `${field(view, 'email', 'Email', { type: 'email', autocomplete: 'email', required: '' })}
         ${field(view, 'name', 'Name (optional)', { autocomplete: 'name' })}`
      : ''
  return page(
    nonce,
    `${wrong ? 'Payment failed: ' : ''}${act}`,
    `<main>
  <section class="summary" aria-labelledby="what">
    <p class="app">${escaped(view.appName)}</p>
    ${
      trialDays === null
        ? `<h1 id="what"><span class="visually-hidden">Pay </span>${total}<small>${every(view.items[0]?.interval ?? null)}</small></h1>`
        : `<h1 id="what">${days(trialDays)} free<small class="then">then ${due}</small></h1>`
    }
    <dl>${view.items.map((item) => `<div><dt>${escaped(item.name)}</dt><dd>${amount(item)}</dd></div>`).join('')}
      <div class="total"><dt>Total today</dt><dd>${total}</dd></div></dl>
  </section>
  <section class="payment" aria-labelledby="how">
    <h2 id="how">${card ? 'Pay by card' : 'No card needed'}</h2>
    <p class="sandbox"><strong>Sandbox.</strong> No real payment is made.${card ? ' Use one of the test cards below.' : ''}</p>
    ${view.terms.saveCard ? '<p class="note">The card is saved for later charges.</p>' : ''}
    ${view.state === 'cancelled' ? '<p class="note" role="status">You cancelled earlier; you were not charged.</p>' : ''}
    ${wrong ? '<p class="alert" role="alert">The payment failed. Check the marked fields.</p>' : ''}
    <form method="post" novalidate>
      ${payer}
      ${card ? cardFields(view) : ''}
      <button name="action" value="pay">${act}</button>
      <button name="action" value="cancel" class="quiet">Cancel</button>
    </form>
    ${card ? TEST_CARDS : ''}
  </section>
</main>`,
  )
}

const cardFields = (
  view: CheckoutView,
) => `${field(view, 'number', 'Card number', { inputmode: 'numeric', autocomplete: 'cc-number', placeholder: '4242 4242 4242 4242', required: '' })}
      <div class="pair">
        ${field(view, 'expiry', 'Expires (MM/YY)', { inputmode: 'numeric', autocomplete: 'cc-exp', placeholder: '12/34', required: '' })}
        ${field(view, 'cvc', 'Security code', { inputmode: 'numeric', autocomplete: 'cc-csc', placeholder: '123', required: '' })}
      </div>`

const TEST_CARDS = `<table>
      <caption>Test cards, for use with any future date and any security code</caption>
      <thead><tr><th scope="col">Number</th><th scope="col">Result</th></tr></thead>
      <tbody>
        <tr><td>4242 4242 4242 4242</td><td>Charged; renews</td></tr>
        <tr><td>4000 0000 0000 0002</td><td>Declined</td></tr>
        <tr><td>4000 0000 0000 0341</td><td>Charged; renewals are declined</td></tr>
        <tr><td>4000 0000 0000 9979</td><td>Charged once, then reported stolen</td></tr>
        <tr><td>4000 0000 0000 0119</td><td>Charged; the first response to each later charge is lost</td></tr>
      </tbody>
    </table>`

type FieldName = keyof CheckoutView['entry']

/** A field with its label and error. The first field with an error has the focus. */
function field(
  { entry, problems }: CheckoutView,
  name: FieldName,
  label: string,
  attributes: Record<string, string>,
): string {
  const problem = problems[name]
  const [first] = FIELD_ORDER.filter((each) => problems[each] !== undefined)
  const all = Object.entries(attributes).map(([key, value]) => (value === '' ? key : `${key}="${value}"`))
  if (problem !== undefined) all.push('aria-invalid="true"', `aria-describedby="${name}-problem"`)
  if (first === name) all.push('autofocus')
  // A card's security code must be entered again every time.
  const value = name === 'cvc' ? '' : escaped(entry[name])
  return `<div class="field"><label for="${name}">${label}</label>
    <input id="${name}" name="${name}" value="${value}" ${all.join(' ')}>
    ${problem === undefined ? '' : `<p class="problem" id="${name}-problem">${escaped(problem)}</p>`}</div>`
}

const FIELD_ORDER: FieldName[] = ['email', 'name', 'number', 'expiry', 'cvc']

type Item = CheckoutView['items'][number]

const amount = (item: Pick<Item, 'amount' | 'currency'>): string =>
  escaped(amountText({ ...item, provider: 'sandbox' }))

const nothing = ({ items: [first] }: CheckoutView): string =>
  amount({ amount: 0, currency: first?.currency ?? '' })

export const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`)

function sum({ items }: CheckoutView): string {
  const [first] = items
  return amount({
    amount: items.reduce((total, item) => total + item.amount, 0),
    currency: first?.currency ?? '',
  })
}

export const every = (interval: Interval | null): string => (interval === null ? ' once' : ` per ${interval}`)

export const page = (nonce: string, title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style nonce="${nonce}">${CHECKOUT_STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
