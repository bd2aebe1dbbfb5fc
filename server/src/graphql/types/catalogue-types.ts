import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { type Cost, FEATURE_TYPES } from '../../domain/feature.ts'
import { PACKAGE_STATUSES, type Package, type PackageFeature } from '../../domain/package.ts'
import { displayAmount, type Price } from '../../domain/price.ts'
import { DEFAULT_THRESHOLDS } from '../../domain/usage-thresholds.ts'
import type { Builder } from './builder.ts'
import { isoTime } from './time.ts'

export function defineCatalogueTypes<Context extends object>(builder: Builder<Context>) {
  const featureType = builder.enumType('FeatureType', { values: FEATURE_TYPES })
  const packageStatus = builder.enumType('PackageStatus', { values: PACKAGE_STATUSES })

  const price = builder.objectRef<Price>('Price').implement({
    fields: (t) => ({
      id: t.exposeString('id', { description: 'ID of the price at the billing provider.' }),
      provider: t.exposeString('provider'),
      amount: t.expose('amount', { type: 'SafeInt', description: 'Amount in minor units of the currency.' }),
      displayAmount: t.string({ resolve: displayAmount }),
      currency: t.exposeString('currency'),
      interval: t.exposeString('interval', {
        nullable: true,
        description: 'Billing interval, such as `month`; null for a one-off price.',
      }),
    }),
  })

  const packageFeature = builder.objectRef<PackageFeature>('PackageFeature').implement({
    fields: (t) => ({
      id: t.exposeString('featureId'),
      name: t.string({ resolve: (f) => f.feature.name }),
      limit: t.string({
        nullable: true,
        description: 'Allowance in decimal digits; null for binary and unlimited features.',
        resolve: (f) => (f.limit === null ? null : String(f.limit)),
      }),
      type: t.field({ type: featureType, resolve: (f) => f.feature.type }),
      unitLabel: t.string({ nullable: true, resolve: (f) => f.feature.unitLabel }),
      unitLabelPlural: t.string({ nullable: true, resolve: (f) => f.feature.unitLabelPlural }),
      metadata: t.field({ type: 'JSON', resolve: (f) => f.feature.metadata }),
    }),
  })

  const packageRef = builder.objectRef<Package>('Package').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      status: t.expose('status', { type: packageStatus }),
      metadata: t.expose('metadata', { type: 'JSON' }),
      features: t.expose('features', { type: [packageFeature] }),
      prices: t.expose('prices', { type: [price] }),
      isAddon: t.exposeBoolean('isAddon', {
        description: 'Whether the package is an add-on. Otherwise it is a base plan.',
      }),
      updatedAt: t.string({ resolve: (p) => isoTime(p.updatedAt) }),
      archived: t.exposeBoolean('archived', {
        description:
          'Whether the package is closed to new subscriptions. Existing subscriptions are not affected.',
      }),
    }),
  })

  const cost = builder.objectRef<Cost>('Cost').implement({
    description: 'Cost of one unit of a feature in units of a pool.',
    fields: (t) => ({
      featureId: t.exposeString('featureId', { description: 'Feature that draws on the pool.' }),
      cost: t.expose('cost', { type: 'SafeInt', description: 'Units of the pool.' }),
    }),
  })

  const feature = builder.objectRef<CataloguedFeature>('Feature').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      type: t.expose('type', { type: featureType }),
      unitLabel: t.exposeString('unitLabel', { nullable: true }),
      unitLabelPlural: t.exposeString('unitLabelPlural', { nullable: true }),
      metadata: t.expose('metadata', { type: 'JSON' }),
      thresholds: t.intList({
        description: 'Percentages of the budget at which the event `usage.threshold_reached` is published.',
        resolve: ({ thresholds }) => [...(thresholds ?? DEFAULT_THRESHOLDS)],
      }),
      costs: t.field({
        type: [cost],
        description: 'Features that draw on this one as a pool, with their costs.',
        resolve: ({ costs }) => costs ?? [],
      }),
      packages: t.expose('packages', {
        type: [packageRef],
        description: 'Packages that include the feature.',
      }),
      archived: t.exposeBoolean('archived', {
        description:
          'Whether the feature can no longer be added to packages. Packages that include it are not affected.',
      }),
    }),
  })

  return { feature, featureType, package: packageRef, packageStatus, price }
}
