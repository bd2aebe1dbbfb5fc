import { type Consumption, REASON_CODES } from '../../domain/access.ts'
import type { FeatureAccess } from '../../operations/usage/can-use-feature.ts'
import type { UsagePeriod } from '../../operations/usage/show-usage.ts'
import type { Builder } from './builder.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

export function defineUsageTypes<Context extends object>(builder: Builder<Context>) {
  const reasonCode = builder.enumType('ReasonCode', { values: REASON_CODES })

  const consumption = builder.objectRef<Consumption>('Consumption').implement({
    fields: (t) => ({
      budget: t.exposeFloat('budget', {
        nullable: true,
        description: 'Allowance for the period; null if unlimited.',
      }),
      used: t.exposeFloat('used'),
      overageEnabled: t.exposeBoolean('overageEnabled'),
    }),
  })

  const canUseFeatureData = builder.objectRef<FeatureAccess>('CanUseFeatureData').implement({
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      access: t.exposeBoolean('access'),
      reason: t.exposeString('reason', { description: 'Human-readable explanation of the result.' }),
      reasonCode: t.expose('reasonCode', {
        type: reasonCode,
        description: 'Machine-readable reason for the result.',
      }),
      consumption: t.expose('consumption', {
        type: consumption,
        nullable: true,
        description: 'Usage and budget; null for a binary feature and for a feature the user is not granted.',
      }),
    }),
  })

  const usagePeriod = builder.objectRef<UsagePeriod>('UsagePeriod').implement({
    fields: (t) => ({
      periodStart: t.string({ resolve: (p) => isoTime(p.periodStart) }),
      periodEnd: t.string({
        nullable: true,
        description: 'End of the period, exclusive; null if the period does not end.',
        resolve: (p) => isoTimeOrNull(p.periodEnd),
      }),
      consumption: t.expose('consumption', { type: consumption }),
    }),
  })

  return { canUseFeatureData, consumption, reasonCode, usagePeriod }
}
