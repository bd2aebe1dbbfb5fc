import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { HEALTHY } from '../../src/domain/recharge.ts'
import * as keys from '../../src/store/apps/api-keys.ts'
import * as apps from '../../src/store/apps/apps.ts'
import { writeEventSettings } from '../../src/store/apps/event-settings.ts'
import * as removal from '../../src/store/apps/remove-app.ts'
import * as tokenKeys from '../../src/store/apps/token-keys.ts'
import { EVERYTHING, searchAudit } from '../../src/store/audit/audit-search.ts'
import { idsByName, namesOf, payersOf } from '../../src/store/audit/names.ts'
import { snapshot } from '../../src/store/audit/snapshots.ts'
import * as templates from '../../src/store/billing/billing-templates.ts'
import * as checkouts from '../../src/store/billing/checkout-sessions.ts'
import * as notices from '../../src/store/billing/notices.ts'
import * as payments from '../../src/store/billing/payments.ts'
import * as prices from '../../src/store/billing/prices.ts'
import * as accounts from '../../src/store/billing/provider-accounts.ts'
import * as leases from '../../src/store/billing/provider-leases.ts'
import * as paid from '../../src/store/billing/provider-subscriptions.ts'
import * as revenue from '../../src/store/billing/revenue.ts'
import { listRevenue } from '../../src/store/billing/revenue-lists.ts'
import { listMrr, listRefunds, refundTotals } from '../../src/store/billing/revenue-money.ts'
import * as series from '../../src/store/billing/revenue-series.ts'
import * as bulk from '../../src/store/bulk/bulk-changes.ts'
import * as bulkRows from '../../src/store/bulk/bulk-rows.ts'
import { loadApp, setArchived } from '../../src/store/catalogue/catalogue.ts'
import * as features from '../../src/store/catalogue/features.ts'
import * as history from '../../src/store/catalogue/package-history.ts'
import * as packages from '../../src/store/catalogue/packages.ts'
import * as references from '../../src/store/catalogue/references.ts'
import type { Tx } from '../../src/store/connection/database.ts'
import type { UserTx } from '../../src/store/connection/places.ts'
import * as caps from '../../src/store/credits/caps.ts'
import * as creditFigures from '../../src/store/credits/credit-figures.ts'
import * as credits from '../../src/store/credits/credits.ts'
import {
  deleteSpending,
  forgetSpenders,
  spendingOnFeature,
} from '../../src/store/credits/feature-spending.ts'
import * as recharges from '../../src/store/credits/recharges.ts'
import * as reservations from '../../src/store/credits/reservations.ts'
import * as spenders from '../../src/store/credits/spenders.ts'
import { creditRows } from '../../src/store/events/credit-rows.ts'
import { eraseEvents, eventsAfter, newestEventsOfUser } from '../../src/store/events/event-log.ts'
import { eraseFromOutbox } from '../../src/store/events/outbox.ts'
import { subscriptionRows } from '../../src/store/events/subscription-rows.ts'
import { moveRows } from '../../src/store/imports/move-user-import.ts'
import { usersInImport } from '../../src/store/imports/stage-import-rows.ts'
import * as importRows from '../../src/store/imports/user-import-rows.ts'
import * as imports from '../../src/store/imports/user-imports.ts'
import { countRetiredEntries, ledgerOfUser } from '../../src/store/ledger/ledger.ts'
import * as erase from '../../src/store/privacy/erase-user.ts'
import { isErased } from '../../src/store/privacy/erased-refs.ts'
import * as exported from '../../src/store/privacy/export-user.ts'
import * as traces from '../../src/store/privacy/user-traces.ts'
import { removeSampleItems } from '../../src/store/sample/remove-sample.ts'
import { countOfSampleUsers, forgetSample } from '../../src/store/sample/sample.ts'
import { Keyring } from '../../src/store/secrets/keyring.ts'
import { areReplaced } from '../../src/store/subscriptions/replaced.ts'
import * as subscribers from '../../src/store/subscriptions/subscribers.ts'
import {
  ALL_SUBSCRIPTIONS,
  countSubscriptions,
  filteredSubscriptions,
  livePlans,
  triedBefore,
} from '../../src/store/subscriptions/subscription-list.ts'
import * as subscriptions from '../../src/store/subscriptions/subscriptions.ts'
import { subscriptionsByAmount } from '../../src/store/subscriptions/subscriptions-by-amount.ts'
import * as successors from '../../src/store/subscriptions/successors.ts'
import {
  activityBetween,
  listRecentUsage,
  moveRecentUsage,
  readChecklist,
} from '../../src/store/usage/activity.ts'
import { listDenials, noteDenials } from '../../src/store/usage/denials.ts'
import { featureActivityBetween, featureTotals } from '../../src/store/usage/feature-activity.ts'
import { lockUsageKey, storeResults } from '../../src/store/usage/idempotency.ts'
import { countCounters, holdCounters, usageSince, usedAfterSet, usedIn } from '../../src/store/usage/usage.ts'
import * as hours from '../../src/store/usage/usage-hours.ts'
import * as overrides from '../../src/store/users/overrides.ts'
import { searchUsers } from '../../src/store/users/search-users.ts'
import * as userList from '../../src/store/users/user-list.ts'
import * as users from '../../src/store/users/users.ts'
import { releaseDeliveries } from '../../src/store/webhooks/claim-deliveries.ts'
import * as deliveries from '../../src/store/webhooks/deliveries.ts'
import * as endpoints from '../../src/store/webhooks/endpoints.ts'
import { TEST_CELLS } from '../harness/cells-by-hand.ts'
import { shared } from '../harness/shared.ts'
import { inItsPlace, openStoreInCell } from '../harness/store.ts'
import { allOf, furnishApp, furnishBooks, furnishTwin, LEASE, UID } from './furnished-app.ts'

const known = (uid: number, id: string) => ({ uid, knownAs: [{ id, from: 0, until: null }] })

// All there is belongs to one app. Whatever another app asks for by the ids of that one, it finds nothing and changes
// nothing; and the same call by the app itself finds or changes something, or the row here would prove nothing.

