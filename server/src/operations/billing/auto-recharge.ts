import { randomUUID } from 'node:crypto'
import { windowStart } from '../../domain/cap.ts'
import { badUserInput, quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_AUTO_RECHARGES } from '../../domain/limits.ts'
import {
  checkRechargeRule,
  HEALTHY,
  type RechargeRule,
  type RechargeState,
  rechargeState,
  setAgain,
} from '../../domain/recharge.ts'
import { bumpVersion } from '../../store/apps/apps.ts'
import { type CreditPriceRow, findCreditPrice } from '../../store/billing/prices.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import {
  deleteRechargeRule,
  type RechargeCharge,
  type RechargeRuleRow,
  rechargeRulesOf,
  storeRechargeRule,
} from '../../store/credits/recharges.ts'
import { type Call, momentOf } from '../call/call.ts'
import { requireFeature, requireUser } from '../call/require.ts'
import { mutateEnrolled, mutateSpender, type Spender } from '../credits/mutate-spender.ts'
import { checkTakesPayments } from './payment-link.ts'
import { priceNotFound } from './prices.ts'
import { startRecharge } from './start-recharge.ts'

/** A rule as of now. */
export interface AutoRecharge extends RechargeRule {
  userId: string
  featureId: string
  state: RechargeState
  /** declines since the last payment */
  declines: number
  /** null: it does not wait */
  waitsUntil: number | null
  /** why it waits or is off */
  reason: string | null
  /** in this month of the UTC calendar, in minor units, including a charge under way */
  spent: number
  lastCharge: RechargeCharge | null
}

export interface AutoRechargeInput extends RechargeRule {
  userId: string
  featureId: string
}

/**
 * Sets the rule of a user and feature. If too few credits are left, it charges at once. A rule that waits after a decline
 * goes on waiting; one that is off is turned on.
 */
export function setAutoRecharge(
  call: Call,
  { userId, featureId, ...rule }: AutoRechargeInput,
): Promise<AutoRecharge> {
  checkRechargeRule(rule)
  const { appId, service } = call
  const locksApp = service.apps.known(appId)?.recharges !== true
  return mutateSpender(
    call,
    userId,
    featureId,
    async (spender) => {
      const { tx, user, feature, now } = spender
      if (feature.archived)
        throw badUserInput(`The feature ${quote(featureId)} is archived. Restore it first.`, 'featureId')
      const price = await requireCreditPrice(tx, appId, featureId, rule.priceId)
      await checkTakesPayments(call, tx, price.provider)
      const all = await rechargeRulesOf(tx, { appId, userUid: user.uid, featureId: null }, thisMonth(now))
      const found = all.find((one) => one.featureId === featureId)
      if (!found && all.length >= MAX_AUTO_RECHARGES)
        throw badUserInput(`A user can have at most ${MAX_AUTO_RECHARGES} automatic recharges`, 'userId')
      const of = { appId, userUid: user.uid, featureId }
      const id = found?.id ?? `rcr_${randomUUID()}`
      const health = found ? setAgain(found) : HEALTHY
      await storeRechargeRule(tx, of, { ...rule, ...health, id })
      if (locksApp) await bumpVersion(tx, appId)
      // A rule that was removed before may have charges.
      const [stored] = await rechargeRulesOf(tx, of, thisMonth(now))
      if (!stored) throw new Error('a rule of automatic recharges was not stored')
      await startRecharge(spender, stored)
      return requireShown(spender)
    },
    { locksApp },
  )
}

/** Returns the rule that was removed; null if there was none. A charge under way is completed. */
export function removeAutoRecharge(
  call: Call,
  { userId, featureId }: { userId: string; featureId: string },
): Promise<AutoRecharge | null> {
  return mutateEnrolled(call, userId, featureId, async (spender) => {
    const { tx, user, now } = spender
    const of = { appId: call.appId, userUid: user.uid, featureId }
    const [found] = await rechargeRulesOf(tx, of, thisMonth(now))
    if (!found) return null
    await deleteRechargeRule(tx, of)
    return shown(found, userId, now)
  })
}

/** The rules of a user, by feature. There are at most `MAX_AUTO_RECHARGES`. */
export async function autoRecharges(
  call: Call,
  userId: string,
  featureId: string | null,
): Promise<AutoRecharge[]> {
  const { appId } = call
  const { pool } = call.service
  const { app, now } = await momentOf(call)
  const { uid } = await requireUser(pool, appId, userId)
  if (featureId !== null) requireFeature(app.catalogue, featureId)
  const rows = await rechargeRulesOf(pool, { appId, userUid: uid, featureId }, thisMonth(now))
  return rows.map((row) => shown(row, userId, now))
}

const thisMonth = (now: number): number => windowStart('MONTH', now)

function shown(row: RechargeRuleRow, userId: string, now: number): AutoRecharge {
  const { below, upTo, priceId, maxSpendPerPeriod, featureId, declines, waitUntil, reason } = row
  const { spent, lastCharge } = row
  const state = rechargeState(row, row.isUnderWay, now)
  const isStopped = state === 'WAITING' || state === 'OFF'
  return {
    ...{ userId, featureId, below, upTo, priceId, maxSpendPerPeriod, state, declines, spent },
    lastCharge,
    waitsUntil: state === 'WAITING' ? waitUntil : null,
    reason: isStopped ? reason : null,
  }
}

async function requireShown({ call, tx, user, feature, now }: Spender): Promise<AutoRecharge> {
  const of = { appId: call.appId, userUid: user.uid, featureId: feature.id }
  const [row] = await rechargeRulesOf(tx, of, thisMonth(now))
  if (!row) throw new Error('a rule of automatic recharges no longer exists')
  return shown(row, user.id, now)
}

/** A price that an automatic recharge can use. */
export async function requireCreditPrice(
  db: HomeDb,
  appId: string,
  featureId: string,
  priceId: string,
): Promise<CreditPriceRow> {
  const price = isIdentifier(priceId) ? await findCreditPrice(db, appId, priceId) : null
  if (!price) throw priceNotFound(null, priceId)
  if (price.credits.featureId !== featureId)
    throw badUserInput(
      `The price ${quote(priceId)} sells credits of the feature ${quote(price.credits.featureId)}`,
      'priceId',
    )
  if (price.archivedAt !== null)
    throw badUserInput(`The price ${quote(price.id)} is archived. Restore it or use another.`, 'priceId')
  if (price.amount === 0) throw badUserInput('A price of 0 cannot be charged automatically', 'priceId')
  return price
}
