import { advanceClock, app, apps, createApp, renameApp, setOrigins } from '../../operations/apps/apps.ts'
import type { Builder } from '../types/builder.ts'
import { appCall, type DashboardContext, installationCall } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

export function defineApps(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  queryFields(builder, (t, { appId }) => ({
    apps: t.field({ type: [types.app], resolve: (_, _args, context) => apps(installationCall(context)) }),
    app: t.field({
      type: types.app,
      args: { appId },
      resolve: (_, { appId }, context) => app(appCall(context, appId)),
    }),
  }))

  mutationFields(builder, (t, { appId, id, name }) => ({
    createApp: t.field({
      type: types.app,
      args: { id, name, testClock: t.arg.boolean({ defaultValue: false }) },
      resolve: (_, { id, name, testClock }, context) =>
        createApp(installationCall(context), id, name, testClock ?? false),
    }),
    renameApp: t.field({
      type: types.app,
      args: { appId, name },
      resolve: (_, { appId, name }, context) => renameApp(appCall(context, appId), name),
    }),
    advanceClock: t.field({
      type: types.app,
      args: {
        appId,
        to: t.arg.string({
          required: true,
          description: 'New time (ISO 8601), later than the current one.',
        }),
      },
      resolve: (_, { appId, to }, context) => advanceClock(appCall(context, appId), to),
    }),
    setOrigins: t.field({
      type: types.app,
      args: { appId, origins: t.arg.stringList({ required: true }) },
      resolve: (_, { appId, origins }, context) => setOrigins(appCall(context, appId), origins),
    }),
  }))
}
