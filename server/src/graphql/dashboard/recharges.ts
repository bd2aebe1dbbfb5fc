import { inApp } from '../../operations/apps/apps.ts'
import {
  type AutoRecharge,
  autoRecharges,
  removeAutoRecharge,
  setAutoRecharge,
} from '../../operations/billing/auto-recharge.ts'
import { type AutoRechargePreview, autoRechargePreview } from '../../operations/billing/preview-recharge.ts'
import { hasSavedCard } from '../../operations/billing/saved-card.ts'
import type { Builder } from '../types/builder.ts'
import {
  defineRechargeTypes,
  newRecharge,
  RECHARGE_LIST,
  REMOVE_RECHARGE,
  SET_RECHARGE,
} from '../types/recharge-types.ts'
import { isoTime } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'

/** Automatic recharges of credits. */
export function defineRecharges(builder: Builder<DashboardContext>): void {
  const { autoRecharge, autoRechargeInput } = defineRechargeTypes(builder)
  const state = builder.enumType('RechargeChargeState', {
    values: ['UNDER_WAY', 'PAID', 'DECLINED'] as const,
  })
  const charge = builder.objectRef<NonNullable<AutoRecharge['lastCharge']>>('RechargeCharge').implement({
    fields: (t) => ({
      amount: t.expose('amount', { type: 'SafeInt', description: 'Amount in minor units.' }),
      state: t.expose('state', { type: state }),
      startedAt: t.string({ resolve: (c) => isoTime(c.startedAt) }),
    }),
  })
  builder.objectFields(autoRecharge, (t) => ({
    lastCharge: t.field({
      type: charge,
      nullable: true,
      description: 'Latest charge for the user and feature; null if there was none.',
      resolve: (r: AutoRecharge) => r.lastCharge,
    }),
  }))
  const preview = builder.objectRef<AutoRechargePreview>('AutoRechargePreview').implement({
    description: 'Immediate charge of setting an automatic recharge.',
    fields: (t) => ({
      balance: t.exposeFloat('balance', { description: 'Units left.' }),
      packs: t.exposeInt('packs', {
        description: 'Number of packs charged immediately; 0 if nothing is charged.',
      }),
      units: t.exposeFloat('units', { description: 'Number of units in these packs.' }),
      amount: t.expose('amount', { type: 'SafeInt', description: 'Amount charged, in minor units.' }),
      reason: t.exposeString('reason', {
        nullable: true,
        description: 'Reason why nothing is charged although fewer than `below` units are left.',
      }),
    }),
  })
  queryFields(builder, (t, { appId, userId, provider }) => ({
    autoRecharges: t.field({
      type: [autoRecharge],
      description: RECHARGE_LIST,
      args: { appId, userId, featureId: t.arg.string() },
      resolve: async (_, { appId, userId, featureId = null }, context) =>
        autoRecharges(await inApp(appCall(context, appId)), userId, featureId),
    }),
    autoRechargePreview: t.field({
      type: preview,
      args: { appId, input: t.arg({ type: autoRechargeInput, required: true }) },
      resolve: async (_, { appId, input }, context) =>
        autoRechargePreview(await inApp(appCall(context, appId)), newRecharge(input)),
    }),
    hasSavedCard: t.boolean({
      description:
        'Whether a user has a card at a provider that can be charged without them, as the provider reports it.',
      args: { appId, userId, provider },
      resolve: async (_, { appId, ...of }, context) => hasSavedCard(await inApp(appCall(context, appId)), of),
    }),
  }))
  mutationFields(builder, (t, { appId, userId, featureId }) => ({
    setAutoRecharge: t.field({
      type: autoRecharge,
      description: SET_RECHARGE,
      args: { appId, input: t.arg({ type: autoRechargeInput, required: true }) },
      resolve: async (_, { appId, input }, context) =>
        setAutoRecharge(await inApp(appCall(context, appId)), newRecharge(input)),
    }),
    removeAutoRecharge: t.field({
      type: autoRecharge,
      nullable: true,
      description: REMOVE_RECHARGE,
      args: { appId, userId, featureId },
      resolve: async (_, { appId, ...of }, context) =>
        removeAutoRecharge(await inApp(appCall(context, appId)), of),
    }),
  }))
}
