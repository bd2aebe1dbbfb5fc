import { RECHARGE_STATES } from '../../domain/recharge.ts'
import type { AutoRecharge } from '../../operations/billing/auto-recharge.ts'
import type { Builder } from './builder.ts'
import { isoTimeOrNull } from './time.ts'

export const RECHARGE_LIST = "A user's automatic recharges, by feature."
export const SET_RECHARGE =
  'Buys credits with the saved card of the user whenever fewer than `below` are left. If fewer are left now, it charges at once. A rule that is off is turned on.'
export const REMOVE_RECHARGE =
  'Removes an automatic recharge. A charge under way is completed. Null if there was none.'

export const SAVE_CARD =
  'Whether the provider saves the card for later charges, as automatic recharges need. The payment page says so.'

const BELOW = 'Credits are bought when fewer units than this are left. Reserved units count as left.'
const UP_TO = 'Balance to reach: one charge buys as many whole packs as are needed.'
const PRICE = 'ID of a price of credits of the feature.'
const MAXIMUM =
  "Maximum amount per month of the UTC calendar, in minor units of the price's currency; null: no maximum."

/** A rule as callers give it. */
export const newRecharge = <Input extends { maxSpendPerPeriod?: number | null | undefined }>({
  maxSpendPerPeriod = null,
  ...input
}: Input) => ({ ...input, maxSpendPerPeriod })

export function defineRechargeTypes<Context extends object>(builder: Builder<Context>) {
  const state = builder.enumType('AutoRechargeState', {
    description:
      'CHARGING: a charge is under way. WAITING: nothing is charged before `waitsUntil`. OFF: the card was declined three times in a row, or for good.',
    values: RECHARGE_STATES,
  })
  return {
    autoRecharge: builder.objectRef<AutoRecharge>('AutoRecharge').implement({
      description: 'Rule that buys credits of a user and feature when few are left.',
      fields: (t) => ({
        userId: t.exposeString('userId'),
        featureId: t.exposeString('featureId'),
        below: t.exposeFloat('below', { description: BELOW }),
        upTo: t.exposeFloat('upTo', { description: UP_TO }),
        priceId: t.exposeString('priceId', { description: PRICE }),
        maxSpendPerPeriod: t.exposeFloat('maxSpendPerPeriod', { nullable: true, description: MAXIMUM }),
        spent: t.exposeFloat('spent', {
          description: 'Amount charged in this month, in minor units, including a charge under way.',
        }),
        state: t.expose('state', { type: state, description: 'Whether it buys credits when few are left.' }),
        declines: t.exposeInt('declines', { description: 'Declines since the last payment.' }),
        waitsUntil: t.string({
          nullable: true,
          description: 'Time before which nothing is charged; null if it does not wait.',
          resolve: (r) => isoTimeOrNull(r.waitsUntil),
        }),
        reason: t.exposeString('reason', { nullable: true, description: 'Why it waits or is off.' }),
      }),
    }),
    autoRechargeInput: builder.inputType('AutoRechargeInput', {
      fields: (t) => ({
        userId: t.string({ required: true }),
        featureId: t.string({ required: true }),
        below: t.field({ type: 'SafeInt', required: true, description: BELOW }),
        upTo: t.field({ type: 'SafeInt', required: true, description: UP_TO }),
        priceId: t.string({ required: true, description: PRICE }),
        maxSpendPerPeriod: t.field({ type: 'SafeInt', description: MAXIMUM }),
      }),
    }),
  }
}
