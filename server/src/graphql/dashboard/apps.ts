import { apiKeys, createApiKey, revokeApiKey, rotateApiKey } from '../../operations/apps/api-keys.ts'
import { advanceClock, app, apps, createApp, renameApp, setOrigins } from '../../operations/apps/apps.ts'
import type { ApiKeyRow } from '../../store/apps/api-keys.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext, installationCall } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

export function defineApps(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const apiKey = builder.objectRef<ApiKeyRow>('ApiKey').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      prefix: t.exposeString('prefix', { description: 'First characters of the secret.' }),
      createdAt: t.string({ resolve: (key) => isoTime(key.createdAt) }),
      revokedAt: t.string({ nullable: true, resolve: (key) => isoTimeOrNull(key.revokedAt) }),
      lastUsedAt: t.string({
        nullable: true,
        description: 'Time of last use, to the minute; null if never used.',
        resolve: (key) => isoTimeOrNull(key.lastUsedAt),
      }),
      expiresAt: t.string({
        nullable: true,
        description: 'Time at which a rotated key stops working; null if the key does not expire.',
        resolve: (key) => isoTimeOrNull(key.expiresAt),
      }),
    }),
  })
  const createdApiKey = builder
    .objectRef<Awaited<ReturnType<typeof createApiKey>>>('CreatedApiKey')
    .implement({
      fields: (t) => ({
        id: t.exposeString('id'),
        name: t.exposeString('name'),
        prefix: t.exposeString('prefix'),
        secret: t.exposeString('secret', { description: 'Secret of the key. It cannot be retrieved again.' }),
        formerExpiresAt: t.string({
          nullable: true,
          description: 'For a rotation, the time at which the previous secret stops working.',
          resolve: (key) => isoTimeOrNull(key.formerExpiresAt),
        }),
      }),
    })
  const revokedApiKey = builder.objectRef<{ id: string }>('RevokedApiKey').implement({
    fields: (t) => ({ id: t.exposeString('id') }),
  })

  queryFields(builder, (t, { appId }) => ({
    apps: t.field({ type: [types.app], resolve: (_, _args, context) => apps(installationCall(context)) }),
    app: t.field({
      type: types.app,
      args: { appId },
      resolve: (_, { appId }, context) => app(appCall(context, appId)),
    }),
    apiKeys: t.field({
      type: [apiKey],
      args: { appId },
      resolve: (_, { appId }, context) => apiKeys(appCall(context, appId)),
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
    createApiKey: t.field({
      type: createdApiKey,
      args: { appId, name },
      resolve: (_, { appId, name }, context) => createApiKey(appCall(context, appId), name),
    }),
    rotateApiKey: t.field({
      type: createdApiKey,
      description: 'Replaces the secret of an API key. The previous secret keeps working for `overlapHours`.',
      args: { appId, id, overlapHours: t.arg.int({ defaultValue: 24 }) },
      resolve: (_, { appId, id, overlapHours }, context) =>
        rotateApiKey(appCall(context, appId), id, overlapHours ?? 24),
    }),
    revokeApiKey: t.field({
      type: revokedApiKey,
      args: { appId, id },
      resolve: (_, { appId, id }, context) => revokeApiKey(appCall(context, appId), id),
    }),
  }))
}
