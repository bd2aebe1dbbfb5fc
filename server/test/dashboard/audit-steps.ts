import { expect } from 'vitest'
import type { Data } from '../harness/client.ts'
import { OWNER } from '../harness/server.ts'

interface Step {
  mutation: string
  entry: Data
}

const app = 'appId: "audited"'
const TODAY = Date.now()
const inDays = (days: number) => new Date(TODAY + days * 86_400_000).toISOString()
/** Every mutation of the dashboard once, in an order in which all succeed, and what the audit log says of it. */
export const STEPS: Step[] = [
  {
    mutation: 'createApp(id: "audited", name: "First", testClock: true) { id }',
    entry: { appId: null, subjectKind: 'app', subjectId: 'audited', before: null, after: { name: 'First' } },
  },
  {
    mutation: `renameApp(${app}, name: "Second") { id }`,
    entry: { appId: 'audited', before: { name: 'First' }, after: { name: 'Second' } },
  },
  {
    mutation: `archiveApp(${app}) { id }`,
    entry: { appId: 'audited', before: { archivedAt: null }, after: { archivedAt: expect.any(String) } },
  },
  {
    mutation: `archiveApp(${app}, archived: false) { id }`,
    entry: { before: { archivedAt: expect.any(String) }, after: { archivedAt: null } },
  },
  {
    // Of no app: it is still there when the app is gone.
    mutation: 'deleteApp(appId: "gone", confirm: "gone") { id }',
    entry: {
      appId: null,
      subjectKind: 'app',
      subjectId: 'gone',
      before: { name: 'Gone', deletingSince: null },
      after: { deletingSince: expect.any(String) },
    },
  },
  {
    mutation: `setOrigins(${app}, origins: ["https://a.example"]) { id }`,
    entry: { before: { origins: [] }, after: { origins: ['https://a.example'] } },
  },
  {
    mutation: `createApiKey(${app}, name: "Key") { id }`,
    entry: { subjectKind: 'apiKey', before: null, after: { name: 'Key', revokedAt: null } },
  },
  {
    mutation: `rotateApiKey(${app}, id: "KEY") { id }`,
    entry: { subjectKind: 'apiKey', before: { expiresAt: null }, after: { expiresAt: expect.any(String) } },
  },
  {
    mutation: `revokeApiKey(${app}, id: "KEY") { id }`,
    entry: { before: { revokedAt: null }, after: { revokedAt: expect.any(String) } },
  },
  {
    mutation: `rotateTokenKey(${app}) { id }`,
    entry: { subjectKind: 'tokenKey', before: null, after: { algorithm: 'HS256', retiredAt: null } },
  },
  {
    mutation: `revokeTokenKey(${app}, id: "TOKENKEY") { id }`,
    entry: { before: { revokedAt: null }, after: { revokedAt: expect.any(String) } },
  },
  {
    mutation: `createFeature(${app}, input: { id: "calls", name: "Calls", type: CONSUMABLE }) { id }`,
    entry: {
      subjectKind: 'feature',
      subjectId: 'calls',
      before: null,
      after: { name: 'Calls', type: 'CONSUMABLE' },
    },
  },
  {
    mutation: `updateFeature(${app}, id: "calls", input: { name: "Requests" }) { id }`,
    entry: { before: { name: 'Calls' }, after: { name: 'Requests' } },
  },
  {
    mutation: `createPackage(${app}, input: { id: "plan", name: "Plan", features: { id: "calls", entitlement: { limit: 1 } } }) { id }`,
    entry: {
      subjectKind: 'package',
      before: null,
      after: { status: 'DRAFT', features: [{ featureId: 'calls', limit: 1 }] },
    },
  },
  {
    mutation: `publishPackage(${app}, id: "plan") { id }`,
    entry: { before: { status: 'DRAFT' }, after: { status: 'PUBLISHED' } },
  },
  {
    mutation: `editPackage(${app}, id: "plan", input: { name: "Better" }) { id }`,
    entry: {
      sentence: 'changed the package Plan',
      before: { draft: null },
      after: { name: 'Plan', draft: { name: 'Better' } },
    },
  },
  {
    mutation: `discardPackageDraft(${app}, id: "plan") { id }`,
    entry: { before: { draft: { name: 'Better' } }, after: { draft: null } },
  },
  {
    mutation: `updatePackage(${app}, id: "plan", input: { metadata: { a: "\\u0000" } }) { id }`,
    entry: { before: { metadata: {} }, after: { metadata: { a: '\u0000' } } },
  },
  {
    mutation: `createUser(${app}, input: { id: "ann", email: "ann@example.com" }) { id }`,
    entry: {
      sentence: 'created the user ann',
      subjectKind: 'user',
      subjectId: 'ann',
      before: null,
      after: { email: 'ann@example.com' },
    },
  },
  {
    mutation: `createUser(${app}, input: { id: "gone", name: "Gone" }) { id }`,
    entry: { sentence: 'created the user Gone', after: { name: 'Gone' } },
  },
  {
    mutation: `updateUser(${app}, id: "ann", input: { id: "anna", email: "anna@example.com", billingId: "cus_anna" }) { id }`,
    entry: {
      subjectId: 'anna',
      before: { id: 'ann', billingId: null },
      after: { id: 'anna', email: 'anna@example.com', billingId: 'cus_anna' },
    },
  },
  {
    mutation: `subscribe(${app}, userId: "anna", packageIds: ["plan"]) { id }`,
    entry: {
      subjectId: 'anna',
      before: { subscriptions: [] },
      after: { subscriptions: [{ packageId: 'plan' }] },
    },
  },
  {
    mutation: `recordUsage(${app}, input: { userId: "anna", featureId: "calls", delta: 1 }) { recorded }`,
    entry: {
      subjectKind: 'usage',
      before: { usage: [] },
      after: { usage: [{ featureId: 'calls', used: 1 }] },
    },
  },
  {
    mutation: `setOverride(${app}, input: { userId: "anna", featureId: "calls", mode: ADD, limit: 5,
      expiresAt: "2050-01-01T00:00:00Z", reason: "goodwill" }) { mode }`,
    entry: {
      sentence: 'set an override for the user anna',
      subjectKind: 'overrides',
      subjectId: 'anna',
      before: { userId: 'anna', overrides: [] },
      after: {
        overrides: [
          {
            featureId: 'calls',
            mode: 'ADD',
            limit: 5,
            expiresAt: expect.stringMatching(/^2050-01-01T00:00:00/),
            reason: 'goodwill',
          },
        ],
      },
    },
  },
  {
    mutation: `removeOverride(${app}, userId: "anna", featureId: "calls") { mode }`,
    entry: {
      sentence: 'removed an override of the user anna',
      subjectKind: 'overrides',
      before: { overrides: [{ featureId: 'calls' }] },
      after: { overrides: [] },
    },
  },
  {
    mutation: `generateUserToken(${app}, userId: "anna") { token }`,
    entry: { subjectKind: 'token', subjectId: 'anna', before: null, after: null },
  },
  {
    mutation: `editPackage(${app}, id: "plan", input: { features: [] }) { id }`,
    entry: { after: { version: 1, draft: { features: [] } } },
  },
  {
    mutation: `publishPackage(${app}, id: "plan", for: NEW_ONLY) { id }`,
    entry: { before: { version: 1 }, after: { version: 2, publishedFor: 'NEW_ONLY', features: [] } },
  },
  {
    mutation: `migrateSubscriptions(${app}, packageId: "plan", fromVersion: 1, toVersion: 2) { id }`,
    entry: {
      sentence: 'migrated subscriptions of the package Plan from version 1 to version 2',
      subjectKind: 'migration',
      before: null,
      after: { packageId: 'plan', reach: 'ALL', undoneAt: null },
    },
  },
  {
    mutation: `undoMigration(${app}, id: "MIGRATION") { id }`,
    entry: {
      sentence: 'undid the migration of the package Plan from version 1 to version 2',
      before: { undoneAt: null },
      after: { undoneAt: expect.any(String) },
    },
  },
  {
    mutation: `keepSubscription(${app}, id: "SUBSCRIPTION") { id }`,
    entry: {
      sentence: 'reverted the cancellation of the subscription of anna to Plan',
      subjectKind: 'subscription',
      before: { cancelledAt: null },
      after: { cancelledAt: null },
    },
  },
  {
    mutation: `changeSubscription(${app}, userId: "anna", packageId: "plan", quantity: 2, when: PERIOD_END) { now }`,
    entry: {
      sentence: 'changed the plan of the user anna',
      subjectKind: 'subscriptions',
      before: { subscriptions: [{ packageId: 'plan', cancelAt: null }] },
      after: { subscriptions: [{ packageId: 'plan' }, { packageId: 'plan', quantity: 2 }] },
    },
  },
  {
    mutation: `cancelScheduledChange(${app}, userId: "anna") { id }`,
    entry: {
      sentence: 'cancelled the scheduled change of the user anna',
      after: { subscriptions: [{ packageId: 'plan', cancelAt: null, quantity: 1 }] },
    },
  },
  {
    mutation: `cancelSubscription(${app}, id: "SUBSCRIPTION", atPeriodEnd: false) { id }`,
    entry: {
      sentence: 'cancelled the subscription of anna to Plan',
      subjectKind: 'subscription',
      before: { cancelledAt: null },
      after: { cancelledAt: expect.any(String) },
    },
  },
  {
    mutation: `deleteUser(${app}, id: "gone") { id }`,
    entry: { sentence: 'deleted a user', subjectKind: 'user', subjectId: null, before: null, after: null },
  },
  {
    mutation: `startTrial(${app}, userId: "anna", packageId: "plan", until: "${inDays(30)}") { id }`,
    entry: { sentence: 'started a trial for the user anna', subjectKind: 'subscriptions' },
  },
  {
    mutation: `extendTrial(${app}, id: "TRIAL", until: "${inDays(60)}") { id }`,
    entry: {
      sentence: 'extended the trial of Plan for anna',
      subjectKind: 'subscription',
      before: { trialEndsAt: expect.stringContaining(inDays(30).slice(0, 10)) },
      after: { trialEndsAt: expect.stringContaining(inDays(60).slice(0, 10)) },
    },
  },
  {
    mutation: `advanceClock(${app}, to: "2040-01-01T00:00:00Z") { id }`,
    entry: { subjectKind: 'app', after: { testClock: expect.stringContaining('2040-01-01') } },
  },
  {
    mutation: `setProviderAccount(${app}, provider: "stripe", input: { secretKey: "STRIPE_KEY", webhookSecret: "whsec_of_these_tests" }) { provider }`,
    entry: {
      subjectKind: 'providerAccount',
      subjectId: 'stripe',
      before: null,
      after: { enabled: true, hasKey: true, hasWebhookSecret: true },
    },
  },
  {
    mutation: `createPrice(${app}, packageId: "plan", input: { amount: 1200, currency: "eur", interval: "month" }) { id }`,
    entry: {
      subjectKind: 'price',
      before: null,
      after: { provider: 'sandbox', packageId: 'plan', amount: 1200, archivedAt: null },
    },
  },
  {
    mutation: `importPrice(${app}, packageId: "plan", provider: "stripe", id: "STRIPE_PRICE") { id }`,
    entry: {
      subjectKind: 'price',
      before: null,
      after: { provider: 'stripe', packageId: 'plan', amount: 1500, interval: 'month' },
    },
  },
  {
    mutation: `createBillingTemplate(${app}, input: { id: "offer", name: "Offer", packageIds: ["plan"], priceIds: ["PRICE"] }) { id }`,
    entry: {
      subjectKind: 'billingTemplate',
      subjectId: 'offer',
      before: null,
      after: { name: 'Offer', packageIds: ['plan'], archivedAt: null },
    },
  },
  {
    mutation: `generateSubscriptionLink(${app}, userId: "anna", templateId: "offer", successUrl: "https://a.example/", cancelUrl: "https://a.example/") { url }`,
    entry: { subjectKind: 'billingTemplate', subjectId: 'offer' },
  },
  {
    mutation: `archiveBillingTemplate(${app}, id: "offer") { id }`,
    entry: { before: { archivedAt: null }, after: { archivedAt: expect.any(String) } },
  },
  {
    mutation: `archiveBillingTemplate(${app}, id: "offer", archived: false) { id }`,
    entry: { sentence: 'restored the billing template Offer' },
  },
  {
    mutation: `createBillingTemplate(${app}, input: { id: "unsold", name: "Unsold", packageIds: ["plan"] }) { id }`,
    entry: { subjectId: 'unsold' },
  },
  {
    mutation: `deleteBillingTemplate(${app}, id: "unsold") { id }`,
    entry: { sentence: 'deleted the billing template Unsold', before: { name: 'Unsold' }, after: null },
  },
  {
    mutation: `createFeature(${app}, input: { id: "idle", name: "Idle", type: BINARY }) { id }`,
    entry: { after: { archivedAt: null } },
  },
  {
    mutation: `archiveFeature(${app}, id: "idle") { id }`,
    entry: {
      sentence: 'archived the feature Idle',
      before: { archivedAt: null },
      after: { archivedAt: expect.any(String) },
    },
  },
  {
    mutation: `deleteFeature(${app}, id: "idle") { id }`,
    entry: { sentence: 'deleted the feature Idle', before: { name: 'Idle' }, after: null },
  },
  {
    mutation: `createPackage(${app}, input: { id: "idle", name: "Idle" }) { id }`,
    entry: { after: { archivedAt: null } },
  },
  {
    mutation: `archivePackage(${app}, id: "idle") { id }`,
    entry: {
      sentence: 'archived the package Idle',
      before: { archivedAt: null },
      after: { archivedAt: expect.any(String) },
    },
  },
  {
    mutation: `deletePackage(${app}, id: "idle") { id }`,
    entry: { sentence: 'deleted the package Idle', before: { name: 'Idle' }, after: null },
  },
  {
    mutation: `archivePrice(${app}, provider: "sandbox", id: "PRICE") { id }`,
    entry: { subjectKind: 'price', before: { archivedAt: null }, after: { archivedAt: expect.any(String) } },
  },
  {
    mutation: `setGraceDays(${app}, days: 3) { graceDays }`,
    entry: { subjectKind: 'app', before: { graceDays: 7 }, after: { graceDays: 3 } },
  },
  {
    mutation: `setAccessAfterRefund(${app}, access: END) { accessAfterRefund }`,
    entry: {
      sentence: 'set access to end after a refund or dispute',
      subjectKind: 'app',
      before: { accessAfterRefund: 'KEEP' },
      after: { accessAfterRefund: 'END' },
    },
  },
  {
    mutation: `reverseSandboxPayment(${app}, subscriptionId: "bought", paymentRef: "cs_paid", action: REFUND) { refunded }`,
    entry: {
      sentence: 'simulated a refund or dispute of a sandbox payment of payer for Plan',
      subjectKind: 'subscription',
      subjectId: 'bought',
    },
  },
  {
    mutation: `replayNotice(${app}, id: "NOTICE") { id }`,
    entry: { subjectKind: 'notice', subjectId: expect.stringMatching(/^\d+$/), before: null, after: null },
  },
  {
    mutation: `replayFailedNotices(${app})`,
    entry: { subjectKind: 'notice', subjectId: null },
  },
  {
    mutation: `reconcileBilling(${app})`,
    entry: { appId: 'audited', subjectKind: 'notice', subjectId: null },
  },
  {
    mutation: `removeProviderAccount(${app}, provider: "stripe") { provider }`,
    entry: { subjectKind: 'providerAccount', before: { hasKey: true }, after: null },
  },
  {
    mutation: `loadSample(${app}) { users }`,
    entry: { subjectKind: 'sample' },
  },
  {
    mutation: `removeSample(${app}) { users }`,
    entry: { subjectKind: 'sample' },
  },
  {
    mutation: `copyCatalogue(${app}, fromAppId: "default") { features { id } }`,
    entry: { subjectKind: 'catalogue', subjectId: 'default' },
  },
  {
    mutation: 'inviteMember(email: "new@example.com", role: EDITOR) { id }',
    entry: { appId: null, subjectKind: 'invitation', after: { email: 'new@example.com', role: 'EDITOR' } },
  },
  {
    mutation: 'revokeInvitation(id: "INVITATION")',
    entry: {
      sentence: 'revoked the invitation of new@example.com',
      subjectKind: 'invitation',
      before: { email: 'new@example.com' },
      after: null,
    },
  },
  {
    mutation: 'changeRole(memberId: "MEMBER", role: EDITOR) { id }',
    entry: { appId: null, subjectKind: 'member', before: { role: 'VIEWER' }, after: { role: 'EDITOR' } },
  },
  {
    mutation: 'createPasswordReset(memberId: "MEMBER") { url }',
    entry: {
      sentence: 'created a password reset link for other@example.com',
      subjectKind: 'member',
      before: { email: 'other@example.com' },
      after: { email: 'other@example.com' },
    },
  },
  {
    mutation: 'removeMember(memberId: "MEMBER")',
    entry: {
      sentence: 'removed the member other@example.com',
      subjectKind: 'member',
      before: { email: 'other@example.com' },
      after: null,
    },
  },
  {
    mutation: 'signOutSession(id: "SESSION")',
    entry: { subjectKind: 'session', before: null, after: null },
  },
  {
    mutation: `changePassword(current: "${OWNER.password}", password: "${OWNER.password}")`,
    entry: { subjectKind: 'member', after: { email: OWNER.email, role: 'OWNER' } },
  },
]