const NOW = 1_800_000_000_000
const RANGE = { after: null, oldestFirst: false, most: 9 }
const LAST = Number.MAX_SAFE_INTEGER
const LEASED = { provider: 'stripe', ref: 'sub_of_before' }
const ANN = {
  uid: UID,
  id: 'ann',
  billingId: 'cus_1',
  name: 'Ann',
  email: 'ann@example.com',
  metadata: {},
  overrides: null,
}
const COUNTER = { uid: UID, featureId: 'calls', resetPeriod: 'MONTH', periodStart: 0 } as const
const rechargeOf = (appId: string) => ({ appId, userUid: UID, featureId: 'calls' })
const FEATURE = {
  id: 'calls',
  name: 'Other',
  type: 'CONSUMABLE',
  unitLabel: null,
  unitLabelPlural: null,
  metadata: {},
} as const
const OVERRIDE = {
  featureId: 'calls',
  mode: 'GRANT',
  limit: null,
  overageEnabled: null,
  resetPeriod: 'MONTH',
  startedAt: 0,
  expiresAt: null,
  reason: null,
} as const
const SPAN = { from: 0, to: NOW }
const ENDPOINT = { id: 'endpoint', url: 'https://c.example', types: ['user.deleted'], description: null }
const BULK: bulk.BulkChange = {
  id: 'bulk',
  state: 'CHECKING',
  request: { action: { kind: 'CANCEL', atPeriodEnd: true }, of: { list: 'USERS', ids: [] } },
  memberId: 1,
  memberEmail: 'o@example.com',
  createdAt: 0,
  continueAt: null,
  rows: 1,
  changing: 1,
  skipped: {},
  done: 0,
  refused: 0,
  undone: 0,
  kept: 0,
  problem: null,
}
const BULK_ROW: bulkRows.BulkRow = {
  number: 1,
  userUid: 1,
  subscriptionId: null,
  outcome: 'CHANGE',
  message: null,
  undo: null,
}
const PROGRESS = { bytesRead: 1, rows: 1, bad: 1, unchanged: 1, changed: 1, created: 1 }

const seriesOf = (appId: string) =>
  ({ appId, featureId: 'calls', bucket: 'MONTH', from: 0, to: Date.UTC(2100, 0) }) as const

let pending = 0
let failed = 0
let leased = 0

