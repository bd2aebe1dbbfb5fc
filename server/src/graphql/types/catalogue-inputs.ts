import type { Builder } from './builder.ts'
import type { defineCatalogueTypes } from './catalogue-types.ts'
import type { defineEntitlementInput } from './entitlement-input.ts'

interface Parts<Context extends object> {
  featureType: ReturnType<typeof defineCatalogueTypes<Context>>['featureType']
  entitlement: ReturnType<typeof defineEntitlementInput<Context>>['entitlement']
}

/** Inputs for features and packages, of both APIs. */
export function defineCatalogueInputs<Context extends object>(
  builder: Builder<Context>,
  { featureType, entitlement }: Parts<Context>,
  packageFeatureName: string,
) {
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
