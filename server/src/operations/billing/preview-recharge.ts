import { windowStart } from '../../domain/cap.ts'
import { userNotFound } from '../../domain/errors.ts'
import { withinDebt } from '../../domain/give-back.ts'
import { NO_SPENDING, purseOf, spendable } from '../../domain/purse.ts'
import { balanceOf, checkRechargeRule, HEALTHY, mayCharge, setAgain } from '../../domain/recharge.ts'
import { rechargeChargesOf, rechargeRulesOf } from '../../store/credits/recharges.ts'
import { type Call, momentOf } from '../call/call.ts'
import type { EntitlementState } from '../call/hot-paths.ts'
import { requireFeature } from '../call/require.ts'
import { poolFrom } from '../usage/entitlement-state.ts'
import { type AutoRechargeInput, requireCreditPrice } from './auto-recharge.ts'
import { planRecharge } from './start-recharge.ts'

/** Immediate charge of setting an automatic recharge. */
export interface AutoRechargePreview {
  /** units left */
  balance: number
  /** 0: nothing is charged */
  packs: number
  units: number
  /** in minor units */
  amount: number
  /** why nothing is charged although too few units are left */
  reason: string | null
}

const NOTHING = { packs: 0, units: 0, amount: 0, reason: null }

/** Decided as `setAutoRecharge` decides it, from what is stored now. */
export async function autoRechargePreview(
  call: Call,
  { userId, featureId, ...input }: AutoRechargeInput,
): Promise<AutoRechargePreview> {
  checkRechargeRule(input)
  const { appId, service } = call
  const { pool } = service
  const { app } = await momentOf(call)
  const feature = requireFeature(app.catalogue, featureId)
  const price = await requireCreditPrice(pool, appId, featureId, input.priceId)
  const state = await service.usage.read({ caller: call, userId, featureId })
  const { now, uid } = state
  if (uid === null) throw userNotFound(userId)
  const of = { appId, userUid: uid, featureId }
  const spending = state.spending ?? { ...NO_SPENDING, entities: [] }
  const balance = balanceOf(spending.credits, now)
  const month = windowStart('MONTH', now)
  const [found] = await rechargeRulesOf(pool, of, month)
  const { isUnderWay, spent } = await rechargeChargesOf(pool, of, month)
  if (balance >= input.below) return { balance, ...NOTHING }
  if (isUnderWay) return { balance, ...NOTHING, reason: 'A charge is under way.' }
  const health = found ? setAgain(found) : HEALTHY
  if (!mayCharge(health, now)) return { balance, ...NOTHING, reason: health.reason }
  const buyer = { call, tx: pool, feature, spending, now }
  const planned = await planRecharge(buyer, { ...input, spent }, price, owedIn(state))
  if (planned.kind === 'later') return { balance, ...NOTHING, reason: planned.reason }
  if (planned.kind === 'enough') return { balance, ...NOTHING }
  const { packs, units, amount } = planned
  return { balance, packs, units, amount, reason: null }
}

/** Usage that the next credit pays for. */
function owedIn({ entitlement, spending, used, pool, now }: EntitlementState): number {
  const own = spending ?? { ...NO_SPENDING, entities: [] }
  const basis = spendable(entitlement, own, now, pool?.open)
  if (!basis) return 0
  return withinDebt(purseOf(basis, used, own, now, pool && poolFrom(pool, pool.spending, now))).owed
}
