import type { UserCap } from '../../operations/credits/caps.ts'
import type { Builder } from './builder.ts'
import type { defineEntitlementInput } from './entitlement-input.ts'
import { isoTimeOrNull } from './time.ts'

export const CAP_LIST = "A user's caps, by feature, entity and period."
export const SET_CAP =
  'Limits the usage of a feature in windows of the UTC calendar: all usage of the user, or that of one entity. Changing the limit of a cap keeps its count.'
export const REMOVE_CAP = 'Removes a cap. Returns null if there was none.'
export const ENTITIES =
  'Entities whose caps count the usage, as `type:id`, at most 4. The caps of the user always count it.'

export function defineCapTypes<Context extends object>(
  builder: Builder<Context>,
  resetPeriod: ReturnType<typeof defineEntitlementInput<Context>>['resetPeriod'],
) {
  return {
    cap: builder.objectRef<UserCap>('Cap').implement({
      description: 'Limit of the usage of a feature in windows of the UTC calendar.',
      fields: (t) => ({
        userId: t.exposeString('userId'),
        featureId: t.exposeString('featureId'),
        entity: t.exposeString('entity', {
          nullable: true,
          description:
            'Entity whose usage is limited, as `type:id`; null if all usage of the user is limited.',
        }),
        limit: t.exposeFloat('limit'),
        period: t.expose('period', { type: resetPeriod, description: 'Length of a window.' }),
        used: t.exposeFloat('used', {
          description: 'Units used in the current window, since the cap was set.',
        }),
        reserved: t.exposeFloat('reserved', { description: 'Units held by live reservations.' }),
        resetsAt: t.string({
          nullable: true,
          description: 'Start of the next window; null if the count never resets.',
          resolve: (c) => isoTimeOrNull(c.resetsAt),
        }),
      }),
    }),
    capInput: builder.inputType('CapInput', {
      fields: (t) => ({
        userId: t.string({ required: true }),
        featureId: t.string({ required: true }),
        entity: t.string({
          description:
            'Entity whose usage is limited, as `type:id`. If omitted, all usage of the user is limited.',
        }),
        limit: t.field({ type: 'SafeInt', required: true }),
        period: t.field({ type: resetPeriod, required: true, description: 'Length of a window.' }),
      }),
    }),
  }
}
