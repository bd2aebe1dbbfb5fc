import { number } from '../../domain/sentence.ts'
import {
  type AuditedChange,
  type AuditSentence,
  archived,
  by,
  byId,
  byInput,
  byResult,
  type MutationEntry,
  none,
  type QueryEntry,
} from './entry.ts'

export const billingQueries = {
  prices: { dashboard: true, role: 'VIEWER' },
  providerPrices: { dashboard: true, role: 'VIEWER' },
  currencies: { dashboard: true, role: 'VIEWER' },
  billingTemplate: { dashboard: true, role: 'VIEWER' },
  billingTemplates: { dashboard: true, role: 'VIEWER' },
  billingTemplateUse: { dashboard: true, role: 'VIEWER', replica: true },
  providerAccounts: { dashboard: true, role: 'VIEWER' },
  providerUse: { dashboard: true, role: 'VIEWER', replica: true },
  billingSettings: { dashboard: true, role: 'VIEWER' },
  sandboxPayments: { dashboard: true, role: 'VIEWER' },
  userPayments: { dashboard: true, role: 'VIEWER' },
  subscriptionPayments: { dashboard: true, role: 'VIEWER' },
  refundPreview: { dashboard: true, role: 'VIEWER' },
  notice: { dashboard: true, role: 'VIEWER' },
  notices: { dashboard: true, role: 'VIEWER', replica: true },
  noticeCounts: { dashboard: true, role: 'VIEWER', replica: true },
  revenue: { dashboard: true, role: 'VIEWER', replica: true },
  revenueOverTime: { dashboard: true, role: 'VIEWER', replica: true },
  revenueList: { dashboard: true, role: 'VIEWER', replica: true },
  mrrList: { dashboard: true, role: 'VIEWER', replica: true },
  payments: { dashboard: true, role: 'VIEWER', replica: true },
} as const satisfies Record<string, QueryEntry>

export const billingMutations = {
  createPrice: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'price', id: byResult },
    sentence: (entry) => `added a price ${sellsCredits(entry) ? 'for' : 'to'} ${sold(entry)}`,
  },
  importPrice: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'price', id: byId },
    sentence: (entry) => `imported a price for ${sold(entry)}`,
  },
  archivePrice: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'price', id: byId },
    sentence: (entry) => `${archived(entry)} a price of ${sold(entry)}`,
  },
  setDefaultPrice: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'price', id: byId },
    sentence: 'made a price the default of the package {package}',
  },
  createBillingTemplate: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'billingTemplate', id: byInput('id'), isNew: true },
    sentence: 'created the billing template {template}',
  },
  archiveBillingTemplate: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'billingTemplate', id: byId },
    sentence: (entry) => `${archived(entry)} the billing template {template}`,
  },
  deleteBillingTemplate: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'billingTemplate', id: byId },
    sentence: 'deleted the billing template {template}',
  },
  setProviderAccount: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'providerAccount', id: by('provider') },
    sentence: 'set up the billing provider {provider}',
  },
  removeProviderAccount: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'providerAccount', id: by('provider') },
    sentence: 'removed the billing provider {provider}',
  },
  testProviderAccount: { dashboard: true, role: 'OWNER', subject: null },
  setGraceDays: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'app', id: by('appId') },
    sentence: ({ after }) => `set the grace period to ${days(after?.graceDays)}`,
  },
  setAccessAfterRefund: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'app', id: by('appId') },
    sentence: ({ after }) =>
      `set access to ${after?.accessAfterRefund === 'END' ? 'end' : 'continue'} after a refund or dispute`,
  },
  refundPayment: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'subscription', id: by('subscriptionId') },
    sentence: 'refunded a payment of {user} for {package}',
  },
  refundCredit: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'credit', id: by('creditId') },
    sentence: 'refunded the payment for a credit of the user {user}',
  },
  reverseSandboxCredit: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'credit', id: by('creditId') },
    sentence: 'simulated a refund or dispute of the sandbox payment for a credit of the user {user}',
  },
  reverseSandboxPayment: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'subscription', id: by('subscriptionId') },
    sentence: 'simulated a refund or dispute of a sandbox payment of {user} for {package}',
  },
  replayNotice: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'notice', id: byId },
    sentence: 'replayed the webhook event {id}',
  },
  replayFailedNotices: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'notice', id: none },
    sentence: 'replayed all failed webhook events',
  },
  reconcileBilling: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'notice', id: none },
    sentence: 'synced with the billing providers',
  },
  generateCreditLink: {
    admin: true,
    scope: 'ALL',
    errors: ['USER_NOT_FOUND', 'PRICE_NOT_FOUND', 'SUBSCRIPTION_LINK_ERROR'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'user', id: by('userId') },
    sentence: 'created a payment link for credits of the user {user}',
  },
  generateSubscriptionLink: {
    admin: true,
    scope: 'ALL',
    errors: ['USER_NOT_FOUND', 'SUBSCRIPTION_LINK_ERROR'],
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'billingTemplate', id: by('templateId') },
    sentence: 'created a payment link from the billing template {template}',
  },
} as const satisfies Record<string, MutationEntry>

export const billingEvents = {
  syncSubscription: 'changed the subscriptions of the user {user}',
  syncAutoRecharge: 'turned off an automatic recharge of the user {user}',
  syncCredit: ({ before }) =>
    `${before === null ? 'added a bought credit for' : 'changed a bought credit of'} the user {user}`,
} as const satisfies Record<string, AuditSentence>

const sellsCredits = ({ before, after }: AuditedChange): boolean =>
  typeof (after ?? before)?.units === 'number'

const sold = (entry: AuditedChange): string =>
  sellsCredits(entry) ? 'credits of the feature {soldFeature}' : 'the package {package}'

const days = (count: unknown): string => (count === 1 ? '1 day' : `${number(Number(count))} days`)
