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
    description: 'GRANT and DENY are for any feature, the others for consumable ones.',
    values: OVERRIDE_MODES,
  })
  const RESET_PERIOD = 'How often the count resets where no package of the user says.'
  return {
    override: builder.objectRef<UserOverride>('Override').implement({
      description: 'An exception for one user and feature, which wins over packages.',
      fields: (t) => ({
        userId: t.exposeString('userId'),
        featureId: t.exposeString('featureId'),
        mode: t.expose('mode', { type: mode }),
        limit: t.expose('limit', { type: 'SafeInt', nullable: true, description: 'For REPLACE and ADD.' }),
        overageEnabled: t.exposeBoolean('overageEnabled', {
          nullable: true,
          description: 'Null: as the packages say.',
        }),
        resetPeriod: t.expose('resetPeriod', { type: resetPeriod, description: RESET_PERIOD }),
        startedAt: t.string({
          description: 'Periods are counted from here while the user has no subscription.',
          resolve: (o) => isoTime(o.startedAt),
        }),
        expiresAt: t.string({
          nullable: true,
          description: 'It ends then, by itself.',
          resolve: (o) => isoTimeOrNull(o.expiresAt),
        }),
        reason: t.exposeString('reason', {
          nullable: true,
          description: 'A note for your own people. Users never see it.',
        }),
      }),
    }),
    overrideInput: builder.inputType('OverrideInput', {
      fields: (t) => ({
        userId: t.string({ required: true }),
        featureId: t.string({ required: true }),
        mode: t.field({ type: mode, required: true }),
        limit: t.field({ type: 'SafeInt', description: 'For REPLACE and ADD, which need it.' }),
        overageEnabled: t.boolean({ description: 'For REPLACE and ADD; left out: as the packages say.' }),
        resetPeriod: t.field({
          type: resetPeriod,
          description: `${RESET_PERIOD} Left out: as before, or MONTH.`,
        }),
        expiresAt: t.string({ description: 'ISO 8601, in the future; left out: no end.' }),
        reason: t.string({ description: 'A note for your own people. Users never see it.' }),
      }),
    }),
  }
}