const CALLS: Record<string, (db: UserTx, app: string) => Promise<unknown>> = {
  eventsAfter: (db, app) =>
    eventsAfter(db, app, 0, { types: null, userUid: null }, { limit: 9, most: 9 }).then(({ rows }) => rows),
  'eventsAfter, of a type and user': (db, app) =>
    eventsAfter(db, app, 0, { types: ['user.created'], userUid: UID }, { limit: 9, most: 9 }).then(
      ({ rows }) => rows,
    ),
  newestEventsOfUser: (db, app) => newestEventsOfUser(db, app, UID, null, { from: 0, before: LAST }, 9),
  eraseEvents: (db, app) => eraseEvents(db, app, UID),
  eraseFromOutbox: (db, app) => eraseFromOutbox(db, app, [UID]),
  subscriptionRows: (db, app) => subscriptionRows(db, app, ['subscription']),
  creditRows: (db, app) => creditRows(db, app, ['credit']),
  activityBetween: (db, app) => activityBetween(db, app, 'day', 0, NOW),
  featureTotals: (db, app) => featureTotals(db, app, ['calls'], 36_500),
  featureActivityBetween: async (db, app) => [
    ...(await featureActivityBetween(db, app, 'calls', 'day', 0, NOW)).values(),
  ],
  namesOf: async (db, app) => [
    ...(
      await namesOf(
        db,
        (['USER', 'FEATURE', 'PACKAGE', 'TEMPLATE', 'API_KEY', 'IMPORT'] as const).flatMap((kind) =>
          ['ann', 'calls', 'plan', 'template', 'key', 'import'].map((id) => ({ kind, appId: app, id })),
        ),
      )
    ).keys(),
  ],
  payersOf: async (db, app) => [
    ...(
      await payersOf(db, app, [
        { provider: 'stripe', ref: 'cus_1' },
        { provider: 'stripe', ref: 'sub_1' },
      ])
    ).values(),
  ],
  listRecentUsage: (db, app) => listRecentUsage(db, app),
  moveRecentUsage: (db, app) => moveRecentUsage(db, app, 'ann', 'anna'),
  readChecklist: (db, app) => readChecklist(db, app),
  revokeApiKey: (db, app) => keys.revokeApiKey(db, app, 'key'),
  changeApiKey: (db, app) =>
    keys.changeApiKey(db, app, {
      id: 'key',
      name: 'Other',
      scope: 'READ',
      expiresAt: null,
      lifetimeMs: null,
    }),
  listApiKeys: (db, app) => keys.listApiKeys(db, app),
  countGoodApiKeys: (db, app) => keys.countGoodApiKeys(db, app),
  lockGoodApiKey: (db, app) => keys.lockGoodApiKey(db, app, 'key'),
  expireApiKey: (db, app) => keys.expireApiKey(db, app, 'key', 1),
  noteKeyUse: (db, app) => keys.noteKeyUse(db, [{ appId: app, hash: '01', msAgo: 0 }]),
  hasApiKeys: (db, app) => keys.hasApiKeys(db, app),
  bumpVersion: (db, app) => apps.bumpVersion(db, app),
  setTestClock: (db, app) => apps.setTestClock(db, app, '2030-01-01Z'),
  setName: (db, app) => apps.setName(db, app, 'Other'),
  setOrigins: (db, app) => apps.setOrigins(db, app, ['https://a.example']),
  writeEventSettings: (db, app) => writeEventSettings(db, app, { usageRecorded: true, keptDays: 3 }),
  setGraceDays: (db, app) => apps.setGraceDays(db, app, 3),
  searchAudit: (db, app) => searchAudit(db, { ...EVERYTHING, appId: app }, null, 9),
  setAccessAfterRefund: (db, app) => apps.setAccessAfterRefund(db, app, 'END'),
  listMrr: (db, app) => listMrr(db, app, 0, null, 9),
  refundTotals: (db, app) => refundTotals(db, app, 0, NOW),
  listRefunds: (db, app) => listRefunds(db, app, { from: 0, now: NOW }, null, 9),
  archiveApp: (db, app) => removal.archiveApp(db, app, true),
  stillPaid: (db, app) => removal.stillPaid(db, app, 'stripe'),
  countAppContent: (db, app) => removal.countAppContent(db, app),
  findTemplate: (db, app) => templates.findTemplate(db, app, 'template'),
  countTemplates: (db, app) => templates.countTemplates(db, app),
  listTemplates: (db, app) => templates.listTemplates(db, app, true),
  deleteTemplate: (db, app) => templates.deleteTemplate(db, app, 'unsold'),
  archiveTemplate: (db, app) => templates.archiveTemplate(db, app, 'template', true),
  loadApp: async (db, app) => {
    const loaded = await loadApp(db, app)
    return [loaded?.catalogue.packages.size, loaded?.catalogue.features.size, loaded?.keys.size]
  },
  findCheckoutSession: (db, app) => checkouts.findCheckoutSession(db, app, 'session'),
  findCheckoutByRef: (db, app) =>
    checkouts.findCheckoutByRef(db, { appId: app, provider: 'stripe', ref: 'cs_1' }),
  setCheckoutUrl: (db, app) =>
    checkouts.setCheckoutUrl(db, app, 'unplaced', { ref: 'cs_2', url: 'https://c.example' }),
  updateCheckoutState: (db, app) =>
    checkouts.updateCheckoutState(db, app, 'stripe', 'session', 'cs_1', 'PAID', NOW),
  closeUnanswered: (db, app) => checkouts.closeUnanswered(db, app),
  openCheckouts: (db, app) => checkouts.openCheckouts(db, app, 'all'),
  updateFeature: (db, app) => features.updateFeature(db, app, FEATURE),
  setArchived: async (db, app) => [
    await setArchived(db, 'feature', app, 'calls', true),
    await setArchived(db, 'package', app, 'plan', true),
  ],
  lockFeature: (db, app) => features.lockFeature(db, app, 'unused'),
  deleteFeature: (db, app) => features.deleteFeature(db, app, 'unused'),
  chooseItems: (db, app) =>
    checkouts.chooseItems(db, app, 'choosing', [{ packageId: 'plan', priceId: 'price_1' }]),
  holdCheckoutSession: (db, app) => checkouts.holdCheckoutSession(db, app, 'session'),
  checkoutsOfUser: (db, app) => checkouts.checkoutsOfUser(db, app, UID),
  deleteCheckoutsOfUser: (db, app) => checkouts.deleteCheckoutsOfUser(db, app, UID),
  deletePaidCheckouts: (db, app) =>
    checkouts.deletePaidCheckouts(db, app, [{ provider: 'stripe', ref: 'cs_1' }]),
  isErased: (db, app) => isErased(db, app, [{ provider: 'stripe', ref: 'cus_9' }]),
  findErasableUser: (db, app) => erase.findErasableUser(db, app, 'ann'),
  lockUserToErase: (db, app) => erase.lockUserToErase(db, app, 'ann'),
  subscriptionIdsOf: (db, app) => erase.subscriptionIdsOf(db, app, UID),
  newestSubscriptionIds: (db, app) => erase.newestSubscriptionIds(db, app, UID, 9),
  takenSince: (db, app) => erase.takenSince(db, app, UID + 1, ['ann']),
  deleteUserRows: async (db, app) => {
    await checkouts.deleteCheckoutsOfUser(db, app, UID)
    await erase.deleteUserRows(db, app, UID)
  },
  deleteRecentUsage: (db, app) => erase.deleteRecentUsage(db, app, ['ann']),
  clearImportRows: (db, app) => erase.clearImportRows(db, app, known(UID, 'ann'), ['ann']),
  clearAuditEntries: (db, app) => erase.clearAuditEntries(db, app, [1]),
  deleteNotices: (db, app) => erase.deleteNotices(db, app, [pending, failed]),
  replaceReceipt: (db, app) => erase.replaceReceipt(db, app, { scope: 'request', key: 'k' }, [1]),
  deleteReceipts: (db, app) => erase.deleteReceipts(db, app, [{ scope: 'request', key: 'k' }]),
  exportRows: (db, app) => exported.exportRows(db, app, known(UID, 'ann'), 'subscriptions', '', 9),
  'exportRows, of imports': (db, app) =>
    exported.exportRows(db, app, known(UID + 1, 'bad'), 'importRows', '', 9),
  exportProfile: (db, app) => exported.exportProfile(db, app, UID),
  exportUsage: async (db, app) => [
    await exported.exportUsage(db, app, UID, 'usageCounters', '', 9),
    await exported.exportUsage(db, app, UID, 'usageLedger', '', 9),
    await exported.exportUsage(db, app, UID, 'retiredUsage', '', 9),
  ],
  auditEntriesNaming: (db, app) => traces.auditEntriesNaming(db, app, ['ann'], 0, 9),
  noticesNaming: (db, app) => traces.noticesNaming(db, app, ['cus_1'], 0, 9),
  receiptsNaming: (db, app) => traces.receiptsNaming(db, app, UID, ['ann'], []),
  countCounters: (db, app) => countCounters(db, app, UID),
  holdCounters: (db, app) => holdCounters(db, app, [COUNTER]),
  providerSubscriptionsOfUser: (db, app) => paid.providerSubscriptionsOfUser(db, app, UID),
  storeResults: (db, app) => storeResults(db, { appId: app, scope: 'request', key: 'k' }, { field: 1 }),
  countRetiredEntries: (db, app) => countRetiredEntries(db, app, UID, ['calls']),
  ledgerOfUser: (db, app) => ledgerOfUser(db, app, UID, ['calls'], LAST, 9),
  moveRows: (db, app) =>
    moveRows(db, app, 'import', 'apply', 9, () => Promise.reject(new Error('no new users'))),
  noteDenials: (db, app) =>
    noteDenials(db, [
      { appId: app, featureId: 'calls', userId: 'ann', kind: 'RECORD', reason: 'No', times: 3 },
    ]),
  listDenials: (db, app) => listDenials(db, app, 'calls', null, 9),
  idsByName: (db, app) => idsByName(db, app, 'sampl', 9),
  areReplaced: async (db, app) => {
    const { rows } = await db.query<{ at: number }>(
      `select started_at as at from subscription where app_id = 'ours' and id = 'subscription'`,
    )
    return areReplaced(db, [{ appId: app, id: 'before', userId: 'ann', endedAt: rows[0]?.at ?? 0 }])
  },
  findNotice: (db, app) => notices.findNotice(db, app, failed),
  listNotices: (db, app) =>
    notices.listNotices(db, app, { provider: null, state: null, type: null }, null, 9),
  countNotices: (db, app) => notices.countNotices(db, app),
  noteDone: (db, app) => notices.noteDone(db, app, pending),
  noteFailure: (db, app) =>
    notices.noteFailure(db, app, pending, { message: 'no', final: true, paymentRef: null }),
  reopenNotices: (db, app) => notices.reopenNotices(db, app, failed),
  'reopenNotices, all': (db, app) => notices.reopenNotices(db, app, null),
  updatePackageMetadata: (db, app) => packages.updatePackageMetadata(db, app, 'plan', { a: 1 }, NOW),
  deletePackage: (db, app) => packages.deletePackage(db, app, 'unused'),
  lockPackage: (db, app) => references.lockPackage(db, app, 'plan'),
  packageReferences: (db, app) => references.packageReferences(db, app, 'plan', NOW),
  packagesThatGranted: (db, app) => references.packagesThatGranted(db, app, 'calls'),
  lockTemplate: (db, app) => references.lockTemplate(db, app, 'template'),
  linksOfTemplate: (db, app) => references.linksOfTemplate(db, app, 'template'),
  setPackageDraft: (db, app) => packages.setPackageDraft(db, app, 'plan', null, NOW),
  applyPackageEdit: (db, app) =>
    packages.applyPackageEdit(db, app, 'plan', { name: 'Other', features: [] }, NOW),
  publishPackage: (db, app) => packages.publishPackage(db, app, 'plan', NOW, { author: null, note: null }),
  setScheduled: (db, app) =>
    packages.setScheduled(db, app, 'plan', {
      at: NOW,
      reach: 'ALL',
      note: null,
      memberId: 1,
      author: 'a@example.com',
      problem: null,
    }),
  firstPublication: (db, app) => packages.firstPublication(db, app, 'plan'),
  storeOverrides: (db, app) => overrides.storeOverrides(db, app, UID, [OVERRIDE]),
  usersWithOverride: (db, app) => overrides.usersWithOverride(db, app, 'calls', LAST, 9, 9),
  addOverridePeriod: (db, app) => overrides.addOverridePeriod(db, app, 'calls', 'HOUR'),
  setSpends: (db, app) => features.setSpends(db, app, ['calls']),
  flagPools: (db, app) =>
    features.flagPools(db, app, [{ ...FEATURE, id: 'calls', costs: [{ featureId: 'calls', cost: 2 }] }]),
  storeOwed: (db, app) => spenders.storeOwed(db, app, UID, 'calls', { amount: 1, period: 'MONTH 0' }),
  lockSpender: (db, app) => spenders.lockSpender(db, app, UID, ['calls']),
  endSpending: (db, app) => spenders.endSpending(db, app, UID),
  lockUsageKey: (db, app) => lockUsageKey(db, app, 'event'),
  revertedAs: (db, app) => reservations.revertedAs(db, app, 'reservation'),
  storeReverted: (db, app) => reservations.storeReverted(db, app, 'reservation', { recorded: false }),
  soldCredits: (db, app) => creditFigures.soldCredits(db, app, { from: 0, now: Date.UTC(2100, 0), limit: 9 }),
  expiringCredits: (db, app) =>
    creditFigures.expiringCredits(db, app, { now: 0, until: Date.UTC(2101, 0), limit: 9 }),
  findCredit: (db, app) => credits.findCredit(db, app, 'credit'),
  findPurchase: (db, app) => credits.findPurchase(db, app, 'credit'),
  findBoughtCredit: (db, app) =>
    credits.findBoughtCredit(db, { appId: app, provider: 'stripe', ref: 'cs_credit' }),
  boughtCredits: (db, app) => credits.boughtCredits(db, app, [{ provider: 'stripe', ref: 'cs_credit' }]),
  setCreditAmount: (db, app) => credits.setCreditAmount(db, app, 'credit', 3),
  voidCredit: (db, app) => credits.voidCredit(db, app, 'credit', null, NOW),
  endCredits: (db, app) => credits.endCredits(db, app, UID, 'calls', NOW),
  heldCredits: (db, app) => credits.heldCredits(db, app, ['credit']),
  creditsOfUser: (db, app) =>
    credits.creditsOfUser(db, app, UID, { featureId: null, state: null, after: 0, limit: 9 }, NOW),
  creditsUsableFirst: (db, app) =>
    credits.creditsUsableFirst(db, app, UID, { ended: false, seq: LAST }, 9, NOW),
  liveCredits: (db, app) => credits.liveCredits(db, app, UID, NOW),
  heldOfUser: (db, app) => reservations.heldOfUser(db, app, UID, 0),
  rechargeRulesOf: (db, app) =>
    recharges.rechargeRulesOf(db, { appId: app, userUid: UID, featureId: null }, 0),
  rechargeChargesOf: (db, app) => recharges.rechargeChargesOf(db, rechargeOf(app), 0),
  setRechargeHealth: (db, app) => recharges.setRechargeHealth(db, rechargeOf(app), HEALTHY),
  forgetDeclines: (db, app) => recharges.forgetDeclines(db, rechargeOf(app)),
  deleteRechargeRule: (db, app) => recharges.deleteRechargeRule(db, rechargeOf(app)),
  numberCharge: (db, app) => recharges.numberCharge(db, rechargeOf(app)),
  noteChargeAsked: (db, app) => recharges.noteChargeAsked(db, app, 'recharging'),
  holdChargeCard: (db, app) => recharges.holdChargeCard(db, app, 'recharging', 'pm_1'),
  endRechargeAttempt: (db, app) => recharges.endRechargeAttempt(db, app, 'recharging', 'PAID'),
  failCheckoutSession: (db, app) => checkouts.failCheckoutSession(db, app, 'recharging'),
  capsOfUser: (db, app) => caps.capsOfUser(db, app, UID, null),
  capCountsOfUser: (db, app) => caps.capCountsOfUser(db, app, UID, ['calls'], ['team:7']),
  spendingOnFeature: (db, app) => spendingOnFeature(db, app, 'calls'),
  forgetSpenders: (db, app) => forgetSpenders(db, app, 'calls'),
  deleteSpending: (db, app) => deleteSpending(db, app, 'calls'),
  unlimitCap: (db, app) => caps.unlimitCap(db, app, UID, 'calls', { entity: null, period: 'DAY' }),
  deleteCap: (db, app) => caps.deleteCap(db, app, UID, 'calls', { entity: null, period: 'DAY' }),
  findReservation: (db, app) => reservations.findReservation(db, app, 'reservation'),
  findReservations: (db, app) => reservations.findReservations(db, [{ appId: app, id: 'reservation' }]),
  reservationsOfUser: (db, app) =>
    reservations.reservationsOfUser(db, app, UID, { featureId: null, state: null, after: 0, limit: 9 }, NOW),
  usedIn: (db, app) => usedIn(db, app, UID, COUNTER),
  usedAfterSet: (db, app) => usedAfterSet(db, app, UID, COUNTER, 0),
  packageHistory: (db, app) => history.packageHistory(db, app, 'plan'),
  packageOfMigration: (db, app) => history.packageOfMigration(db, app, 'migration'),
  markUndone: (db, app) => history.markUndone(db, app, 'migration', NOW),
  findPrice: (db, app) => prices.findPrice(db, app, 'stripe', 'price_1'),
  findPrices: (db, app) => prices.findPrices(db, app, 'stripe', ['price_1']),
  findAnyPrices: (db, app) => prices.findAnyPrices(db, app, 'stripe', ['price_pack']),
  findCreditPrice: (db, app) => prices.findCreditPrice(db, app, 'price_pack'),
  countCreditPrices: (db, app) => prices.countCreditPrices(db, app, 'calls'),
  countPrices: (db, app) => prices.countPrices(db, app),
  listAnyPrices: (db, app) => prices.listAnyPrices(db, app, { packageId: null, featureId: 'calls' }, true),
  listPrices: (db, app) => prices.listPrices(db, app, null, true),
  'listPrices, of a package': (db, app) => prices.listPrices(db, app, 'plan', true),
  setDefaultPrice: (db, app) =>
    prices.setDefaultPrice(db, app, { packageId: 'plan', provider: 'stripe', id: 'price_1' }),
  settleDefaultPrice: (db, app) => prices.settleDefaultPrice(db, app, 'plan'),
  archivePrice: (db, app) => prices.archivePrice(db, app, 'stripe', 'price_1', true),
  findProviderAccount: (db, app) => accounts.findProviderAccount(db, app, 'stripe'),
  forgetBesideLive: (db, app) => accounts.forgetBesideLive(db, app),
  deleteProviderAccount: (db, app) => accounts.deleteProviderAccount(db, app, 'stripe'),
  findProviderSubscription: (db, app) => paid.findProviderSubscription(db, app, 'stripe', 'sub_1'),
  notePaidAgain: (db, app) => paid.notePaidAgain(db, app, 'stripe', 'sub_1', NOW),
  takeLease: (db, app) => leases.takeLease(db, { ...LEASED, appId: app, ref: 'sub_1' }, 'me', 1_000),
  isLeased: (db, app) => leases.isLeased(db, { ...LEASED, appId: app }),
  holdsLease: (db, app) => leases.holdsLease(db, { ...LEASED, appId: app }, 'holder'),
  endLease: (db, app) => leases.endLease(db, { ...LEASED, appId: app }, 'holder'),
  chargedProvider: (db, app) => paid.chargedProvider(db, app, UID, 'cus_1'),
  endedProviderSubscriptions: (db, app) => paid.endedProviderSubscriptions(db, app, 9),
  reversedProviderSubscriptions: (db, app) => paid.reversedProviderSubscriptions(db, app),
  pastDueProviderSubscriptions: (db, app) => paid.pastDueProviderSubscriptions(db, app),
  accessEnded: async (db, app) => [...(await paid.accessEnded(db, app, UID)).keys()],
  liveProviderSubscriptions: (db, app) => paid.liveProviderSubscriptions(db, app, 'all'),
  providerSubscriptionsOf: (db, app) => paid.providerSubscriptionsOf(db, app, 'stripe', 'cus_1'),
  countOfSampleUsers: (db, app) => countOfSampleUsers(db, app),
  countByPackage: (db, app) => revenue.countByPackage(db, app, Date.now()),
  countMovements: (db, app) => revenue.countMovements(db, app, 0, NOW),
  chargedPrices: (db, app) => revenue.chargedPrices(db, app, Date.now()),
  findFigures: (db, app) => revenue.findFigures(db, app, 30),
  listRevenue: (db, app) => listRevenue(db, app, 'NEW', { from: 0, now: NOW }, null, 9),
  'listRevenue, CANCELLED': (db, app) => listRevenue(db, app, 'CANCELLED', { from: 0, now: NOW }, null, 9),
  keepPayments: (db, app) =>
    payments.keepPayments(
      db,
      { appId: app, provider: 'stripe', ref: 'sub_1' },
      [{ ref: 'in_3', state: 'PAID', amount: 1, currency: 'usd', at: 0 }],
      0,
    ),
  insertDeclinedCharge: (db, app) =>
    payments.insertDeclinedCharge(
      db,
      { appId: app, provider: 'stripe', ref: 'recharging' },
      { currency: 'usd', at: 0 },
    ),
  deleteDeclinedCharge: (db, app) =>
    payments.deleteDeclinedCharge(db, { appId: app, provider: 'stripe', ref: 'in_2' }),
  paymentTotals: (db, app) => payments.paymentTotals(db, app, 0, NOW),
  listPayments: (db, app) => payments.listPayments(db, app, 'PAID', { from: 0, now: NOW }, null, 9),
  'listPayments, FAILED': (db, app) =>
    payments.listPayments(db, app, 'FAILED', { from: 0, now: NOW }, null, 9),
  paymentsOfBill: (db, app) =>
    payments.paymentsOfBill(db, { appId: app, provider: 'stripe', ref: 'sub_1' }, 9),
  paymentsOfUser: (db, app) => payments.paymentsOfUser(db, app, UID, null, 9),
  'paymentsOfUser, further ones': (db, app) =>
    payments.paymentsOfUser(db, app, UID, { at: NOW, seq: LAST }, 9),
  recurringChanges: (db, app) => series.recurringChanges(db, app, SPAN),
  paidPerDay: (db, app) => series.paidPerDay(db, app, SPAN),
  refundedPerDay: (db, app) => series.refundedPerDay(db, app, SPAN),
  movementsPerDay: (db, app) => series.movementsPerDay(db, app, SPAN),
  countLiveAt: (db, app) => series.countLiveAt(db, app, Date.now()),
  forgetSample: (db, app) => forgetSample(db, app),
  removeSampleItems: (db, app) => removeSampleItems(db, app, 'feature'),
  usersByAge: async (db, app) => [
    await userList.usersByAge(db, app, 'NEWEST', LAST, 9),
    await userList.usersByAge(db, app, 'OLDEST', 0, 9),
  ],
  usersByText: (db, app) => userList.usersByText(db, app, 'NAME', null, 9),
  'usersByText, further ones': (db, app) => userList.usersByText(db, app, 'EMAIL', { key: '', uid: 0 }, 9),
  usersWithoutPlan: async (db, app) => {
    await subscriptions.cancelNow(db, app, ['subscription'], NOW)
    return userList.usersWithoutPlan(db, app, LAST, 9, 9, NOW)
  },
  insertBulkChange: (db, app) =>
    bulk.insertBulkChange(db, app, {
      id: 'new',
      request: BULK.request,
      memberId: 1,
      memberEmail: 'o@example.com',
    }),
  findBulkChange: (db, app) => bulk.findBulkChange(db, app, 'bulk'),
  lockBulkChange: (db, app) => bulk.lockBulkChange(db, app, 'bulk'),
  listBulkChanges: (db, app) => bulk.listBulkChanges(db, app, 9),
  dropBulkChanges: (db, app) => bulk.dropBulkChanges(db, app, 1),
  countRunningBulkChanges: (db, app) => bulk.countRunningBulkChanges(db, app),
  noteBulkProblem: (db, app) => bulk.noteBulkProblem(db, app, BULK, 'busy'),
  endBulkWork: (db, app) => bulk.endBulkWork(db, app, BULK, 'CHECKED'),
  deleteBulkRows: (db, app) => bulkRows.deleteBulkRows(db, app, 'bulk', 9),
  setBulkState: (db, app) => bulk.setBulkState(db, app, 'bulk', 'FAILED'),
  endBulkCheck: (db, app) => bulk.endBulkCheck(db, app, BULK, 'no'),
  setBulkMember: (db, app) => bulk.setBulkMember(db, app, 'bulk', { id: 2, email: 'p@example.com' }),
  'addBulkRows, of which there are none': (db, app) => bulkRows.addBulkRows(db, app, BULK, [], 'x'),
  rowsToMove: (db, app) => bulkRows.rowsToMove(db, app, 'bulk', 'CHANGE', 9),
  keepUndo: (db, app) => bulkRows.keepUndo(db, app, 'bulk', 1, { packageId: 'plan', quantity: 1 }),
  moveRow: (db, app) => bulkRows.moveRow(db, app, 'bulk', BULK_ROW, 'DONE', null, null),
  listBulkRows: (db, app) => bulkRows.listBulkRows(db, app, 'bulk', null, 0, 9),
  'listBulkRows, of an outcome': (db, app) => bulkRows.listBulkRows(db, app, 'bulk', 'CHANGE', 0, 9),
  triedBefore: async (db, app) => {
    await subscriptions.endAt(db, app, 'subscription', NOW)
    await db.query(
      `update subscription set trial_ends_at = now() where app_id = $1 and id = 'subscription'`,
      [app],
    )
    return triedBefore(db, app, [UID], 'plan')
  },
  findSubscriptions: (db, app) => subscriptions.findSubscriptions(db, app, ['subscription'], NOW),
  livePlans: (db, app) => livePlans(db, app, [UID], NOW),
  listedUsers: async (db, app) => (await userList.listedUsers(db, app, [UID])).get(UID),
  countUsers: (db, app) => userList.countUsers(db, app, 9),
  searchUsers: (db, app) => searchUsers(db, app, 'ann', null, 9, 9),
  'searchUsers, by billing id': (db, app) => searchUsers(db, app, 'cus', null, 9, 9),
  'searchUsers, by part': (db, app) => searchUsers(db, app, 'us_1', null, 9, 9),
  ...Object.fromEntries(
    (
      [
        ['apiKey', 'key'],
        ['tokenKey', 'signer'],
        ['feature', 'calls'],
        ['package', 'plan'],
        ['migration', 'migration'],
        ['user', 'ann'],
        ['subscription', 'subscription'],
        ['subscriptions', 'ann'],
        ['overrides', 'ann'],
        ['usage', 'ann'],
        ['credit', 'credit'],
        ['reservation', 'reservation'],
        ['caps', 'ann'],
        ['autoRecharges', 'ann'],
        ['import', 'import'],
        ['price', 'price_1'],
        ['billingTemplate', 'template'],
        ['providerAccount', 'stripe'],
      ] as const
    ).map(([kind, id]) => [`snapshot, of ${kind}`, (db: Tx, app: string) => snapshot(db, kind, app, id)]),
  ),
  liveSubscribers: (db, app) => subscribers.liveSubscribers(db, app, 'plan', 0, 0, 9),
  newestSubscribers: (db, app) => subscribers.newestSubscribers(db, app, 'plan', 0, 9),
  countLive: async (db, app) => (await subscribers.countLive(db, app, ['plan'], 0, 9)).get('plan'),
  peopleOf: (db, app) => subscribers.peopleOf(db, app, [UID]),
  holders: async (db, app) => (await subscribers.holders(db, app, [UID], 0)).get(UID),
  usedOf: (db, app) => subscribers.usedOf(db, app, [COUNTER]),
  findSubscription: (db, app) => subscriptions.findSubscription(db, app, 'subscription', NOW),
  subscriptionsOfUser: (db, app) => subscriptions.subscriptionsOfUser(db, app, UID, NOW),
  listSubscriptions: (db, app) => subscriptions.listSubscriptions(db, app, null, 0, 9, NOW),
  'listSubscriptions, of a user': (db, app) => subscriptions.listSubscriptions(db, app, UID, 0, 9, NOW),
  filteredSubscriptions: (db, app) => filteredSubscriptions(db, app, ALL_SUBSCRIPTIONS, RANGE, 9, NOW),
  'filteredSubscriptions, all at once': (db, app) =>
    filteredSubscriptions(
      db,
      app,
      { userUids: [UID], packageId: 'plan', state: 'ACTIVE', provider: null, perUser: true },
      { ...RANGE, after: 0, oldestFirst: true },
      9,
      NOW,
    ),
  subscriptionsByAmount: (db, app) =>
    subscriptionsByAmount(db, app, ALL_SUBSCRIPTIONS, { after: null, down: true, most: 9 }, 9, NOW),
  countSubscriptions: (db, app) => countSubscriptions(db, app, ALL_SUBSCRIPTIONS, 9, NOW),
  settleByClock: (db, app) => successors.settleByClock(db, app, UID, Date.UTC(2100, 0)),
  deleteSuccessors: (db, app) => successors.deleteSuccessors(db, app, ['subscription'], 0),
  cancelNow: (db, app) => subscriptions.cancelNow(db, app, ['subscription'], NOW),
  cancelLater: (db, app) => subscriptions.cancelLater(db, app, ['subscription'], 0),
  endAt: (db, app) => subscriptions.endAt(db, app, 'subscription', NOW),
  followInstead: (db, app) => successors.followInstead(db, app, 'subscription', 'other'),
  moveTrialEnd: (db, app) => successors.moveTrialEnd(db, app, 'subscription', { at: NOW, nextAnchor: NOW }),
  endAddonsWithPlan: (db, app) => successors.endAddonsWithPlan(db, app, UID, { was: null, ends: NOW }),
  alignSuccessors: (db, app) => successors.alignSuccessors(db, app, UID, 0),
  keepOn: (db, app) => subscriptions.keepOn(db, app, ['subscription']),
  paymentsBehind: (db, app) => subscriptions.paymentsBehind(db, app, UID),
  followProvider: (db, app) =>
    subscriptions.followProvider(db, app, {
      id: 'subscription',
      anchor: 0,
      cancelAt: null,
      quantity: 1,
      trialEndsAt: null,
    }),
  currentTokenKey: (db, app) => tokenKeys.currentTokenKey(db, app),
  findTokenKey: (db, app) => tokenKeys.findTokenKey(db, new Keyring([]), app, 'signer', 60),
  listTokenKeys: (db, app) => tokenKeys.listTokenKeys(db, app),
  retireTokenKey: (db, app) => tokenKeys.retireTokenKey(db, app),
  revokeTokenKey: (db, app) => tokenKeys.revokeTokenKey(db, app, 'signer'),
  forgetTokenKeys: (db, app) => tokenKeys.forgetTokenKeys(db, app, 1),
  usageSince: (db, app) => usageSince(db, app, { id: 'u', uid: UID }, 'calls', 'MONTH', 0),
  usageOfFeature: async (db, app) => [...(await hours.usageOfFeature(db, seriesOf(app))).buckets.values()],
  burntCredits: async (db, app) => [
    ...((
      await hours.burntCredits(db, { appId: app, featureIds: ['calls'], from: 0, now: Date.UTC(2100, 0) })
    )?.units.values() ?? []),
  ],
  usageOfUser: async (db, app) => [...(await hours.usageOfUser(db, UID, seriesOf(app))).values()],
  userCompleteFrom: (db, app) => hours.userCompleteFrom(db, app, UID, 'calls'),
  subtractEntries: (db, app) => hours.subtractEntries(db, app, [String(UID)]),
  usersInImport: (db, app) => usersInImport(db, app, 'import', ['ann']),
  deleteRows: (db, app) => importRows.deleteRows(db, app, 'import', 0, 9),
  listImportRows: (db, app) => importRows.listImportRows(db, app, 'import', null, 0, 9),
  dropImports: (db, app) => imports.dropImports(db, app, 1),
  deleteUserImport: (db, app) => imports.deleteUserImport(db, app, 'gone'),
  findUserImport: (db, app) => imports.findUserImport(db, app, 'import'),
  listUserImports: (db, app) => imports.listUserImports(db, app),
  setImportState: (db, app) => imports.setImportState(db, app, 'import', 'FAILED', 'no'),
  touchImport: (db, app) => imports.touchImport(db, app, 'import'),
  noteProgress: (db, app) => imports.noteProgress(db, app, 'import', PROGRESS),
  updateUser: (db, app) => users.updateUser(db, app, ANN, { ...ANN, name: 'Other' }),
  findUser: (db, app) => users.findUser(db, app, 'ann'),
  findUsers: (db, app) => users.findUsers(db, app, ['ann']),
  findListedUser: (db, app) => users.findListedUser(db, app, 'ann'),
  findUserByUid: (db, app) => users.findUserByUid(db, app, UID),
  findTokenUser: (db, app) => users.findTokenUser(db, app, UID, 'signer'),
  holdUser: (db, app) => users.holdUser(db, app, 'ann'),
  lockUser: (db, app) => users.lockUser(db, app, 'ann'),
  lockUserByUid: (db, app) => users.lockUserByUid(db, app, UID),
  listUsers: (db, app) => users.listUsers(db, app, 0, 9),
  findUserByBillingId: (db, app) => users.findUserByBillingId(db, app, 'cus_1'),
  keepBillingId: (db, app) => users.keepBillingId(db, app, UID, 'cus_2', 'cus_1'),
  followCustomer: (db, app) => users.followCustomer(db, app, ANN, { email: null, name: 'Other' }),
  forgetBillingId: (db, app) => users.forgetBillingId(db, app, 'cus_1'),
  releaseDeliveries: (db, app) =>
    releaseDeliveries(db, [{ appId: app, endpointId: 'endpoint', seq: leased, lease: LEASE }]),
  listDeliveries: (db, app) =>
    deliveries.listDeliveries(db, app, { endpointId: 'endpoint', state: null }, LAST, 9),
  'listDeliveries, of a state': (db, app) =>
    deliveries.listDeliveries(db, app, { endpointId: 'endpoint', state: 'FAILED' }, LAST, 9),
  resendDeliveries: (db, app) => deliveries.resendDeliveries(db, app, 'endpoint', ['evt_1', 'evt_leased']),
  'resendDeliveries, for the first time': (db, app) =>
    deliveries.resendDeliveries(db, app, 'disabled', ['evt_1']),
  resendFailed: (db, app) => deliveries.resendFailed(db, app, 'endpoint', { from: null, to: null, limit: 9 }),
  listEndpoints: (db, app) => endpoints.listEndpoints(db, app),
  findEndpoint: (db, app) => endpoints.findEndpoint(db, app, 'endpoint'),
  lockEndpoint: (db, app) => endpoints.lockEndpoint(db, app, 'endpoint'),
  countEndpoints: (db, app) => endpoints.countEndpoints(db, app),
  updateEndpoint: (db, app) => endpoints.updateEndpoint(db, app, ENDPOINT),
  enableEndpoint: (db, app) => endpoints.enableEndpoint(db, app, 'disabled'),
  disableEndpoint: (db, app) => endpoints.disableEndpoint(db, app, 'endpoint', 'FAILING'),
  replaceSecret: (db, app) => endpoints.replaceSecret(db, app, 'endpoint', Buffer.from('other'), 24),
  deleteEndpoint: (db, app) => endpoints.deleteEndpoint(db, app, 'endpoint'),
}

