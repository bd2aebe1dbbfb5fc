import { USER_TOKEN_SECONDS } from '../../domain/limits.ts'
import { revokeTokenKey, rotateTokenKey, tokenKeys } from '../../operations/apps/token-keys.ts'
import type { TokenKeyRow } from '../../store/apps/token-keys.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime, isoTimeOrNull } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'

/** The keys that sign user tokens. */
export function defineTokenKeys(builder: Builder<DashboardContext>): void {
  const tokenKey = builder.objectRef<TokenKeyRow>('TokenKey').implement({
    fields: (t) => ({
      id: t.exposeString('id', { description: 'Key ID, the `kid` of the tokens that it signs.' }),
      algorithm: t.exposeString('algorithm'),
      createdAt: t.string({ resolve: (key) => isoTime(key.createdAt) }),
      retiredAt: t.string({
        nullable: true,
        description: 'Time at which the key was replaced. Tokens it signed remain valid until they expire.',
        resolve: (key) => isoTimeOrNull(key.retiredAt),
      }),
      tokensEndAt: t.string({
        nullable: true,
        description: 'Expiry of the last token signed with a retired key.',
        resolve: ({ retiredAt }) =>
          retiredAt === null ? null : isoTime(retiredAt + USER_TOKEN_SECONDS * 1000),
      }),
      revokedAt: t.string({ nullable: true, resolve: (key) => isoTimeOrNull(key.revokedAt) }),
    }),
  })
  const changed = builder.objectRef<{ id: string }>('ChangedTokenKey').implement({
    fields: (t) => ({ id: t.exposeString('id') }),
  })

  queryFields(builder, (t, { appId }) => ({
    tokenKeys: t.field({
      type: [tokenKey],
      description: 'Signing keys for user tokens, newest first.',
      args: { appId },
      resolve: (_, { appId }, context) => tokenKeys(appCall(context, appId)),
    }),
  }))

  mutationFields(builder, (t, { appId, id }) => ({
    rotateTokenKey: t.field({
      type: changed,
      description:
        'Replaces the signing key. Tokens signed with the previous key remain valid until they expire.',
      args: { appId },
      resolve: (_, { appId }, context) => rotateTokenKey(appCall(context, appId)),
    }),
    revokeTokenKey: t.field({
      type: changed,
      description: 'Revokes a signing key. All tokens it signed become invalid immediately.',
      args: { appId, id },
      resolve: (_, { appId, id }, context) => revokeTokenKey(appCall(context, appId), id),
    }),
  }))
}
