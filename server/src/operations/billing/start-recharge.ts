import { creditState } from '../../domain/credit.ts'
import { times } from '../../domain/credit-sale.ts'
import { quote } from '../../domain/errors.ts'
import { MAX_CREDITS } from '../../domain/limits.ts'
import { providerNameFirst } from '../../domain/provider-name.ts'
import { balanceOf, laterToday, mayCharge, nextMonth, postponed, rechargeNow } from '../../domain/recharge.ts'
import { PLAIN_TERMS } from '../../domain/sale-terms.ts'
import { insertCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { type CreditPriceRow, findCreditPrice } from '../../store/billing/prices.ts'
import {
  insertRechargeAttempt,
  numberCharge,
  type RechargeRuleRow,
  setRechargeHealth,
} from '../../store/credits/recharges.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { purseWith, type Spender } from '../credits/mutate-spender.ts'
import { accountOf, checkProvider } from './provider-of.ts'

/**
 * Starts the charge of a rule as it was just read, with what it has charged in this month, if it has something to buy. The user is locked, and so are the charges of the rule: the
 * credit of the previous one was added in the transaction that ended it. The provider is asked by a job.
 */
export async function startRecharge(spender: Spender, rule: RechargeRuleRow): Promise<void> {
  const { call, tx, user, now, feature, spending } = spender
  const { appId } = call
  const of = { appId, userUid: user.uid, featureId: feature.id }
  const balance = balanceOf(spending.credits, now)
  if (rule.isUnderWay || !mayCharge(rule, now) || balance >= rule.below) return
  const price = await findCreditPrice(tx, appId, rule.priceId)
  if (!price) throw new Error('a rule of automatic recharges has no price')
  const obstacle = await obstacleTo(spender, price)
  if (obstacle !== null)
    return setRechargeHealth(tx, of, postponed(rule, { until: laterToday(now), reason: obstacle }))
  const owed = (await purseWith(spender, spending))?.owed ?? 0
  const pack = { units: price.credits.units, amount: price.amount }
  const planned = rechargeNow(rule, pack, { balance, owed }, rule.spent)
  if (planned.kind === 'enough') return
  if (planned.kind === 'spent') {
    const reason = 'The maximum of this month is reached.'
    return setRechargeHealth(tx, of, postponed(rule, { until: nextMonth(now), reason }))
  }
  const number = await numberCharge(tx, of)
  if (number === null) throw new Error('a rule of automatic recharges no longer exists')
  const sessionId = `ses_${rule.id}_${number}`
  await insertCheckoutSession(tx, appId, {
    id: sessionId,
    templateId: null,
    userUid: user.uid,
    provider: price.provider,
    items: [{ packageId: null, priceId: price.id, quantity: planned.packs }],
    credits: times(price.credits, planned.packs),
    terms: PLAIN_TERMS,
    successUrl: '',
    cancelUrl: '',
  })
  await insertRechargeAttempt(tx, of, { sessionId, amount: planned.amount, startedAt: now })
  await addJob(tx, 'charge-recharge', { appId, sessionId }, `recharge:${appId}:${sessionId}`)
}

/** Why nothing can be bought for the moment; null: nothing is in the way. */
async function obstacleTo(
  { call, tx, feature, spending, now }: Spender,
  price: CreditPriceRow,
): Promise<string | null> {
  if (price.archivedAt !== null) return `The price ${quote(price.id)} is archived.`
  if (feature.archived) return `The feature ${quote(feature.id)} is archived.`
  const usable = spending.credits.filter((credit) =>
    ['LIVE', 'SCHEDULED'].includes(creditState(credit, now)),
  ).length
  if (usable >= MAX_CREDITS) return `The user has ${MAX_CREDITS} credits that can be used, the most possible.`
  const account = { pool: tx, billing: call.service.billing }
  const { enabled } = await accountOf(account, call.appId, checkProvider(price.provider))
  return enabled ? null : `${providerNameFirst(price.provider)} is not enabled for this app.`
}
