import { archived, by, byId, byResult, type MutationEntry, type QueryEntry } from './entry.ts'

export const appQueries = {
  apps: { dashboard: true, role: 'VIEWER' },
  app: { dashboard: true, role: 'VIEWER' },
  appUse: { dashboard: true, role: 'VIEWER', replica: true },
  apiKeys: { dashboard: true, role: 'VIEWER' },
  tokenKeys: { dashboard: true, role: 'VIEWER' },
} as const satisfies Record<string, QueryEntry>

export const appMutations = {
  createApp: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'app', id: byId },
    sentence: 'created the app {app}',
  },
  renameApp: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'app', id: by('appId') },
    sentence: 'renamed the app to {app}',
  },
  setOrigins: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'app', id: by('appId') },
    sentence: 'changed the origins of the app {app}',
  },
  archiveApp: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'app', id: by('appId') },
    sentence: (entry) => `${archived(entry)} the app {app}`,
  },
  deleteApp: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'app', id: by('appId') },
    sentence: 'deleted the app {app}',
  },
  advanceClock: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'app', id: by('appId') },
    sentence: 'moved the clock of the app {app}{changes}',
  },
  createApiKey: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'apiKey', id: byResult },
    sentence: 'created the API key {key}',
  },
  updateApiKey: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'apiKey', id: byId },
    sentence: 'changed the API key {key}{changes}',
  },
  rotateApiKey: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'apiKey', id: byId },
    sentence: 'rotated the API key {key}',
  },
  revokeApiKey: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'apiKey', id: byId },
    sentence: 'revoked the API key {key}',
  },
  rotateTokenKey: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'tokenKey', id: byResult },
    sentence: 'rotated the user token key, now {id}',
  },
  revokeTokenKey: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'tokenKey', id: byId },
    sentence: 'revoked the user token key {id}',
  },
} as const satisfies Record<string, MutationEntry>
