import { expect } from 'vitest'
import { named } from '../harness/many.ts'
import type { MutationExamples, QueryExamples } from './example.ts'

const year = new Date().getUTCFullYear()
const THIS_YEAR = {
  from: new Date(Date.UTC(year, 0)).toISOString(),
  to: new Date(Date.UTC(year + 1, 0)).toISOString(),
}

export const userQueries = {
  user: { args: () => ({ id: 'ann' }), statements: 2 },
  users: { args: ({ count }) => ({ first: count, search: 'a' }), statements: 2 },
  exportUser: { args: () => ({ id: 'ann' }), statements: 25 },
  userDeletion: { args: () => ({ id: 'ann' }) },
  canUseFeature: {
    args: ({ count }) => ({ userId: count === 1 ? 'bob' : 'ann', featureId: 'calls', delta: 3 }),
    statements: 1,
  },
  // The two lanes share them.
  canUseFeatures: {
    args: ({ count }) => ({
      userId: 'ann',
      featureIds: count === 1 ? ['calls'] : ['seats', 'storage', 'export', 'none', ...named('f', count)],
    }),
    statements: 1,
    forMany: 2,
  },
  explain: { args: () => ({ userId: 'ann', featureId: 'calls', delta: 2 }) },
  grantedFeatures: { args: () => ({ userId: 'ann' }) },
  showUsage: {
    args: ({ count }) => ({ userId: count === 1 ? 'bob' : 'ann', featureId: 'calls' }),
    statements: 4,
  },
  usageSeries: {
    args: ({ count }) => ({
      ...(count === 1 && { userId: 'ann' }),
      featureId: 'calls',
      ...THIS_YEAR,
      bucket: 'MONTH',
    }),
    statements: 5,
    // Of all users.
    forMany: 3,
  },
  ledger: { args: () => ({ userId: 'ann', first: 2 }) },
  overrides: { args: () => ({ userId: 'ann' }), statements: 2 },
  featureOverrides: { args: () => ({ id: 'calls', first: 5 }) },
  bulkChange: { args: () => ({ id: 'none' }), code: 'BULK_CHANGE_NOT_FOUND' },
  bulkChanges: { args: () => ({}) },
  bulkChangeRows: { args: () => ({ id: 'none', outcome: 'SKIP' }), code: 'BULK_CHANGE_NOT_FOUND' },
  userImport: { args: () => ({ id: 'none' }), code: 'IMPORT_NOT_FOUND' },
  userImports: { args: () => ({}) },
  userImportRows: { args: () => ({ id: 'none', outcome: 'BAD' }), code: 'IMPORT_NOT_FOUND' },
} satisfies Partial<QueryExamples>

const used = (userId: string) =>
  `canUseFeature(userId: "${userId}", featureId: "calls") { consumption { used } }`
const usedOnce = (count: number) => ({ canUseFeature: { consumption: { used: count } } })