/** These write rows under the app that they are given and look for none; the last ones only wait. */
const ONLY_INSERT = [
  // They do nothing on one server: remote-cells.test.ts has several.
  'holdLedgerToDelete',
  'holdReferences',
  'noteBillingIds',
  'addToHistory',
  ...['emit', 'emitUsage', 'insertFanout', 'planEntitlements'],
  ...['enrol', 'enrolSpender', 'insertCredit', 'insertReservation', 'storeCap'],
  ...['storeRechargeRule', 'insertRechargeAttempt'],
  ...[
    'claimKey',
    'insertApiKey',
    'insertBadRows',
    'insertBulkChange',
    'insertCheckoutSession',
    'insertFeature',
    'insertFoundFailure',
    'insertKeyEntry',
  ],
  ...[
    'insertNotice',
    'insertPackage',
    'insertPackageFeatures',
    'insertPackages',
    'insertFeatures',
    'insertFeaturesOfPackages',
    'insertPayer',
    'insertPrice',
  ],
  ...[
    'insertSampleCalls',
    'insertSampleDenials',
    'insertSampleFeatureCalls',
    'insertSampleRecent',
    'insertSampleSubscriptions',
    'insertSampleUsage',
  ],
  ...[
    'insertSampleUsers',
    'insertSubscriptions',
    'insertSuccessor',
    'insertTemplate',
    'insertTokenKey',
    'insertUser',
  ],
  ...[
    'insertUserImport',
    'noteSample',
    'createImportedUsers',
    // It removes what that has added: see import-creates.test.ts.
    'removeImportedUsers',
    'stageRows',
    'replaceApiKey',
    'upsertProviderAccount',
  ],
  ...['insertErasedRefs', 'writeProviderSubscription', 'holdErasures', 'lockErasures'],
  ...['insertEndpoint', 'insertTestDelivery'],
  ...['keepFigures', 'tryLockFigures', 'insertSampleBills'],
  // They only say which cell a transaction works in, and do nothing where there is one: see cells.test.ts.
  ...['bucketOf', 'enterCell', 'enterCellOf', 'inCellsOf', 'moveForNewId', 'readInCellOf'],
]

