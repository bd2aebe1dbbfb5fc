import { creditState } from '../../domain/credit.ts'
import { soldTimes } from '../../domain/credit-sale.ts'
import { quote } from '../../domain/errors.ts'
import { withinDebt } from '../../domain/give-back.ts'
import { MAX_CREDITS } from '../../domain/limits.ts'
import { providerNameFirst } from '../../domain/provider-name.ts'
import {
  balanceOf,
  laterToday,
  mayCharge,
  nextMonth,
  postponed,
  type Recharge,
  type RechargeRule,
  rechargeNow,
} from '../../domain/recharge.ts'
import { PLAIN_TERMS } from '../../domain/sale-terms.ts'
import { insertCheckoutSession } from '../../store/billing/checkout-sessions.ts'
import { type CreditPriceRow, findCreditPrice } from '../../store/billing/prices.ts'
import type { HomeDb } from '../../store/connection/places.ts'
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
 * Starts the charge of a rule as it was just read, with what it has charged in this month, if it has something to buy. The
 * user is locked, and so are the charges of the rule: the credit of the previous one was added in the transaction that
 * ended it. The provider is asked by a job.
 */
export async function startRecharge(spender: Spender, rule: RechargeRuleRow): Promise<void> {
  const { call, tx, user, now, feature, spending } = spender
  const { appId } = call
  const of = { appId, userUid: user.uid, featureId: feature.id }
  if (rule.isUnderWay || !mayCharge(rule, now) || balanceOf(spending.credits, now) >= rule.below) return
  const price = await findCreditPrice(tx, appId, rule.priceId)
  if (!price) throw new Error('a rule of automatic recharges has no price')
  const purse = await purseWith(spender, spending)
  const owed = purse ? withinDebt(purse).owed : 0
  const planned = await planRecharge(spender, rule, price, owed)
  if (planned.kind === 'later') return setRechargeHealth(tx, of, postponed(rule, planned))
  if (planned.kind === 'enough') return
  const number = await numberCharge(tx, of)
  if (number === null) throw new Error('a rule of automatic recharges no longer exists')
  const sessionId = `ses_${rule.id}_${number}`
  await insertCheckoutSession(tx, appId, {
    id: sessionId,
    templateId: null,
    userUid: user.uid,
    provider: price.provider,
    items: [{ packageId: null, priceId: price.id, quantity: planned.packs }],
    credits: soldTimes(price.credits, planned.packs),
    terms: PLAIN_TERMS,
    successUrl: '',
    cancelUrl: '',
  })
  await insertRechargeAttempt(tx, of, { sessionId, amount: planned.amount, startedAt: now })
  const { provider } = price
  const charge = { appId, sessionId, provider, amount: planned.amount, since: call.service.clock() }
  await addJob(tx, 'charge-recharge', charge, `recharge:${appId}:${sessionId}`)
}

/** Basis of a decision to charge. */
interface Buyer extends Pick<Spender, 'call' | 'feature' | 'spending' | 'now'> {
  tx: HomeDb
}

type PlannedRecharge =
  | Extract<Recharge, { kind: 'charge' | 'enough' }>
  | { kind: 'later'; until: number; reason: string }

/** Purchase of a rule now, if it may charge. `owed` is usage that the next credit pays for. */
export async function planRecharge(
  buyer: Buyer,
  rule: RechargeRule & { spent: number },
  price: CreditPriceRow,
  owed: number,
): Promise<PlannedRecharge> {
  const { spending, now } = buyer
  const obstacle = await obstacleTo(buyer, price)
  if (obstacle !== null) return { kind: 'later', until: laterToday(now), reason: obstacle }
  const pack = { units: price.credits.units, amount: price.amount }
  const planned = rechargeNow(rule, pack, { balance: balanceOf(spending.credits, now), owed }, rule.spent)
  if (planned.kind !== 'spent') return planned
  return { kind: 'later', until: nextMonth(now), reason: 'The maximum of this month is reached.' }
}

/** Why nothing can be bought for the moment; null: nothing is in the way. */
async function obstacleTo(
  { call, tx, feature, spending, now }: Buyer,
  price: CreditPriceRow,
): Promise<string | null> {
  if (price.archivedAt !== null) return `The price ${quote(price.id)} is archived.`
  if (feature.archived) return `The feature ${quote(feature.id)} is archived.`
  const usable = spending.credits.filter((credit) =>
    ['LIVE', 'SCHEDULED'].includes(creditState(credit, now)),
  ).length
  if (usable >= MAX_CREDITS) return `The user already has the maximum of ${MAX_CREDITS} usable credits.`
  const account = { pool: tx, billing: call.service.billing }
  const { enabled } = await accountOf(account, call.appId, checkProvider(price.provider))
  return enabled ? null : `${providerNameFirst(price.provider)} is not enabled for this app.`
}
