import { MAX_PLAN_CAPS } from '../../domain/limits.ts'
import { RESET_PERIODS } from '../../domain/period.ts'
import type { Builder } from './builder.ts'

/** An entitlement as callers send it. */
export function defineEntitlementInput<Context extends object>(builder: Builder<Context>) {
  const resetPeriod = builder.enumType('ResetPeriod', { values: RESET_PERIODS })
  const cap = builder.inputType('EntitlementCapInput', {
    description: 'Cap for every subscriber, in windows of the UTC calendar.',
    fields: (t) => ({
      period: t.field({ type: resetPeriod, required: true, description: 'Length of a window.' }),
      limit: t.field({ type: 'SafeInt', required: true }),
      perEntity: t.string({
        description:
          'Type of entity, such as `agent`: each `agent:…` is limited individually. If omitted, all usage of the subscriber is limited.',
      }),
    }),
  })
  const entitlement = builder.inputType('Entitlement', {
    fields: (t) => ({
      limit: t.field({ type: 'SafeInt', description: 'Allowance. Unlimited if omitted.' }),
      resetPeriod: t.field({ type: resetPeriod, defaultValue: 'MONTH' }),
      overageEnabled: t.boolean({ defaultValue: false }),
      overageCap: t.field({
        type: 'SafeInt',
        description:
          'Maximum overage beyond the limit, in units. Requires `overageEnabled`. No maximum if omitted.',
      }),
      caps: t.field({
        type: [cap],
        description: `Caps for every subscriber: at most ${MAX_PLAN_CAPS}, one per period and type of entity.`,
      }),
    }),
  })
  return { resetPeriod, entitlement }
}