const store = shared(openStoreInCell)
let all: unknown
beforeAll(async () => {
  await furnishApp(store.pool)
  const seqs = await store.pool.query<{ seq: number }>('select seq from notice order by seq')
  ;[pending = 0, failed = 0] = seqs.rows.map(({ seq }) => seq)
  const ofLease = await store.pool.query<{ seq: number }>(
    'select seq from webhook_delivery where lease = $1',
    [LEASE],
  )
  leased = ofLease.rows[0]?.seq ?? 0
  all = await allOf(store.pool, 'ours')
})

/** The result of a call and all rows afterwards; then the call is rolled back. */
async function tried(call: (db: UserTx, app: string) => Promise<unknown>, app: string) {
  const tx = await store.pool.connect()
  try {
    await tx.query('begin')
    const result = await call(inItsPlace(tx), app)
    return { result, after: await allOf(tx, 'ours') }
  } finally {
    await tx.query('rollback')
    tx.release()
  }
}

function isNothing(value: unknown): boolean {
  if (value instanceof Map || value instanceof Set) return value.size === 0
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isNothing)
  return value === undefined || value === null || value === false || value === 0
}

/** They differ from call to call, as times of today do. */
const CHANGING = ['ageMs', 'seq', 'txn', 'version']

function timeless(value: unknown): unknown {
  const now = Date.now()
  // Of a replaced secret, which still works for a day.
  const tomorrow = now + 86_400_000
  const isNow = (time: unknown) =>
    typeof time === 'number' && [now, tomorrow].some((near) => Math.abs(time - near) < 3_600_000)
  return JSON.parse(
    JSON.stringify(value, (key, one) => {
      if (CHANGING.includes(key) || (key === 'id' && typeof one === 'number')) return
      if (one instanceof Map || one instanceof Set) return [...one]
      return isNow(one) || (typeof one === 'string' && isNow(Date.parse(one))) ? 'now' : one
    }) ?? 'null',
  )
}

