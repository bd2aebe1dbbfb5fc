import {
  dashboardFeature,
  dashboardFeatures,
  dashboardPackage,
  dashboardPackages,
} from '../../operations/catalogue/catalogue.ts'
import { createFeature } from '../../operations/catalogue/create-feature.ts'
import { createPackage } from '../../operations/catalogue/create-package.ts'
import { discardPackageDraft, editPackage, updatePackage } from '../../operations/catalogue/edit-package.ts'
import { cancelScheduledPublication, publishPackage } from '../../operations/catalogue/publish-package.ts'
import { updateFeature } from '../../operations/catalogue/update-feature.ts'
import type { Builder } from '../types/builder.ts'
import { defineCatalogueInputs } from '../types/catalogue-inputs.ts'
import { featureChange, newFeature, newPackage, packageChange } from '../types/inputs.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

/** Features and packages. */
export function defineCatalogue(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  queryFields(builder, (t, { appId, id }) => ({
    feature: t.field({
      type: types.feature,
      args: { appId, id },
      resolve: (_, { appId, id }, context) => dashboardFeature(appCall(context, appId), id),
    }),
    features: t.field({
      type: [types.feature],
      args: {
        appId,
        search: t.arg.string({ description: 'Only features whose ID or name contains this text.' }),
      },
      resolve: (_, { appId, search }, context) => dashboardFeatures(appCall(context, appId), search ?? ''),
    }),
    package: t.field({
      type: types.package,
      args: { appId, id },
      resolve: (_, { appId, id }, context) => dashboardPackage(appCall(context, appId), id),
    }),
    packages: t.field({
      type: [types.package],
      args: {
        appId,
        search: t.arg.string({ description: 'Only packages whose ID or name contains this text.' }),
      },
      resolve: (_, { appId, search }, context) => dashboardPackages(appCall(context, appId), search ?? ''),
    }),
  }))

  const inputs = defineInputs(builder, types)
  mutationFields(builder, (t, { appId, id }) => {
    const expectedVersion = t.arg.string({
      description: 'Version the change is based on. Fails with CONFLICT if the object has changed since.',
    })
    return {
      createFeature: t.field({
        type: types.feature,
        args: { appId, input: t.arg({ type: inputs.createFeature, required: true }) },
        resolve: (_, { appId, input }, context) => createFeature(appCall(context, appId), newFeature(input)),
      }),
      updateFeature: t.field({
        type: types.feature,
        args: { appId, id, input: t.arg({ type: inputs.updateFeature, required: true }), expectedVersion },
        resolve: (_, { appId, id, input, expectedVersion }, context) =>
          updateFeature(appCall(context, appId, expectedVersion), id, featureChange(input)),
      }),
      createPackage: t.field({
        type: types.package,
        args: { appId, input: t.arg({ type: inputs.createPackage, required: true }) },
        resolve: (_, { appId, input }, context) => createPackage(appCall(context, appId), newPackage(input)),
      }),
      updatePackage: t.field({
        type: types.package,
        description:
          'Updates the metadata of a package. Takes effect immediately, also for a published package.',
        args: { appId, id, input: t.arg({ type: inputs.updatePackage, required: true }), expectedVersion },
        resolve: (_, { appId, id, input, expectedVersion }, context) =>
          updatePackage(appCall(context, appId, expectedVersion), id, packageChange(input)),
      }),
      editPackage: t.field({
        type: types.package,
        args: { appId, id, input: t.arg({ type: inputs.editPackage, required: true }), expectedVersion },
        resolve: (_, { appId, id, input, expectedVersion }, context) => {
          const edit = {
            ...(input.name != null && { name: input.name }),
            ...(input.features && {
              features: input.features.map((f) => ({ id: f.id, entitlement: f.entitlement ?? {} })),
            }),
          }
          return editPackage(appCall(context, appId, expectedVersion), id, edit)
        },
      }),
      publishPackage: t.field({
        type: types.package,
        description:
          'Publishes a package. Publishing the draft of a published package creates its next version.',
        args: {
          appId,
          id,
          for: t.arg({
            type: types.reach,
            defaultValue: 'ALL',
            description: 'Subscriptions that get the new version.',
          }),
          note: t.arg.string({ description: 'Description of the changes, for the list of versions.' }),
          at: t.arg.string({
            description:
              "Time at which to publish, by the app's clock; replaces a scheduled publication. Default: now. Until then, the package cannot be edited.",
          }),
          expectedVersion,
        },
        resolve: (_, { appId, id, for: reach, note, at, expectedVersion }, context) =>
          publishPackage(appCall(context, appId, expectedVersion), id, {
            reach: reach ?? 'ALL',
            note: note ?? null,
            at: at ?? null,
          }),
      }),
      cancelScheduledPublication: t.field({
        type: types.package,
        description: 'Cancels the scheduled publication of a package. Its draft is kept.',
        args: { appId, id, expectedVersion },
        resolve: (_, { appId, id, expectedVersion }, context) =>
          cancelScheduledPublication(appCall(context, appId, expectedVersion), id),
      }),
      discardPackageDraft: t.field({
        type: types.package,
        args: { appId, id, expectedVersion },
        resolve: (_, { appId, id, expectedVersion }, context) =>
          discardPackageDraft(appCall(context, appId, expectedVersion), id),
      }),
    }
  })
}

function defineInputs(
  builder: Builder<DashboardContext>,
  { entitlement, featureType }: Pick<DashboardTypes, 'entitlement' | 'featureType'>,
) {
  const { packageFeature, ...inputs } = defineCatalogueInputs(
    builder,
    { entitlement, featureType },
    'EditPackageFeatureInput',
  )
  return {
    ...inputs,
    editPackage: builder.inputType('EditPackageInput', {
      fields: (t) => ({ name: t.string(), features: t.field({ type: [packageFeature] }) }),
    }),
  }
}
