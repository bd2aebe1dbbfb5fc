import { by, byCurrentId, byId, byInput, type MutationEntry, none, type QueryEntry } from './entry.ts'

export const userQueries = {
  user: { admin: true, scope: 'READ', dashboard: true, role: 'VIEWER' },
  users: { admin: true, scope: 'READ', dashboard: true, role: 'VIEWER', replica: true },
  exportUser: { admin: true, scope: 'READ', dashboard: true, role: 'VIEWER', replica: true },
  userDeletion: { dashboard: true, role: 'VIEWER', replica: true },
  canUseFeature: { admin: true, scope: 'ANY', role: 'VIEWER' },
  canUseFeatures: { admin: true, scope: 'ANY', role: 'VIEWER' },
  explain: { dashboard: true, role: 'VIEWER' },
  grantedFeatures: { dashboard: true, role: 'VIEWER' },
  showUsage: { admin: true, scope: 'ANY', dashboard: true, role: 'VIEWER' },
  usageSeries: { admin: true, scope: 'READ', dashboard: true, role: 'VIEWER' },
  ledger: { dashboard: true, role: 'VIEWER', replica: true },
  overrides: { admin: true, scope: 'READ', dashboard: true, role: 'VIEWER' },
  featureOverrides: { dashboard: true, role: 'VIEWER', replica: true },
  userImport: { dashboard: true, role: 'VIEWER' },
  userImports: { dashboard: true, role: 'VIEWER', replica: true },
  userImportRows: { dashboard: true, role: 'VIEWER', replica: true },
  bulkChange: { dashboard: true, role: 'VIEWER' },
  bulkChanges: { dashboard: true, role: 'VIEWER' },
  bulkChangeRows: { dashboard: true, role: 'VIEWER' },
} as const satisfies Record<string, QueryEntry>

/** What an export contains, by the list that it is named after. */
const EXPORTS: Record<string, string> = {
  ledger: 'the usage entries of a user',
  payments: 'the list of payments',
  revenue: 'a list of the Revenue page',
  mrr: 'the list of recurring revenue',
  'webhook-events': 'the list of webhook events',
  deliveries: 'the deliveries of a webhook endpoint',
}

export const userMutations = {
  createUser: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'user', id: byInput('id'), isNew: true },
    sentence: 'created the user {user}',
  },
  updateUser: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'user', id: byCurrentId },
    sentence: 'changed the user {user}{changes}',
  },
  deleteUser: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    // The id is not kept: it is part of the deleted data.
    subject: { kind: 'user', id: none },
    sentence: 'deleted a user',
  },
  generateUserToken: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    // A token changes nothing, and an application may create one for every page view.
    auditedFor: 'MEMBERS',
    subject: { kind: 'token', id: by('userId') },
    sentence: 'created a token for the user {user}',
  },
  recordUsage: {
    admin: true,
    scope: 'USAGE',
    dashboard: true,
    role: 'EDITOR',
    // Usage that an application records is in the ledger.
    auditedFor: 'MEMBERS',
    subject: { kind: 'usage', id: byInput('userId') },
    sentence: 'recorded usage of the user {user}{usage}',
  },
  // Each record that a member makes has an entry of recordUsage.
  recordUsages: { admin: true, scope: 'USAGE', role: 'EDITOR', subject: null },
  setOverride: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'overrides', id: byInput('userId') },
    sentence: 'set an override for the user {user}{overrides}',
  },
  removeOverride: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'overrides', id: by('userId') },
    sentence: 'removed an override of the user {user}{overrides}',
  },
  exportList: {
    dashboard: 'FILE',
    role: 'VIEWER',
    subject: { kind: 'export', id: by('list') },
    sentence: ({ subjectId }) => `exported ${EXPORTS[subjectId ?? ''] ?? 'a list'}`,
  },
  exportUsers: {
    dashboard: 'FILE',
    role: 'VIEWER',
    subject: { kind: 'export', id: none },
    sentence: 'exported the list of users',
  },
  startBulkChange: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'bulkChange', id: none, isNew: true },
    sentence: 'checked a bulk change',
  },
  applyBulkChange: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'bulkChange', id: byId },
    sentence: 'applied a bulk change',
  },
  stopBulkChange: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'bulkChange', id: byId },
    sentence: 'stopped a bulk change',
  },
  undoBulkChange: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'bulkChange', id: byId },
    sentence: 'undid a bulk change',
  },
  importUsers: {
    dashboard: 'FILE',
    role: 'EDITOR',
    subject: { kind: 'import', id: byId },
    sentence: 'uploaded {import:a file of users}',
  },
  applyUserImport: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'import', id: byId },
    sentence: 'applied {import:an import of users}',
  },
  undoUserImport: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'import', id: byId },
    sentence: 'undid {import:an import of users}',
  },
} as const satisfies Record<string, MutationEntry>