describe('every app for itself, in the store', () => {
  describe('and its twin with the same ids', () => {
    let tx: Tx
    let twin: unknown
    // One transaction for all calls, each of which is rolled back: the twin is made once.
    beforeAll(async () => {
      tx = await store.pool.connect()
      await tx.query('begin')
      await furnishTwin(tx)
      twin = await allOf(tx, 'twin')
      await tx.query('savepoint before')
    })
    afterEach(async () => {
      await tx.query('rollback to before')
    })
    afterAll(async () => {
      await tx?.query('rollback')
      tx?.release()
    })

    it.each(Object.entries(CALLS))('%s', async (_, call) => {
      const theirs = await tried(call, 'theirs')
      expect(isNothing(theirs.result), JSON.stringify(theirs.result)).toBe(true)
      expect(theirs.after).toEqual(all)
      const ours = await tried(call, 'ours')
      if (isNothing(ours.result)) expect(ours.after).not.toEqual(all)
      const beside = { result: await call(inItsPlace(tx), 'ours'), after: await allOf(tx, 'ours') }
      expect(timeless(beside)).toEqual(timeless(ours))
      expect(await allOf(tx, 'twin')).toEqual(twin)
    })
  })

  it('leaves no function of the store out that is told an app', () => {
    const named = new Set([...Object.keys(CALLS).map((name) => name.split(',')[0]), ...ONLY_INSERT])
    expect(functionsOfApps().filter((name) => !named.has(name))).toEqual([])
  })
})

