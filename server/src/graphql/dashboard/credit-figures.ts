import {
  type CreditFigures,
  creditFigures,
  type FeatureCredits,
} from '../../operations/home/credit-figures.ts'
import type { Builder } from '../types/builder.ts'
import { isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { queryFields } from './fields.ts'
import { DECIMALS } from './types.ts'

/** Credits sold, burnt and expiring, for Home. */
export function defineCreditFigures(builder: Builder<DashboardContext>): void {
  const money = builder.objectRef<FeatureCredits['money'][number]>('CreditMoney').implement({
    fields: (t) => ({
      provider: t.exposeString('provider'),
      currency: t.exposeString('currency'),
      decimals: t.exposeInt('decimals', { description: DECIMALS }),
      amount: t.expose('amount', { type: 'SafeInt' }),
    }),
  })
  const feature = builder.objectRef<FeatureCredits>('FeatureCredits').implement({
    description: 'Credits of one feature, in units.',
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      featureName: t.exposeString('featureName'),
      sold: t.expose('sold', {
        type: 'SafeInt',
        description: 'Units bought through payment links and automatic recharges in the last 30 days.',
      }),
      money: t.expose('money', {
        type: [money],
        description: 'Payments for the units sold, without refunds.',
      }),
      soldWithoutAmount: t.expose('soldWithoutAmount', {
        type: 'SafeInt',
        description: 'Units among `sold` whose payment is not known.',
      }),
      burnt: t.exposeFloat('burnt', {
        nullable: true,
        description:
          'Units taken from credits in the last 30 days, minus returned units; null while the sum is being calculated.',
      }),
      expiring: t.expose('expiring', {
        type: 'SafeInt',
        description: 'Unused units that expire in the next 30 days.',
      }),
    }),
  })
  const figures = builder.objectRef<CreditFigures>('CreditFigures').implement({
    fields: (t) => ({
      features: t.expose('features', {
        type: [feature],
        description: 'The 5 features with the most units burnt, in that order.',
      }),
      otherFeatures: t.exposeInt('otherFeatures', { description: 'Number of features that are not listed.' }),
      soldComplete: t.exposeBoolean('soldComplete', {
        description: 'False if only the newest 100,000 purchases are counted.',
      }),
      expiringComplete: t.exposeBoolean('expiringComplete', {
        description: 'False if only the first 100,000 credits to expire are counted.',
      }),
      burntFrom: t.string({
        nullable: true,
        description: 'Start of the range in which burnt units are counted; null if it covers all 30 days.',
        resolve: (f) => isoTimeOrNull(f.burntFrom),
      }),
    }),
  })
  queryFields(builder, (t, { appId }) => ({
    creditFigures: t.field({
      type: figures,
      nullable: true,
      description: 'Credits sold, burnt and expiring; null if the app has none.',
      args: { appId },
      resolve: (_, { appId }, context) => creditFigures(appCall(context, appId)),
    }),
  }))
}
