import { expect } from 'vitest'
import type { MutationExamples, QueryExamples } from './example.ts'

export const creditQueries = {
  credits: { args: () => ({ userId: 'ann' }), statements: 4 },
  reservations: { args: () => ({ userId: 'ann' }), statements: 3 },
  caps: { args: () => ({ userId: 'ann' }), statements: 4 },
  creditPage: { args: () => ({ userId: 'ann' }) },
  userCaps: { args: () => ({ userId: 'ann' }) },
  capPreview: { args: () => ({ userId: 'ann', featureId: 'storage', entity: 'team:7', period: 'DAY' }) },
  autoRecharges: { args: () => ({ userId: 'ann' }), statements: 3 },
  autoRechargePreview: {
    args: () => ({
      input: { userId: 'ann', featureId: 'storage', below: 20, upTo: 60, priceId: 'price_pack' },
    }),
  },
  hasSavedCard: { args: () => ({ userId: 'ann', provider: 'sandbox' }) },
} satisfies Partial<QueryExamples>

const figures = (userId: string) =>
  `canUseFeature(userId: "${userId}", featureId: "storage") { consumption { used reserved } }`
const once = (used: number, reserved: number) => ({ canUseFeature: { consumption: { used, reserved } } })
const record = (userId: string, delta: number) =>
  `recordUsage(input: { userId: "${userId}", featureId: "storage", delta: ${delta} }) { recorded }`

