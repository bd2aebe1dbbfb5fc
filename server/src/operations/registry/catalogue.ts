import {
  type AuditSentence,
  archived,
  by,
  byId,
  byInput,
  byResult,
  type MutationEntry,
  type QueryEntry,
} from './entry.ts'

export const catalogueQueries = {
  feature: { admin: true, scope: 'READ', errors: ['FEATURE_NOT_FOUND'], dashboard: true, role: 'VIEWER' },
  features: { admin: true, scope: 'READ', errors: [], dashboard: true, role: 'VIEWER' },
  featureUse: { dashboard: true, role: 'VIEWER', replica: true },
  featurePackages: { dashboard: true, role: 'VIEWER', replica: true },
  featureUsers: { dashboard: true, role: 'VIEWER', replica: true },
  package: { admin: true, scope: 'READ', errors: ['PACKAGE_NOT_FOUND'], dashboard: true, role: 'VIEWER' },
  packages: { admin: true, scope: 'READ', errors: [], dashboard: true, role: 'VIEWER' },
  packageUse: { dashboard: true, role: 'VIEWER', replica: true },
  packageVersions: { dashboard: true, role: 'VIEWER', replica: true },
  publishPreview: { dashboard: true, role: 'VIEWER', replica: true },
  publishTouched: { dashboard: true, role: 'VIEWER', replica: true },
  migration: { admin: true, scope: 'READ', errors: ['MIGRATION_NOT_FOUND'], dashboard: true, role: 'VIEWER' },
  migrationPreview: { dashboard: true, role: 'VIEWER', replica: true },
  catalogueDiff: { dashboard: true, role: 'VIEWER', replica: true },
} as const satisfies Record<string, QueryEntry>

export const catalogueMutations = {
  createFeature: {
    admin: true,
    scope: 'CATALOGUE',
    errors: [],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'feature', id: byInput('id'), isNew: true },
    sentence: 'created the feature {feature}',
  },
  updateFeature: {
    admin: true,
    scope: 'CATALOGUE',
    errors: ['FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'feature', id: byId },
    sentence: 'changed the feature {feature}{changes}',
  },
  archiveFeature: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'feature', id: byId },
    sentence: (entry) => `${archived(entry)} the feature {feature}`,
  },
  deleteFeature: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'feature', id: byId },
    sentence: 'deleted the feature {feature}',
  },
  createPackage: {
    admin: true,
    scope: 'CATALOGUE',
    errors: ['FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'package', id: byInput('id'), isNew: true },
    sentence: 'created the package {package}',
  },
  updatePackage: {
    admin: true,
    scope: 'CATALOGUE',
    errors: ['PACKAGE_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'package', id: byId },
    sentence: 'changed the metadata of the package {package}',
  },
  editPackage: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'package', id: byId },
    sentence: 'changed the package {package}',
  },
  publishPackage: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'package', id: byId },
    sentence: ({ after }) =>
      typeof after?.publishAt === 'string'
        ? 'scheduled the publication of the package {package}{publishAt}'
        : 'published the package {package}',
  },
  cancelScheduledPublication: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'package', id: byId },
    sentence: 'cancelled the scheduled publication of the package {package}',
  },
  archivePackage: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'package', id: byId },
    sentence: (entry) => `${archived(entry)} the package {package}`,
  },
  deletePackage: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'package', id: byId },
    sentence: 'deleted the package {package}',
  },
  discardPackageDraft: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'package', id: byId },
    sentence: 'discarded the draft of the package {package}',
  },
  migrateSubscriptions: {
    admin: true,
    scope: 'ALL',
    errors: ['PACKAGE_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'migration', id: byResult },
    sentence:
      'migrated subscriptions of the package {package} from version {fromVersion} to version {toVersion}',
  },
  undoMigration: {
    admin: true,
    scope: 'ALL',
    errors: ['MIGRATION_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'migration', id: byId },
    sentence:
      'undid the migration of the package {package} from version {fromVersion} to version {toVersion}',
  },
  copyCatalogue: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'catalogue', id: by('fromAppId') },
    sentence: 'copied the catalogue of the app {app}',
  },
} as const satisfies Record<string, MutationEntry>

/** Made at the scheduled time, in the name of the member who scheduled it. */
export const catalogueEvents = {
  scheduledPublication: 'published the package {package} as scheduled',
} as const satisfies Record<string, AuditSentence>
