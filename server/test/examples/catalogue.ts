import { expect } from 'vitest'
import { named } from '../harness/many.ts'
import type { MutationExamples, QueryExamples, Turn } from './example.ts'

const versions = { packageId: 'plan', fromVersion: 1, toVersion: 2, when: 'NOW' }

export const catalogueQueries = {
  feature: { args: ({ count }) => ({ id: count === 1 ? 'f1' : 'calls' }), statements: 1 },
  features: { args: ({ count }) => ({ first: count, after: 'calls', search: 's' }), statements: 1 },
  featureUse: { args: () => ({ id: 'calls' }) },
  featurePackages: { args: () => ({ id: 'calls' }) },
  featureUsers: { args: () => ({ id: 'calls', packageId: 'plan', first: 5 }) },
  package: {
    args: ({ count }) => ({ id: count === 1 ? 'a1' : 'plan', includeFeatures: true }),
    statements: 1,
  },
  packages: { args: ({ count }) => ({ status: 'PUBLISHED', first: count }), statements: 1 },
  packageUse: { args: () => ({ id: 'plan' }) },
  packageVersions: { args: () => ({ packageId: 'plan' }) },
  publishPreview: { args: () => ({ packageId: 'plan', for: 'AT_PERIOD_END', first: 5 }) },
  publishTouched: { args: () => ({ packageId: 'plan', for: 'ALL', first: 5, after: 'LOSES 0' }) },
  migration: { args: ({ world }) => ({ id: world.migration }), statements: 8 },
  migrationPreview: { args: () => versions },
  catalogueDiff: { args: ({ world }) => ({ fromAppId: world.id }) },
} satisfies Partial<QueryExamples>

/** Subscribes the user to version 1 of the package, and publishes version 2 for others. */
async function newVersion({ world, user, package: id }: Turn): Promise<void> {
  const { id: appId, admin, dashboard } = world
  await admin.data(`mutation { subscribe(userId: "${user}", packageIds: ["${id}"]) { id } }`)
  await dashboard.data(`mutation {
    editPackage(appId: "${appId}", id: "${id}", input: { features: [] }) { id }
    publishPackage(appId: "${appId}", id: "${id}", for: NEW_ONLY) { id }
  }`)
}

const versionOf = ({ user }: Turn) => `subscriptions(userId: "${user}") { packageVersion }`

