import { RECHARGE_STATES } from '../../domain/recharge.ts'
import type { AutoRecharge } from '../../operations/billing/auto-recharge.ts'
import type { Builder } from './builder.ts'
import { isoTimeOrNull } from './time.ts'

export const RECHARGE_LIST = 'Automatic recharges of a user, by feature.'
export const SET_RECHARGE =
  'Sets a rule that buys credits with the saved card of the user when fewer than `below` units are left. If fewer are left now, the card is charged immediately. A rule that is off is turned on.'
export const REMOVE_RECHARGE =
  'Removes an automatic recharge. A charge in progress is completed. Returns null if there was none.'

export const SAVE_CARD =
  'Whether the provider saves the card for later charges, which automatic recharges require. The payment page says so.'

const BELOW = 'Credits are bought when fewer units than this are left. Reserved units count as left.'
const UP_TO = 'Balance to reach. One charge buys as many whole packs as needed.'
const PRICE = 'ID of a price of credits of the feature.'
const MAXIMUM =
  "Maximum amount per month of the UTC calendar, in minor units of the price's currency; null if there is no maximum."

/** A rule as callers give it. */
export const newRecharge = <Input extends { maxSpendPerPeriod?: number | null | undefined }>({
  maxSpendPerPeriod = null,
  ...input
}: Input) => ({ ...input, maxSpendPerPeriod })

export function defineRechargeTypes<Context extends object>(builder: Builder<Context>) {
  const state = builder.enumType('AutoRechargeState', {
    description:
      'CHARGING: a charge is in progress. WAITING: nothing is charged before `waitsUntil`. OFF: the card was declined three times in a row, or permanently.',
    values: RECHARGE_STATES,
  })
  return {
    autoRecharge: builder.objectRef<AutoRecharge>('AutoRecharge').implement({
      description: 'Rule that buys credits of a feature for a user when few are left.',
      fields: (t) => ({
        userId: t.exposeString('userId'),
        featureId: t.exposeString('featureId'),
        below: t.exposeFloat('below', { description: BELOW }),
        upTo: t.exposeFloat('upTo', { description: UP_TO }),
        priceId: t.exposeString('priceId', { description: PRICE }),
        maxSpendPerPeriod: t.exposeFloat('maxSpendPerPeriod', { nullable: true, description: MAXIMUM }),
        spent: t.exposeFloat('spent', {
          description: 'Amount charged this month, in minor units, including a charge in progress.',
        }),
        state: t.expose('state', { type: state, description: 'State of the rule.' }),
        declines: t.exposeInt('declines', {
          description: 'Number of declined charges since the last payment.',
        }),
        waitsUntil: t.string({
          nullable: true,
          description: 'Time before which nothing is charged; null if it does not wait.',
          resolve: (r) => isoTimeOrNull(r.waitsUntil),
        }),
        reason: t.exposeString('reason', {
          nullable: true,
          description: 'Reason why the rule is waiting or off.',
        }),
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
