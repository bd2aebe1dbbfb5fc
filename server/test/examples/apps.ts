import { expect } from 'vitest'
import type { MutationExamples, QueryExamples } from './example.ts'

export const appQueries = {
  apps: { args: () => ({}) },
  app: { args: () => ({}) },
  appUse: { args: () => ({}) },
  apiKeys: { args: () => ({}) },
  tokenKeys: { args: () => ({}) },
} satisfies Partial<QueryExamples>

export const appMutations = {
  createApp: {
    args: ({ app }) => ({ id: app, name: 'First', testClock: true }),
    audit: ({ app }) => ({
      appId: null,
      subjectKind: 'app',
      subjectId: app,
      before: null,
      after: { name: 'First' },
    }),
  },
  renameApp: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app, name: 'Second' }),
    audit: ({ app }) => ({ appId: app, before: { name: 'First' }, after: { name: 'Second' } }),
  },
  setOrigins: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app, origins: ['https://a.example'] }),
    audit: { before: { origins: [] }, after: { origins: ['https://a.example'] } },
  },
  archiveApp: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app, archived: true }),
    audit: ({ app }) => ({
      appId: app,
      before: { archivedAt: null },
      after: { archivedAt: expect.any(String) },
    }),
  },
  deleteApp: {
    after: ['archiveApp'],
    args: ({ app }) => ({ appId: app, confirm: app }),
    // The entry belongs to no app: it is still there when the app is gone.
    audit: ({ app }) => ({
      appId: null,
      subjectKind: 'app',
      subjectId: app,
      before: { name: 'First', deletingSince: null },
      after: { deletingSince: expect.any(String) },
    }),
  },
  advanceClock: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app, to: '2099-01-01T00:00:00Z' }),
    audit: { subjectKind: 'app', after: { testClock: expect.stringContaining('2099-01-01') } },
  },
  createApiKey: {
    args: () => ({ name: 'Key' }),
    audit: { subjectKind: 'apiKey', before: null, after: { name: 'Key', scope: 'ALL', revokedAt: null } },
  },
  updateApiKey: {
    after: ['createApiKey'],
    args: ({ made }) => ({ id: made.createApiKey.id, input: { name: 'Reports', scope: 'READ' } }),
    audit: {
      subjectKind: 'apiKey',
      before: { name: 'Key', scope: 'ALL' },
      after: { name: 'Reports', scope: 'READ', expiresAt: null },
    },
  },
  rotateApiKey: {
    after: ['createApiKey'],
    args: ({ made }) => ({ id: made.createApiKey.id, overlapHours: 1 }),
    audit: {
      subjectKind: 'apiKey',
      before: { expiresAt: null },
      after: { expiresAt: expect.any(String) },
    },
  },
  revokeApiKey: {
    after: ['createApiKey'],
    args: ({ made }) => ({ id: made.createApiKey.id }),
    audit: { before: { revokedAt: null }, after: { revokedAt: expect.any(String) } },
  },
  rotateTokenKey: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app }),
    audit: { subjectKind: 'tokenKey', before: null, after: { algorithm: 'HS256', retiredAt: null } },
  },
  revokeTokenKey: {
    after: ['rotateTokenKey'],
    args: ({ app, made }) => ({ appId: app, id: made.rotateTokenKey.id }),
    audit: { before: { revokedAt: null }, after: { revokedAt: expect.any(String) } },
  },
} satisfies Partial<MutationExamples>
