import { expect } from 'vitest'
import { named } from '../harness/many.ts'
import { inDays, type MutationExamples, type QueryExamples } from './example.ts'

export const subscriptionQueries = {
  subscription: { args: ({ world }) => ({ id: world.subscription }), statements: 2 },
  subscriptions: { args: ({ count }) => ({ first: count }), statements: 3 },
  subscriptionHistory: { args: ({ world }) => ({ id: world.subscription }) },
  changePreview: { args: () => ({ userId: 'ann', packageId: 'rival' }) },
} satisfies Partial<QueryExamples>

const ofUser = ({ user }: { user: string }) => `subscriptions(userId: "${user}") { status package { id } }`

export const subscriptionMutations = {
  subscribe: {
    after: ['createUser'],
    args: ({ user, count }) => ({ userId: user, packageIds: ['plan', ...named('a', count)] }),
    audit: ({ user }) => ({
      subjectId: user,
      before: { subscriptions: [] },
      after: { subscriptions: [{ packageId: 'plan' }, { packageId: 'a1' }, { packageId: 'a2' }] },
    }),
    repeated: {
      answered: ['"userId":"user-', '"status":"ACTIVE"'],
      meanwhile: ({ user, id }) => `updateUser(id: "${user}", input: { id: "moved-${id}" }) { id }`,
      effect: ({ id }) => `subscriptions(userId: "moved-${id}") { package { id } }`,
      once: { subscriptions: ['plan', 'a1', 'a2'].map((id) => ({ package: { id } })) },
    },
    statements: 8,
    keyed: [13, 5],
  },
  cancelSubscription: {
    after: ['subscribe'],
    args: ({ made }) => ({ id: made.subscribe[0].id, atPeriodEnd: true }),
    audit: {
      sentence: 'cancelled the subscription of Eve to Some',
      subjectKind: 'subscription',
      before: { cancelAt: null },
      after: { cancelAt: expect.any(String) },
    },
    repeated: {
      answered: ['"status":"ACTIVE"', '"cancelAt":"2'],
      meanwhile: ({ made }) => `keepSubscription(id: "${made.subscribe[0].id}") { id }`,
      effect: ({ made }) => `subscription(id: "${made.subscribe[0].id}") { status cancelAt }`,
      once: { subscription: { status: 'ACTIVE', cancelAt: null } },
    },
    statements: 17,
    keyed: [23, 1],
  },
  keepSubscription: {
    after: ['cancelSubscription'],
    args: ({ made }) => ({ id: made.subscribe[0].id }),
    audit: {
      sentence: 'reverted the cancellation of the subscription of Eve to Some',
      subjectKind: 'subscription',
      before: { cancelAt: expect.any(String) },
      after: { cancelAt: null },
    },
    repeated: {
      answered: ['"status":"ACTIVE"', '"cancelAt":null'],
      meanwhile: ({ made }) => `cancelSubscription(id: "${made.subscribe[0].id}", atPeriodEnd: false) { id }`,
      effect: ({ made }) => `subscription(id: "${made.subscribe[0].id}") { status }`,
      once: { subscription: { status: 'CANCELLED' } },
    },
    statements: 17,
    keyed: [23, 1],
  },
  changeSubscription: {
    after: ['createUser'],
    args: async ({ world, user }) => {
      await world.admin.data(`mutation { subscribe(userId: "${user}", packageIds: ["plan"]) { id } }`)
      return { userId: user, packageId: 'rival', quantity: 2, when: 'NOW' }
    },
    audit: {
      sentence: "changed Eve's plan: Some → Some × 2",
      subjectKind: 'subscriptions',
      before: { subscriptions: [{ packageId: 'plan', cancelledAt: null }] },
      after: {
        subscriptions: [
          { packageId: 'plan', cancelledAt: expect.any(String) },
          { packageId: 'rival', quantity: 2 },
        ],
      },
    },
    repeated: {
      answered: ['"now":true', '"id":"rival"'],
      meanwhile: ({ user }) => `changeSubscription(userId: "${user}", packageId: "plan", when: NOW) { now }`,
      effect: ofUser,
      once: {
        subscriptions: [
          { status: 'CANCELLED', package: { id: 'plan' } },
          { status: 'CANCELLED', package: { id: 'rival' } },
          { status: 'ACTIVE', package: { id: 'plan' } },
        ],
      },
    },
    statements: 17,
    keyed: [23, 1],
  },
  cancelScheduledChange: {
    after: ['createUser'],
    args: async ({ world, user }) => {
      await world.admin.data(`mutation {
        subscribe(userId: "${user}", packageIds: ["plan"]) { id }
        changeSubscription(userId: "${user}", packageId: "plan", quantity: 2, when: PERIOD_END) { now }
      }`)
      return { userId: user }
    },
    audit: {
      sentence: 'cancelled the scheduled change of the user Eve',
      before: { subscriptions: [{ packageId: 'plan' }, { packageId: 'plan', quantity: 2 }] },
      after: { subscriptions: [{ packageId: 'plan', cancelAt: null, quantity: 1 }] },
    },
    repeated: {
      answered: ['"status":"ACTIVE"', '"cancelAt":null'],
      meanwhile: ({ user }) => `changeSubscription(userId: "${user}", packageId: "rival", when: NOW) { now }`,
      effect: ofUser,
      once: {
        subscriptions: [
          { status: 'CANCELLED', package: { id: 'plan' } },
          { status: 'ACTIVE', package: { id: 'rival' } },
        ],
      },
    },
    statements: 15,
    keyed: [21, 1],
  },
  startTrial: {
    after: ['createUser'],
    args: ({ user }) => ({ userId: user, packageId: 'plan', until: inDays(30) }),
    audit: {
      sentence: 'started a trial of Some for Eve',
      subjectKind: 'subscriptions',
      before: { subscriptions: [] },
      after: { subscriptions: [{ trialEndsAt: expect.stringContaining(inDays(30).slice(0, 10)) }] },
    },
    repeated: {
      answered: ['"userId":"user-', '"status":"ACTIVE"', '"id":"plan"'],
      meanwhile: ({ user }) => `changeSubscription(userId: "${user}", packageId: "rival", when: NOW) { now }`,
      effect: ofUser,
      once: {
        subscriptions: [
          { status: 'CANCELLED', package: { id: 'plan' } },
          { status: 'ACTIVE', package: { id: 'rival' } },
        ],
      },
    },
    statements: 11,
    keyed: [16, 5],
  },
  extendTrial: {
    after: ['startTrial'],
    args: ({ made }) => ({ id: made.startTrial.id, until: inDays(60) }),
    audit: {
      sentence: expect.stringMatching(/^extended the trial of Some for Eve: \S+ \S+ UTC → \S+ \S+ UTC$/),
      subjectKind: 'subscription',
      before: { trialEndsAt: expect.stringContaining(inDays(30).slice(0, 10)) },
      after: { trialEndsAt: expect.stringContaining(inDays(60).slice(0, 10)) },
    },
    repeated: {
      answered: ['"status":"ACTIVE"', `"trialEndsAt":"${inDays(60)}"`],
      meanwhile: ({ made }) => `cancelSubscription(id: "${made.startTrial.id}", atPeriodEnd: false) { id }`,
      effect: ofUser,
      once: { subscriptions: [{ status: 'CANCELLED', package: { id: 'plan' } }] },
    },
    statements: 14,
    keyed: [19, 5],
  },
} satisfies Partial<MutationExamples>
