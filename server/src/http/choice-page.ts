import { amountText, type Interval, PER_YEAR } from '../domain/price.ts'
import type { IntervalChoice } from '../operations/billing/choose-interval.ts'
import { days, escaped, every, page } from './checkout-page.ts'

const OFTEN: Record<Interval, string> = { day: 'daily', week: 'weekly', month: 'monthly', year: 'yearly' }

/** Asks the payer how often to pay. All outside input is escaped. */
export function choicePage(nonce: string, { appName, terms, cancelUrl, choices }: IntervalChoice): string {
  const [first] = choices
  const names = new Intl.ListFormat('en').format(first?.items.map(({ name }) => name) ?? [])
  return page(
    nonce,
    'Choose how often to pay',
    `<main class="choose">
  <div><p class="app">${escaped(appName)}</p>
  <h1>Choose how often to pay</h1>
  <p class="note">For ${escaped(names)}. Payment follows on the next page. To change your choice later, request a new link.</p></div>
  ${choices.map((choice) => choiceCard(choice, first, terms)).join('')}
  <p><a href="${escaped(cancelUrl)}">Cancel</a></p>
</main>`,
  )
}

type Choice = IntervalChoice['choices'][number]

function choiceCard(
  choice: Choice,
  first: Choice | undefined,
  { trialDays }: IntervalChoice['terms'],
): string {
  const { interval, items } = choice
  const often = OFTEN[interval]
  const total = totalText(choice, totalOf(choice))
  const less = first && first !== choice ? percentLess(choice, first) : 0
  const lines =
    items.length > 1
      ? `<dl>${items.map((item) => `<div><dt>${escaped(item.name)}</dt><dd>${escaped(amountText(item))}</dd></div>`).join('')}</dl>`
      : ''
  return `<form method="post" class="payment" aria-labelledby="${interval}">
    <h2 id="${interval}">${total}${every(interval)}</h2>
    ${less > 0 && first ? `<p class="note">${less}% less than paying ${OFTEN[first.interval]}</p>` : ''}
    ${lines}
    <p class="note">${trialDays === null ? `Total today: ${total}` : `${days(trialDays)} free, then ${total}${every(interval)}`}</p>
    <button name="interval" value="${interval}">Pay ${often}</button>
  </form>`
}

const totalOf = ({ items }: Choice): number => items.reduce((sum, { amount }) => sum + amount, 0)

const totalText = ({ items: [first] }: Choice, amount: number): string =>
  first ? escaped(amountText({ ...first, amount })) : ''

/** In whole percent, rounded down; below 1: not less. */
function percentLess(choice: Choice, than: Choice): number {
  const perYear = (one: Choice) => totalOf(one) * PER_YEAR[one.interval]
  return perYear(than) === 0 ? 0 : Math.floor((1 - perYear(choice) / perYear(than)) * 100)
}
