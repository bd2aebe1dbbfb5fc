import { RESET_PERIODS } from '../../domain/period.ts'
import type { Builder } from './builder.ts'

/** An entitlement as callers send it. */
export function defineEntitlementInput<Context extends object>(builder: Builder<Context>) {
  const resetPeriod = builder.enumType('ResetPeriod', { values: RESET_PERIODS })
  const entitlement = builder.inputType('Entitlement', {
    fields: (t) => ({
      limit: t.field({ type: 'SafeInt', description: 'Allowance. Unlimited if omitted.' }),
      resetPeriod: t.field({ type: resetPeriod, defaultValue: 'MONTH' }),
      overageEnabled: t.boolean({ defaultValue: false }),
    }),
  })
  return { resetPeriod, entitlement }
}