describe('gap: an app that is deleted', () => {
  it('leaves nothing in any table, whatever the size of a batch, and one with the same ids as it is', async () => {
    for (const most of [1, 3, 1_000]) {
      const tx = await store.pool.connect()
      try {
        await tx.query('begin')
        await furnishBooks(tx)
        const kept = (await allOf(tx, 'ours')) as { name: string; rows: unknown[] | null }[]
        expect(kept.filter(({ rows }) => rows === null)).toEqual([])
        await furnishTwin(tx)
        const twin = await allOf(tx, 'twin')
        await removal.beginAppDeletion(tx, 'ours')
        let batches = 0
        while (await removal.deleteAppBatch(tx, 'ours', most)) batches += 1
        const rows = kept.reduce((sum, { name, rows }) => sum + (name === 'app' ? 0 : (rows?.length ?? 0)), 0)
        // Where there are several cells, a billing id that is noted beside them goes with its user.
        expect(batches).toBe(Math.ceil((rows - (TEST_CELLS > 1 ? 1 : 0)) / most))
        const left = (await allOf(tx, 'ours')) as { name: string; rows: unknown[] | null }[]
        expect(left.filter(({ rows }) => rows !== null)).toEqual([])
        expect(await allOf(tx, 'twin')).toEqual(twin)
      } finally {
        await tx.query('rollback')
        tx.release()
      }
    }
  })

  it('is not touched unless somebody asked for it', async () => {
    const { result, after } = await tried((tx, app) => removal.deleteAppBatch(tx, app, 9), 'ours')
    expect(result).toBe(false)
    expect(after).toEqual(all)
  })
})

/** The exported functions of the store that have an `appId` among their parameters. */
function functionsOfApps(): string[] {
  const folder = new URL('../../src/store/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  return files.flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8')
    return ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true).statements.flatMap((statement) => {
      if (!ts.isFunctionDeclaration(statement) || !statement.name) return []
      const exported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      const told = statement.parameters.some((parameter) => /\bappId\b/.test(parameter.getText()))
      return exported && told ? [statement.name.text] : []
    })
  })
}
