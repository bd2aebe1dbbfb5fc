import { type RecordedUsage, USAGE_ACTIONS } from '../../domain/usage.ts'
import type { ShowUsage } from '../../operations/usage/show-usage.ts'
import type { Builder } from './builder.ts'
import { ENTITIES } from './cap-types.ts'
import type { defineUsageTypes } from './usage-types.ts'

type Usage<Context extends object> = Pick<
  ReturnType<typeof defineUsageTypes<Context>>,
  'usagePeriod' | 'consumption'
>

export const EXPORT =
  'Exports all data stored about a user, in pages. If `next` is not null, pass it as `after` to get the next page.'

/** Inputs and results for users and their usage, of both APIs. */
export function defineUserTypes<Context extends object>(
  builder: Builder<Context>,
  { usagePeriod, consumption }: Usage<Context>,
) {
  const usageAction = builder.enumType('UsageAction', { values: USAGE_ACTIONS })
  return {
    usageAction,
    showUsageData: builder.objectRef<ShowUsage>('ShowUsageData').implement({
      fields: (t) => ({
        current: t.expose('current', {
          type: usagePeriod,
          nullable: true,
          description: 'Current period; null if the feature is not metered for this user.',
        }),
        past: t.expose('past', {
          type: [usagePeriod],
          description: 'Past periods, newest first; 24 at most.',
        }),
      }),
    }),
    recordedUsage: builder.objectRef<RecordedUsage>('RecordedUsage').implement({
      fields: (t) => ({
        recorded: t.exposeBoolean('recorded'),
        reason: t.exposeString('reason', {
          nullable: true,
          description: 'Human-readable reason why the usage was not recorded; null if it was recorded.',
        }),
        consumption: t.expose('consumption', {
          type: consumption,
          nullable: true,
          description: 'Usage and budget after the call.',
        }),
      }),
    }),
    deletedUser: builder.objectRef<{ id: string }>('DeletedUser').implement({
      fields: (t) => ({
        id: t.exposeString('id', { description: 'ID of the deleted user, which can be used again.' }),
      }),
    }),
    generatedUserToken: builder.objectRef<{ token: string }>('GeneratedUserToken').implement({
      fields: (t) => ({ token: t.exposeString('token') }),
    }),
    createUser: builder.inputType('CreateUserInput', {
      fields: (t) => ({
        id: t.string({ required: true }),
        billingId: t.string(),
        name: t.string(),
        email: t.string(),
        metadata: t.field({ type: 'JSON' }),
      }),
    }),
    createUsageEvent: builder.inputType('CreateUsageEventInput', {
      fields: (t) => ({
        userId: t.string({ required: true }),
        featureId: t.string({ required: true }),
        delta: t.field({
          type: 'SafeInt',
          required: true,
          description: 'Amount of usage; a negative one returns units. 0 with `revertOf`.',
        }),
        action: t.field({ type: usageAction, description: 'Defaults to ADD.' }),
        idempotencyKey: t.string({
          description: 'Key that identifies the event. Events with the same key are counted once.',
        }),
        entities: t.stringList({ description: ENTITIES }),
        revertOf: t.string({
          description:
            'Idempotency key of an earlier event, or ID of a reservation that has ended. Returns exactly the units it took, to the same sources. Repeated calls return the same answer and have no further effect.',
        }),
      }),
    }),
  }
}
