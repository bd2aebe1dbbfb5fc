import { type Consumption, REASON_CODES } from '../../domain/access.ts'
import type { Source } from '../../domain/purse.ts'
import { deniedBy, type FeatureAccess } from '../../operations/usage/can-use-feature.ts'
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
      overageCap: t.float({
        nullable: true,
        description: 'Maximum overage beyond the budget, in units; null if there is no maximum.',
        resolve: (c) => c.overageCap ?? null,
      }),
      reserved: t.float({
        description: 'Units held by live reservations, in all sources.',
        resolve: ({ reserved }) => reserved ?? 0,
      }),
      remaining: t.float({
        nullable: true,
        description: 'Units left in all sources, without overage; null if unlimited.',
        resolve: (c) => (c.remaining === undefined ? leftOf(c) : c.remaining),
      }),
    }),
  })

  const source = builder.objectRef<Source>('UsageSource').implement({
    description: 'A source that pays for usage of a feature.',
    fields: (t) => ({
      kind: t.expose('kind', {
        type: builder.enumType('UsageSourceKind', { values: ['PLAN', 'CREDIT'] as const }),
      }),
      id: t.exposeString('id', { nullable: true, description: 'ID of the credit; null for the plan.' }),
      left: t.exposeFloat('left', {
        nullable: true,
        description:
          'Units left, without reserved ones; null if unlimited. For a pool, in units of the pool.',
      }),
      poolId: t.string({
        nullable: true,
        description: 'Pool that the source belongs to; null for a source of the feature itself.',
        resolve: ({ pool }) => pool?.featureId ?? null,
      }),
      cost: t.field({
        type: 'SafeInt',
        description: 'Units of the source for one unit of the feature; 1 for a source of the feature itself.',
        resolve: ({ pool }) => pool?.cost ?? 1,
      }),
      expiresAt: t.string({
        nullable: true,
        description: "Expiry of the credit or end of the plan's period; null if there is none.",
        resolve: (s) => isoTimeOrNull(s.expiresAt),
      }),
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
      sources: t.field({
        type: [source],
        description: 'Sources with units left, in the order in which they are used.',
        resolve: (a) => a.sources?.() ?? planSource(a),
      }),
      deniedBy: t.string({
        nullable: true,
        description:
          'Limit that denied the check: `PLAN` if the sources have too few units left; otherwise a cap with its period and entity, for example `CAP DAY`, `CAP HOUR agent:42`, or `POOL CAP DAY` for a cap of the pool. Null if access is granted, or denied for another reason.',
        resolve: deniedBy,
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

const leftOf = ({ budget, used }: Pick<Consumption, 'budget' | 'used'>): number | null =>
  budget === null ? null : Math.max(0, budget - used)

/** Where nothing but the plan pays. */
function planSource({ consumption, periodEnd }: Pick<FeatureAccess, 'consumption' | 'periodEnd'>): Source[] {
  const left = consumption && leftOf(consumption)
  return !consumption || left === 0 ? [] : [{ kind: 'PLAN', id: null, left, expiresAt: periodEnd ?? null }]
}
