import type { Builder } from './builder.ts'
import type { defineCatalogueTypes } from './catalogue-types.ts'
import type { defineEntitlementInput } from './entitlement-input.ts'

interface Parts<Context extends object> {
  featureType: ReturnType<typeof defineCatalogueTypes<Context>>['featureType']
  entitlement: ReturnType<typeof defineEntitlementInput<Context>>['entitlement']
}

/** Inputs for features and packages, of both APIs. */
const COSTS =
  'Makes the feature a pool: when a listed feature has no units left, units of this feature are used instead. A feature can draw on at most one pool.'

export function defineCatalogueInputs<Context extends object>(
  builder: Builder<Context>,
  { featureType, entitlement }: Parts<Context>,
  packageFeatureName: string,
) {
  const cost = builder.inputType('CostInput', {
    description: 'Cost of one unit of a feature in units of a pool.',
    fields: (t) => ({
      featureId: t.string({ required: true, description: 'Consumable feature that draws on the pool.' }),
      cost: t.field({
        type: 'SafeInt',
        required: true,
        description: 'Cost in units of the pool; at least 1.',
      }),
    }),
  })
  const packageFeature = builder.inputType(packageFeatureName, {
    fields: (t) => ({ id: t.string({ required: true }), entitlement: t.field({ type: entitlement }) }),
  })
  return {
    packageFeature,
    createFeature: builder.inputType('CreateFeatureInput', {
      fields: (t) => ({
        id: t.string({ required: true }),
        name: t.string({ required: true }),
        unitLabel: t.string(),
        unitLabelPlural: t.string(),
        type: t.field({ type: featureType, required: true }),
        metadata: t.field({ type: 'JSON' }),
        thresholds: t.intList({
          description:
            'Percentages of the budget at which the event `usage.threshold_reached` is published. Null: 80 and 100.',
        }),
        costs: t.field({ type: [cost], description: COSTS }),
      }),
    }),
    updateFeature: builder.inputType('UpdateFeatureInput', {
      fields: (t) => ({
        name: t.string(),
        unitLabel: t.string(),
        unitLabelPlural: t.string(),
        metadata: t.field({ type: 'JSON' }),
        thresholds: t.intList({
          description:
            'Percentages of the budget at which the event `usage.threshold_reached` is published. Null: 80 and 100.',
        }),
        costs: t.field({ type: [cost], description: COSTS }),
      }),
    }),
    createPackage: builder.inputType('CreatePackageInput', {
      fields: (t) => ({
        id: t.string({ required: true }),
        name: t.string({ required: true }),
        isAddon: t.boolean({ defaultValue: false }),
        metadata: t.field({ type: 'JSON' }),
        features: t.field({ type: [packageFeature] }),
      }),
    }),
    updatePackage: builder.inputType('UpdatePackageInput', {
      fields: (t) => ({ metadata: t.field({ type: 'JSON' }) }),
    }),
  }
}
