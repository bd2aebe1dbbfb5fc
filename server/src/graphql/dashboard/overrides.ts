import { inApp } from '../../operations/apps/apps.ts'
import type { KeyedPage } from '../../operations/call/pages.ts'
import { type FeatureOverride, featureOverrides } from '../../operations/overrides/feature-overrides.ts'
import { overrides } from '../../operations/overrides/overrides.ts'
import { removeOverride } from '../../operations/overrides/remove-override.ts'
import { setOverride } from '../../operations/overrides/set-override.ts'
import type { Builder } from '../types/builder.ts'
import { newOverride } from '../types/inputs.ts'
import { defineOverrideTypes } from '../types/override-types.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields, USER_NAME } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Overrides. */
export function defineOverrides(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const { override, overrideInput } = defineOverrideTypes(builder, types.resetPeriod)
  const ofFeature = builder.objectRef<FeatureOverride>('FeatureOverride').implement({
    fields: (t) => ({
      userName: t.exposeString('userName', { nullable: true, description: USER_NAME }),
      override: t.field({ type: override, resolve: (o) => o }),
    }),
  })
  const page = builder.objectRef<KeyedPage<FeatureOverride>>('FeatureOverridePage').implement({
    fields: (t) => ({
      rows: t.field({ type: [ofFeature], resolve: (page) => page.rows }),
      next: t.string({
        nullable: true,
        description:
          'Cursor for the next page, passed as `after`; null on the last page. A page may contain fewer rows than requested, or none.',
        resolve: (page) => page.next,
      }),
    }),
  })
  queryFields(builder, (t, { appId, id, userId }) => ({
    featureOverrides: t.field({
      type: page,
      description: 'Overrides of a feature that are currently in force.',
      args: {
        appId,
        id,
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string(),
      },
      resolve: async (_, { appId, id, first, after }, context) =>
        featureOverrides(await inApp(appCall(context, appId)), id, { first, after }),
    }),
    overrides: t.field({
      type: [override],
      description: 'Overrides of a user that are currently in force.',
      args: { appId, userId },
      resolve: async (_, { appId, userId }, context) =>
        overrides(await inApp(appCall(context, appId)), userId),
    }),
  }))
  mutationFields(builder, (t, { appId, userId, featureId }) => ({
    setOverride: t.field({
      type: override,
      args: { appId, input: t.arg({ type: overrideInput, required: true }) },
      resolve: async (_, { appId, input }, context) =>
        setOverride(await inApp(appCall(context, appId)), newOverride(input)),
    }),
    removeOverride: t.field({
      type: override,
      nullable: true,
      args: {
        appId,
        userId,
        featureId,
      },
      resolve: (_, { appId, userId, featureId }, context) =>
        removeOverride(appCall(context, appId), userId, featureId),
    }),
  }))
}