export const creditMutations = {
  addCredit: {
    after: ['subscribe'],
    args: ({ user, id }) => ({
      input: {
        ...{ id: `crd-${id}`, userId: user, featureId: 'storage', amount: 50, kind: 'PAID' },
        ...{ priority: 10, expiresAt: '2050-01-01T00:00:00Z', reason: 'goodwill' },
      },
    }),
    audit: ({ user, id }) => ({
      sentence: 'added a credit for the user Eve',
      subjectKind: 'credit',
      subjectId: `crd-${id}`,
      before: null,
      after: { userId: user, featureId: 'storage', amount: 50, used: 0, kind: 'PAID', voidedAt: null },
    }),
    repeated: {
      answered: ['"amount":50', '"state":"LIVE"', '"reason":"goodwill"'],
      meanwhile: ({ user }) => record(user, 30),
      effect: ({ user }) => `credits(userId: "${user}") { used }`,
      once: { credits: [{ used: 30 }] },
    },
    statements: 16,
    keyed: [21, 5],
  },
  voidCredit: {
    after: ['addCredit'],
    args: ({ id }) => ({ id: `crd-${id}`, reason: 'mistake' }),
    audit: ({ user, id }) => ({
      sentence: 'voided a credit of the user Eve',
      subjectKind: 'credit',
      subjectId: `crd-${id}`,
      before: { userId: user, voidedAt: null },
      after: { voidedAt: expect.any(String), reason: 'mistake' },
    }),
    repeated: {
      answered: ['"state":"VOIDED"', '"reason":"mistake"'],
      meanwhile: ({ user }) => record(user, 5),
      effect: ({ user }) => `credits(userId: "${user}") { used state }`,
      once: { credits: [{ used: 0, state: 'VOIDED' }] },
    },
    statements: 13,
    keyed: [18, 5],
  },
  setCap: {
    after: ['subscribe'],
    args: ({ user }) => ({
      input: { userId: user, featureId: 'storage', entity: 'team:7', limit: 40, period: 'DAY' },
    }),
    audit: {
      sentence: 'set a cap for the user Eve',
      subjectKind: 'caps',
      before: { caps: [] },
      after: { caps: [{ featureId: 'storage', entity: 'team:7', period: 'DAY', limit: 40 }] },
    },
    repeated: {
      answered: ['"limit":40', '"period":"DAY"'],
      meanwhile: ({ user }) =>
        `setCap(input: { userId: "${user}", featureId: "storage", entity: "team:7", limit: 41, period: DAY }) { limit }`,
      effect: ({ user }) => `caps(userId: "${user}") { entity limit }`,
      once: { caps: [{ entity: 'team:7', limit: 41 }] },
    },
    statements: 14,
    keyed: [19, 5],
  },
  removeCap: {
    after: ['setCap'],
    args: ({ user }) => ({ userId: user, featureId: 'storage', entity: 'team:7', period: 'DAY' }),
    audit: {
      sentence: 'removed a cap of the user Eve',
      subjectKind: 'caps',
      before: { caps: [{ featureId: 'storage', entity: 'team:7' }] },
      after: { caps: [] },
    },
    repeated: {
      answered: ['"limit":40'],
      meanwhile: ({ user }) =>
        `setCap(input: { userId: "${user}", featureId: "storage", entity: "team:7", limit: 41, period: DAY }) { limit }`,
      effect: ({ user }) => `caps(userId: "${user}") { entity limit }`,
      once: { caps: [{ entity: 'team:7', limit: 41 }] },
    },
    statements: 10,
    keyed: [15, 5],
  },
  setAutoRecharge: {
    after: ['addCredit'],
    args: ({ user }) => ({
      input: {
        ...{ userId: user, featureId: 'storage', below: 5, upTo: 60, priceId: 'price_pack' },
        maxSpendPerPeriod: 2000,
      },
    }),
    audit: {
      sentence: 'set an automatic recharge of the user Eve',
      subjectKind: 'autoRecharges',
      before: { autoRecharges: [] },
      after: { autoRecharges: [{ featureId: 'storage', below: 5, upTo: 60, isOn: true }] },
    },
    repeated: {
      answered: ['"below":5', '"state":"ON"'],
      meanwhile: ({ user }) =>
        `setAutoRecharge(input: { userId: "${user}", featureId: "storage", below: 6, upTo: 60, priceId: "price_pack" }) { below }`,
      effect: ({ user }) => `autoRecharges(userId: "${user}") { below state }`,
      once: { autoRecharges: [{ below: 6, state: 'ON' }] },
    },
    statements: 15,
    keyed: [20, 5],
  },
  removeAutoRecharge: {
    after: ['setAutoRecharge'],
    args: ({ user }) => ({ userId: user, featureId: 'storage' }),
    audit: {
      sentence: 'removed an automatic recharge of the user Eve',
      subjectKind: 'autoRecharges',
      before: { autoRecharges: [{ featureId: 'storage', below: 5 }] },
      after: { autoRecharges: [] },
    },
    repeated: {
      answered: ['"below":5'],
      meanwhile: ({ user }) =>
        `setAutoRecharge(input: { userId: "${user}", featureId: "storage", below: 6, upTo: 60, priceId: "price_pack" }) { below }`,
      effect: ({ user }) => `autoRecharges(userId: "${user}") { below }`,
      once: { autoRecharges: [{ below: 6 }] },
    },
    statements: 10,
    keyed: [15, 5],
  },
  reserveUsage: {
    after: ['subscribe'],
    args: ({ user, id }) => ({
      input: { id: `rsv-${id}`, userId: user, featureId: 'storage', amount: 8, metadata: { stream: 1 } },
    }),
    audit: null,
    repeated: {
      answered: ['"reserved":8', '"state":"HELD"'],
      meanwhile: ({ user }) => record(user, 5),
      effect: ({ user }) => figures(user),
      once: once(5, 8),
    },
    statements: 14,
    keyed: [20, 1],
  },
  extendReservation: {
    after: ['reserveUsage'],
    args: ({ id }) => ({ id: `rsv-${id}`, ttlSeconds: 3600, add: 2 }),
    audit: null,
    repeated: {
      answered: ['"reserved":10', '"state":"HELD"'],
      meanwhile: ({ id }) => `extendReservation(id: "rsv-${id}", add: 1) { reserved }`,
      effect: ({ user }) => figures(user),
      once: once(0, 11),
    },
    statements: 3,
    // By what is remembered, then with the key.
    keyed: [4, 2],
  },
  settleReservation: {
    after: ['reserveUsage'],
    args: ({ id }) => ({ id: `rsv-${id}`, amount: 3, final: false, ifOver: 'CAP' }),
    audit: null,
    repeated: {
      answered: ['"reserved":5', '"settled":3'],
      meanwhile: ({ id }) => `settleReservation(id: "rsv-${id}", amount: 1, final: false) { settled }`,
      effect: ({ user }) => figures(user),
      once: once(4, 4),
    },
    statements: 3,
    // By what is remembered, then with the key.
    keyed: [4, 2],
  },
  releaseReservation: {
    after: ['reserveUsage'],
    args: ({ id }) => ({ id: `rsv-${id}` }),
    audit: ({ user, id }) => ({
      sentence: 'released a reservation of the user Eve',
      subjectKind: 'reservation',
      subjectId: `rsv-${id}`,
      before: { userId: user, state: 'HELD' },
      after: { state: 'RELEASED' },
    }),
    repeated: {
      answered: ['"reserved":0', '"state":"RELEASED"'],
      meanwhile: ({ user }) => record(user, 19),
      effect: ({ user }) => figures(user),
      once: once(19, 0),
    },
    statements: 3,
    keyed: [4, 1],
  },
} satisfies Partial<MutationExamples>
