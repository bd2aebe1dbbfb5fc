import {
  CATALOGUE_CHANGES,
  type CatalogueDiff,
  type CatalogueDiffEntry,
} from '../../domain/catalogue-diff.ts'
import { catalogueDiff, copyCatalogue } from '../../operations/catalogue/copy-catalogue.ts'
import { loadSample, removeSample, type Sample } from '../../operations/home/sample.ts'
import type { Builder } from '../types/builder.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'

/** Copying catalogues from another app or from the sample. */
export function defineCopies(builder: Builder<DashboardContext>): void {
  const change = builder.enumType('CatalogueChange', { values: CATALOGUE_CHANGES })
  const entry = builder.objectRef<CatalogueDiffEntry>('CatalogueDiffEntry').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      change: t.expose('change', { type: change }),
      message: t.exposeString('message', {
        nullable: true,
        description: 'For a conflict, the reason why the item is not copied.',
      }),
      before: t.expose('before', {
        type: 'JSON',
        nullable: true,
        description: 'Item in the target app before the copy.',
      }),
      after: t.expose('after', {
        type: 'JSON',
        nullable: true,
        description: 'Item in the target app after the copy.',
      }),
    }),
  })
  const diff = builder.objectRef<CatalogueDiff>('CatalogueDiff').implement({
    fields: (t) => ({
      features: t.expose('features', { type: [entry] }),
      packages: t.expose('packages', { type: [entry] }),
    }),
  })
  const sample = builder.objectRef<Sample>('Sample').implement({
    fields: (t) => ({
      features: t.exposeInt('features'),
      packages: t.exposeInt('packages'),
      prices: t.exposeInt('prices'),
      templates: t.exposeInt('templates'),
      users: t.exposeInt('users'),
      subscriptions: t.exposeInt('subscriptions', {
        description: 'Number of subscriptions of the sample users.',
      }),
      payments: t.exposeInt('payments', { description: 'Number of payments of the sample users.' }),
      kept: t.exposeStringList('kept', {
        description: 'Items that are kept because other data depends on them.',
      }),
    }),
  })

  queryFields(builder, (t, { appId }) => ({
    catalogueDiff: t.field({
      type: diff,
      args: { appId, fromAppId: t.arg.string({ required: true }) },
      resolve: (_, { appId, fromAppId }, context) => catalogueDiff(appCall(context, appId), fromAppId),
    }),
  }))
  mutationFields(builder, (t, { appId }) => ({
    copyCatalogue: t.field({
      type: diff,
      description:
        'Copies features and packages from another app, as shown by `catalogueDiff`. Packages are copied as drafts.',
      args: { appId, fromAppId: t.arg.string({ required: true }) },
      resolve: (_, { appId, fromAppId }, context) => copyCatalogue(appCall(context, appId), fromAppId),
    }),
    loadSample: t.field({
      type: sample,
      args: { appId },
      resolve: (_, { appId }, context) => loadSample(appCall(context, appId)),
    }),
    removeSample: t.field({
      type: sample,
      description:
        'Removes the sample data. A dry run only returns the number of items that would be removed.',
      args: { appId, dryRun: t.arg.boolean({ defaultValue: false }) },
      resolve: (_, { appId, dryRun }, context) => removeSample(appCall(context, appId), dryRun ?? false),
    }),
  }))
}
