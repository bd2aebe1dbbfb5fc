import { ACCESS_CHANGES } from '../../domain/publish-impact.ts'
import {
  type PublishPreview,
  publishPreview,
  publishTouched,
} from '../../operations/catalogue/publish-preview.ts'
import type { FeatureImpact, Touch } from '../../operations/catalogue/reach.ts'
import type { Builder } from '../types/builder.ts'
import { definePage } from '../types/page-type.ts'
import { appCall, type DashboardContext } from './context.ts'
import { queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Preview of publishing a package. */
export function definePublishing(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const accessChange = builder.enumType('AccessChange', { values: ACCESS_CHANGES })
  const impact = builder.objectRef<FeatureImpact>('FeatureImpact').implement({
    fields: (t) => ({
      featureId: t.exposeString('featureId'),
      name: t.exposeString('name'),
      gain: t.expose('gain', { type: 'SafeInt' }),
      lose: t.expose('lose', { type: 'SafeInt' }),
      moreOverage: t.expose('moreOverage', { type: 'SafeInt' }),
      lessOverage: t.expose('lessOverage', { type: 'SafeInt' }),
      before: t.expose('before', {
        type: types.grant,
        nullable: true,
        description: 'Current grant; null if the package does not grant the feature.',
      }),
      after: t.expose('after', { type: types.grant, nullable: true }),
    }),
  })
  const touch = builder.objectRef<Touch>('PublishTouch').implement({
    fields: (t) => ({
      userId: t.exposeString('userId'),
      name: t.exposeString('name', { nullable: true }),
      email: t.exposeString('email', { nullable: true }),
      featureId: t.exposeString('featureId'),
      change: t.expose('change', { type: accessChange }),
      before: t.field({
        type: types.canUseFeatureData,
        resolve: ({ featureId, before }) => ({ featureId, ...before }),
      }),
      after: t.field({
        type: types.canUseFeatureData,
        resolve: ({ featureId, after }) => ({ featureId, ...after }),
      }),
    }),
  })
  const touchPage = definePage(builder, 'PublishTouchPage', touch)
  const preview = builder.objectRef<PublishPreview>('PublishPreview').implement({
    description:
      'Effect of publishing on existing subscribers, for a `delta` of 1 of each feature at the time they get the new version.',
    fields: (t) => ({
      subscribers: t.expose('subscribers', {
        type: 'SafeInt',
        description: 'Number of users with the package.',
      }),
      gain: t.expose('gain', {
        type: 'SafeInt',
        description: 'Number of subscribers who gain access to at least one feature.',
      }),
      lose: t.expose('lose', { type: 'SafeInt' }),
      moreOverage: t.expose('moreOverage', {
        type: 'SafeInt',
        description:
          'Number of subscribers who go into overage, or further into overage, for at least one feature.',
      }),
      lessOverage: t.expose('lessOverage', { type: 'SafeInt' }),
      features: t.expose('features', {
        type: [impact],
        description: 'Effect on each feature that the draft changes.',
      }),
      touched: t.expose('touched', {
        type: touchPage,
        description: 'First page of affected subscribers. Those who lose access come first.',
      }),
    }),
  })

  queryFields(builder, (t, { appId, packageId }) => {
    const first = t.arg.int({ defaultValue: 50 })
    const reach = t.arg({ type: types.reach, defaultValue: 'ALL' })
    return {
      publishPreview: t.field({
        type: preview,
        args: { appId, packageId, for: reach, first },
        resolve: (_, { appId, packageId, for: reach, first }, context) =>
          publishPreview(appCall(context, appId), packageId, reach ?? 'ALL', first),
      }),
      publishTouched: t.field({
        type: touchPage,
        description: 'Further affected subscribers, after the first page.',
        args: { appId, packageId, for: reach, first, after: t.arg.string({ required: true }) },
        resolve: (_, { appId, packageId, for: reach, first, after }, context) =>
          publishTouched(appCall(context, appId), packageId, reach ?? 'ALL', first, after),
      }),
    }
  })
}
