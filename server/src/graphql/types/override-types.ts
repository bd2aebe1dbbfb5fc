import { OVERRIDE_MODES } from '../../domain/override.ts'
import type { UserOverride } from '../../operations/overrides/overrides.ts'
import type { Builder } from './builder.ts'
import type { defineEntitlementInput } from './entitlement-input.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

export function defineOverrideTypes<Context extends object>(
  builder: Builder<Context>,
  resetPeriod: ReturnType<typeof defineEntitlementInput<Context>>['resetPeriod'],
) {
  const mode = builder.enumType('OverrideMode', {
    description:
      'Effect of an override. GRANT and DENY apply to any feature, the other modes only to consumable features.',
    values: OVERRIDE_MODES,
  })
  const RESET_PERIOD = "Reset period used if none of the user's packages defines one."
  return {
    override: builder.objectRef<UserOverride>('Override').implement({
      description: 'An exception for one user and feature that takes precedence over packages.',
      fields: (t) => ({
        userId: t.exposeString('userId'),
        featureId: t.exposeString('featureId'),
        mode: t.expose('mode', { type: mode }),
        limit: t.expose('limit', {
          type: 'SafeInt',
          nullable: true,
          description: 'Limit of the override, for the modes REPLACE and ADD.',
        }),
        overageEnabled: t.exposeBoolean('overageEnabled', {
          nullable: true,
          description: 'Whether overage is allowed; null if the packages determine it.',
        }),
        resetPeriod: t.expose('resetPeriod', { type: resetPeriod, description: RESET_PERIOD }),
        startedAt: t.string({
          description:
            'Start of the override. Periods are counted from this time while the user has no subscription.',
          resolve: (o) => isoTime(o.startedAt),
        }),
        expiresAt: t.string({
          nullable: true,
          description: 'Time at which the override expires.',
          resolve: (o) => isoTimeOrNull(o.expiresAt),
        }),
        reason: t.exposeString('reason', {
          nullable: true,
          description: 'Internal note, not visible to users.',
        }),
      }),
    }),
    overrideInput: builder.inputType('OverrideInput', {
      fields: (t) => ({
        userId: t.string({ required: true }),
        featureId: t.string({ required: true }),
        mode: t.field({ type: mode, required: true }),
        limit: t.field({
          type: 'SafeInt',
          description: 'Limit of the override. Required for the modes REPLACE and ADD.',
        }),
        overageEnabled: t.boolean({
          description:
            'Whether overage is allowed, for the modes REPLACE and ADD. If omitted, the packages determine it.',
        }),
        resetPeriod: t.field({
          type: resetPeriod,
          description: `${RESET_PERIOD} If omitted, the existing override's period is kept; the default is MONTH.`,
        }),
        expiresAt: t.string({
          description: 'Expiry time (ISO 8601), in the future. If omitted, the override does not expire.',
        }),
        reason: t.string({ description: 'Internal note, not visible to users.' }),
      }),
    }),
  }
}
