import { API_KEY_SCOPES } from '../../domain/api-key-scope.ts'
import {
  apiKeys,
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  updateApiKey,
} from '../../operations/apps/api-keys.ts'
import type { ApiKeyRow } from '../../store/apps/api-keys.ts'
import type { Builder } from '../types/builder.ts'
import { apiKeyChange, newApiKey } from '../types/inputs.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'

export function defineApiKeys(builder: Builder<DashboardContext>): void {
  const scope = builder.enumType('ApiKeyScope', {
    description:
      'Operations allowed for an API key. READ: queries. USAGE: access checks and usage. CATALOGUE: queries, and changes of features, packages, prices and templates. ALL: every operation.',
    values: API_KEY_SCOPES,
  })
  const apiKey = builder.objectRef<ApiKeyRow>('ApiKey').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      name: t.exposeString('name'),
      prefix: t.exposeString('prefix', { description: 'First characters of the secret.' }),
      scope: t.expose('scope', { type: scope }),
      createdAt: t.string({ resolve: (key) => isoTime(key.createdAt) }),
      revokedAt: t.string({ nullable: true, resolve: (key) => isoTimeOrNull(key.revokedAt) }),
      lastUsedAt: t.string({
        nullable: true,
        description: 'Time of last use, to the minute; null if never used.',
        resolve: (key) => isoTimeOrNull(key.lastUsedAt),
      }),
      expiresAt: t.string({
        nullable: true,
        description: 'Time at which the key stops working; null if it does not expire.',
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
        scope: t.expose('scope', { type: scope }),
        expiresAt: t.string({ nullable: true, resolve: (key) => isoTimeOrNull(key.expiresAt) }),
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
  const change = builder.inputType('UpdateApiKeyInput', {
    description: 'Changes to an API key. Omitted fields are not changed.',
    fields: (t) => ({
      name: t.string(),
      scope: t.field({ type: scope }),
      expiresAt: t.string({ description: 'Expiry time (ISO 8601). Null if the key does not expire.' }),
    }),
  })

  queryFields(builder, (t, { appId }) => ({
    apiKeys: t.field({
      type: [apiKey],
      args: { appId },
      resolve: (_, { appId }, context) => apiKeys(appCall(context, appId)),
    }),
  }))

  mutationFields(builder, (t, { appId, id, name }) => ({
    createApiKey: t.field({
      type: createdApiKey,
      args: {
        appId,
        name,
        scope: t.arg({ type: scope, defaultValue: 'ALL' }),
        expiresAt: t.arg.string({
          description: 'Time at which the key stops working (ISO 8601). Omit it if the key does not expire.',
        }),
      },
      resolve: (_, { appId, ...input }, context) => createApiKey(appCall(context, appId), newApiKey(input)),
    }),
    updateApiKey: t.field({
      type: apiKey,
      description: 'Changes the name, scope or expiry of an API key.',
      args: { appId, id, input: t.arg({ type: change, required: true }) },
      resolve: (_, { appId, id, input }, context) =>
        updateApiKey(appCall(context, appId), id, apiKeyChange(input)),
    }),
    rotateApiKey: t.field({
      type: createdApiKey,
      description:
        'Replaces the secret of an API key. The new key has the same scope and, if the key was to expire, the same lifetime. The previous secret keeps working for `overlapHours`.',
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