export const userMutations = {
  createUser: {
    args: ({ user }) => ({
      input: { id: user, name: 'Eve', email: `${user}@example.com`, metadata: { c: 'd' } },
    }),
    audit: ({ user }) => ({
      sentence: 'created the user Eve',
      subjectKind: 'user',
      subjectId: user,
      before: null,
      after: { email: `${user}@example.com` },
    }),
    repeated: {
      answered: ['"name":"Eve"', '"billingId":null', '"metadata":{"c":"d"}'],
      meanwhile: ({ user, id }) => `updateUser(id: "${user}", input: { id: "moved-${id}" }) { id }`,
      effect: ({ user }) => `canUseFeature(userId: "${user}", featureId: "calls") { reasonCode }`,
      once: { canUseFeature: { reasonCode: 'USER_NOT_FOUND' } },
    },
    statements: 5,
    keyed: [10, 5],
  },
  updateUser: {
    after: ['createUser'],
    args: ({ user }) => ({ id: user, input: { name: 'Rob', metadata: {} } }),
    audit: ({ user }) => ({
      subjectId: user,
      before: { id: user, name: 'Eve', metadata: { c: 'd' } },
      after: { id: user, name: 'Rob', metadata: {} },
    }),
    repeated: {
      answered: ['"name":"Rob"', '"metadata":{}'],
      meanwhile: ({ user }) => `updateUser(id: "${user}", input: { name: "Bert" }) { id }`,
      effect: ({ user }) => `user(id: "${user}") { name }`,
      once: { user: { name: 'Bert' } },
    },
    statements: 7,
    keyed: [12, 5],
  },
  deleteUser: {
    after: ['subscribe'],
    args: ({ user }) => ({ id: user }),
    audit: { sentence: 'deleted a user', subjectKind: 'user', subjectId: null, before: null, after: null },
    repeated: {
      answered: ['"id":"user-'],
      meanwhile: ({ user }) => `createUser(input: { id: "${user}", name: "New" }) { id }`,
      effect: ({ user }) => `user(id: "${user}") { name }`,
      once: { user: { name: 'New' } },
    },
    statements: 49,
    keyed: [55, 1],
  },
  generateUserToken: {
    after: ['createUser'],
    args: ({ user }) => ({ userId: user }),
    audit: ({ user }) => ({ subjectKind: 'token', subjectId: user, before: null, after: null }),
    repeated: {
      answered: ['"token":"ey'],
      meanwhile: ({ user, id }) => `updateUser(id: "${user}", input: { id: "moved-${id}" }) { id }`,
      effect: ({ id }) => `user(id: "moved-${id}") { name }`,
      once: { user: { name: 'Eve' } },
    },
    changesNothing: true,
    statements: 6,
    keyed: [11, 6],
  },
  recordUsage: {
    after: ['subscribe'],
    args: ({ user }) => ({ input: { userId: user, featureId: 'calls', delta: 2 } }),
    audit: {
      subjectKind: 'usage',
      before: { usage: [] },
      after: { usage: [{ featureId: 'calls', used: 2 }] },
    },
    repeated: {
      answered: ['"recorded":true', '"reason":null', '"budget":20', '"used":2'],
      meanwhile: ({ user }) =>
        `recordUsage(input: { userId: "${user}", featureId: "calls", delta: 1 }) { recorded }`,
      effect: ({ user }) => used(user),
      once: usedOnce(3),
    },
    statements: 2,
    keyed: [3, 1],
  },
  recordUsages: {
    after: ['subscribe'],
    args: ({ user, count }) => ({
      inputs: [
        ...named('f', count).map((featureId) => ({ featureId, delta: 2, action: 'SET' })),
        { featureId: 'calls', delta: 2 },
        { featureId: 'calls', delta: 999 },
        { featureId: 'none', delta: 1 },
      ].map((input) => ({ userId: user, ...input })),
    }),
    audit: null,
    repeated: {
      answered: [
        '"recorded":true',
        '"recorded":false',
        '"reason":"Limit reached: 2 of 20 used; 999 more requested."',
      ],
      meanwhile: ({ user }) =>
        `recordUsage(input: { userId: "${user}", featureId: "calls", delta: -2 }) { recorded }`,
      effect: ({ user }) => used(user),
      once: usedOnce(0),
    },
    statements: 2,
    keyed: [10, 5],
  },
  setOverride: {
    after: ['createUser'],
    args: ({ user }) => ({
      input: {
        ...{ userId: user, featureId: 'calls', mode: 'REPLACE', limit: 5 },
        ...{ expiresAt: '2050-01-01T00:00:00Z', reason: 'goodwill' },
      },
    }),
    audit: ({ user }) => ({
      sentence: 'set an override for the user Eve: Some, limit 5 until 2050-01-01 00:00 UTC',
      subjectKind: 'overrides',
      subjectId: user,
      before: { userId: user, overrides: [] },
      after: {
        overrides: [
          {
            ...{ featureId: 'calls', mode: 'REPLACE', limit: 5, reason: 'goodwill' },
            expiresAt: expect.stringMatching(/^2050-01-01T00:00:00/),
          },
        ],
      },
    }),
    repeated: {
      answered: ['"limit":5', '"startedAt":"2', '"reason":"goodwill"'],
      meanwhile: ({ user }) =>
        `setOverride(input: { userId: "${user}", featureId: "calls", mode: UNLIMITED }) { mode }`,
      effect: ({ user }) => `overrides(userId: "${user}") { mode }`,
      once: { overrides: [{ mode: 'UNLIMITED' }] },
    },
    statements: 7,
    keyed: [12, 5],
  },
  removeOverride: {
    after: ['setOverride'],
    args: ({ user }) => ({ userId: user, featureId: 'calls' }),
    audit: {
      sentence: 'removed an override of the user Eve: Some',
      subjectKind: 'overrides',
      before: { overrides: [{ featureId: 'calls' }] },
      after: { overrides: [] },
    },
    repeated: {
      answered: ['"limit":5'],
      meanwhile: ({ user }) =>
        `setOverride(input: { userId: "${user}", featureId: "calls", mode: UNLIMITED }) { mode }`,
      effect: ({ user }) => `overrides(userId: "${user}") { mode }`,
      once: { overrides: [{ mode: 'UNLIMITED' }] },
    },
    statements: 7,
    keyed: [12, 5],
  },
  startBulkChange: {
    args: () => ({
      input: { of: { list: 'USERS', ids: ['ann'] }, setOverride: { featureId: 'calls', mode: 'UNLIMITED' } },
    }),
    audit: { subjectKind: 'bulkChange' },
  },
  // That these are audited is tested with a change that was checked.
  applyBulkChange: { args: () => ({ id: 'none' }), code: 'BULK_CHANGE_NOT_FOUND', audit: null },
  stopBulkChange: { args: () => ({ id: 'none' }), code: 'BULK_CHANGE_NOT_FOUND', audit: null },
  undoBulkChange: { args: () => ({ id: 'none' }), code: 'BULK_CHANGE_NOT_FOUND', audit: null },
  // That these are audited is tested with a file that was uploaded.
  applyUserImport: { args: () => ({ id: 'none' }), code: 'IMPORT_NOT_FOUND', audit: null },
  undoUserImport: { args: () => ({ id: 'none' }), code: 'IMPORT_NOT_FOUND', audit: null },
} satisfies Partial<MutationExamples>
