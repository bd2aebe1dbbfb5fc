import { by, byId, byInput, byResult, type MutationEntry, type QueryEntry } from './entry.ts'

export const creditQueries = {
  credits: {
    admin: true,
    scope: 'READ',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'VIEWER',
  },
  reservations: {
    admin: true,
    scope: 'ANY',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'VIEWER',
  },
  caps: { admin: true, scope: 'READ', errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'], role: 'VIEWER' },
  creditPage: { dashboard: true, role: 'VIEWER' },
  userCaps: { dashboard: true, role: 'VIEWER' },
  capPreview: { dashboard: true, role: 'VIEWER' },
  autoRecharges: {
    admin: true,
    scope: 'READ',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'VIEWER',
  },
  autoRechargePreview: { dashboard: true, role: 'VIEWER' },
  hasSavedCard: { dashboard: true, role: 'VIEWER' },
} as const satisfies Record<string, QueryEntry>

// Usage that an application reserves and settles is in the ledger.
const reservation = {
  admin: true,
  scope: 'USAGE',
  errors: ['RESERVATION_NOT_FOUND', 'CONFLICT'],
  role: 'EDITOR',
  auditedFor: 'MEMBERS',
  subject: { kind: 'reservation', id: byId },
} as const

export const creditMutations = {
  addCredit: {
    admin: true,
    scope: 'ALL',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND', 'CONFLICT'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'credit', id: byResult, isNew: true },
    sentence: 'added a credit for the user {user}',
  },
  voidCredit: {
    admin: true,
    scope: 'ALL',
    errors: ['CREDIT_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'credit', id: byId },
    sentence: 'voided a credit of the user {user}',
  },
  setCap: {
    admin: true,
    scope: 'ALL',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'caps', id: byInput('userId') },
    sentence: 'set a cap for the user {user}',
  },
  removeCap: {
    admin: true,
    scope: 'ALL',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'caps', id: by('userId') },
    sentence: 'removed a cap of the user {user}',
  },
  setAutoRecharge: {
    admin: true,
    scope: 'ALL',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND', 'PRICE_NOT_FOUND', 'SUBSCRIPTION_LINK_ERROR'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'autoRecharges', id: byInput('userId') },
    sentence: 'set an automatic recharge of the user {user}',
  },
  removeAutoRecharge: {
    admin: true,
    scope: 'ALL',
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'autoRecharges', id: by('userId') },
    sentence: 'removed an automatic recharge of the user {user}',
  },
  reserveUsage: {
    ...reservation,
    errors: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND', 'CONFLICT'],
    subject: { kind: 'reservation', id: byResult, isNew: true },
    sentence: 'reserved usage of the user {user}',
  },
  extendReservation: { ...reservation, sentence: 'extended a reservation of the user {user}' },
  settleReservation: { ...reservation, sentence: 'settled a reservation of the user {user}' },
  releaseReservation: {
    ...reservation,
    dashboard: true,
    sentence: 'released a reservation of the user {user}',
  },
} as const satisfies Record<string, MutationEntry>