export const catalogueMutations = {
  createFeature: {
    args: ({ feature }) => ({
      input: { id: feature, name: 'Seat', type: 'CONSUMABLE', metadata: { a: [1] } },
    }),
    audit: ({ feature }) => ({
      sentence: 'created the feature Seat',
      subjectKind: 'feature',
      subjectId: feature,
      before: null,
      after: { name: 'Seat', type: 'CONSUMABLE', archivedAt: null },
    }),
    repeated: {
      answered: ['"name":"Seat"', '"packages":[]'],
      meanwhile: ({ feature }) => `updateFeature(id: "${feature}", input: { name: "Chair" }) { id }`,
      effect: ({ feature }) => `feature(id: "${feature}") { name }`,
      once: { feature: { name: 'Chair' } },
    },
    statements: 9,
    keyed: [14, 5],
  },
  updateFeature: {
    after: ['createFeature'],
    args: ({ feature }) => ({ id: feature, input: { name: 'Ring', unitLabel: 'x' } }),
    audit: { before: { name: 'Seat' }, after: { name: 'Ring' } },
    repeated: {
      answered: ['"name":"Ring"', '"packages":[]'],
      meanwhile: ({ feature }) => `updateFeature(id: "${feature}", input: { name: "Shout" }) { id }`,
      effect: ({ feature }) => `feature(id: "${feature}") { name }`,
      once: { feature: { name: 'Shout' } },
    },
    statements: 10,
    keyed: [15, 5],
  },
  archiveFeature: {
    after: ['createFeature'],
    args: ({ feature }) => ({ id: feature, archived: true }),
    audit: {
      sentence: 'archived the feature Seat',
      before: { archivedAt: null },
      after: { archivedAt: expect.any(String) },
    },
  },
  deleteFeature: {
    after: ['createFeature'],
    args: ({ feature }) => ({ id: feature }),
    audit: { sentence: 'deleted the feature Seat', before: { name: 'Seat' }, after: null },
  },
  createPackage: {
    args: ({ package: id, count }) => ({
      input: {
        id,
        name: 'Gold',
        features: named('f', count).map((f) => ({ id: f, entitlement: { limit: 7 } })),
      },
    }),
    audit: {
      subjectKind: 'package',
      before: null,
      after: { status: 'DRAFT', features: ['f1', 'f2'].map((featureId) => ({ featureId, limit: 7 })) },
    },
    repeated: {
      answered: ['"status":"DRAFT"', '"limit":"7"'],
      meanwhile: ({ package: id }) =>
        `updatePackage(id: "${id}", input: { metadata: { changed: true } }) { id }`,
      effect: ({ package: id }) => `package(id: "${id}") { metadata }`,
      once: { package: { metadata: { changed: true } } },
    },
    statements: 10,
    keyed: [15, 5],
  },
  updatePackage: {
    after: ['createPackage'],
    args: ({ package: id }) => ({
      id,
      input: { metadata: JSON.parse('{ "__proto__": { "a": 1 }, "b": [1, null], "c": "\\u0000" }') },
    }),
    audit: { before: { metadata: {} }, after: { metadata: { b: [1, null], c: '\u0000' } } },
    repeated: {
      answered: ['"metadata":{"__proto__":{"a":1},"b":[1,null],"c":"\\u0000"}'],
      meanwhile: ({ package: id }) =>
        `updatePackage(id: "${id}", input: { metadata: { changed: true } }) { id }`,
      effect: ({ package: id }) => `package(id: "${id}") { metadata }`,
      once: { package: { metadata: { changed: true } } },
    },
    statements: 10,
    keyed: [15, 5],
  },
  publishPackage: {
    after: ['createPackage'],
    args: ({ package: id }) => ({ id, for: 'ALL', note: 'First prices' }),
    audit: { before: { status: 'DRAFT' }, after: { status: 'PUBLISHED' } },
  },
  editPackage: {
    after: ['publishPackage'],
    args: ({ package: id }) => ({
      id,
      input: { name: 'Better', features: [{ id: 'calls', entitlement: { resetPeriod: 'DAY' } }] },
    }),
    audit: {
      sentence: 'changed the package Gold',
      before: { draft: null },
      after: { name: 'Gold', version: 1, draft: { name: 'Better' } },
    },
  },
  cancelScheduledPublication: {
    after: ['createPackage'],
    async args({ world, package: id }) {
      await world.dashboard.data(
        `mutation { publishPackage(appId: "${world.id}", id: "${id}", at: "2999-01-01T00:00:00Z") { id } }`,
      )
      return { id }
    },
    audit: {
      sentence: 'cancelled the scheduled publication of the package Gold',
      before: { publishAt: expect.any(String) },
      after: { publishAt: null },
    },
  },
  discardPackageDraft: {
    after: ['editPackage'],
    args: ({ package: id }) => ({ id }),
    audit: { before: { draft: { name: 'Better' } }, after: { draft: null } },
  },
  archivePackage: {
    after: ['createPackage'],
    args: ({ package: id }) => ({ id, archived: true }),
    audit: {
      sentence: 'archived the package Gold',
      before: { archivedAt: null },
      after: { archivedAt: expect.any(String) },
    },
  },
  deletePackage: {
    after: ['createPackage'],
    args: ({ package: id }) => ({ id }),
    audit: { sentence: 'deleted the package Gold', before: { name: 'Gold' }, after: null },
  },
  migrateSubscriptions: {
    after: ['createUser', 'publishPackage'],
    args: async (turn) => {
      await newVersion(turn)
      return { packageId: turn.package, fromVersion: 1, toVersion: 2, when: 'NOW' }
    },
    audit: ({ package: id }) => ({
      sentence: 'migrated subscriptions of the package Gold from version 1 to version 2',
      subjectKind: 'migration',
      before: null,
      after: { packageId: id, reach: 'ALL', undoneAt: null },
    }),
    repeated: {
      answered: ['"status":"DONE"', '"moved":1'],
      meanwhile: ({ package: id }) =>
        `migrateSubscriptions(packageId: "${id}", fromVersion: 2, toVersion: 1) { id }`,
      effect: versionOf,
      once: { subscriptions: [{ packageVersion: 1 }] },
    },
    statements: 20,
    keyed: [26, 1],
  },
  undoMigration: {
    after: ['migrateSubscriptions'],
    args: ({ made }) => ({ id: made.migrateSubscriptions.id }),
    audit: {
      sentence: 'undid the migration of the package Gold from version 1 to version 2',
      before: { undoneAt: null },
      after: { undoneAt: expect.any(String) },
    },
    repeated: {
      answered: ['"status":"UNDONE"', '"undoneAt":"2'],
      meanwhile: ({ package: id }) =>
        `migrateSubscriptions(packageId: "${id}", fromVersion: 1, toVersion: 2) { id }`,
      effect: versionOf,
      once: { subscriptions: [{ packageVersion: 2 }] },
    },
    statements: 23,
    keyed: [29, 1],
  },
  copyCatalogue: {
    after: ['createApp'],
    args: ({ app, world }) => ({ appId: app, fromAppId: world.id }),
    audit: ({ world }) => ({ subjectKind: 'catalogue', subjectId: world.id }),
  },
} satisfies Partial<MutationExamples>
