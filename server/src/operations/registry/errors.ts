import type { ErrorCode } from '../../domain/errors.ts'
import type { AdminMutation, AdminQuery } from './registry.ts'

/** The errors of each operation of the Admin API, without the errors that every operation can return. */
export const ADMIN_ERRORS: Readonly<Record<AdminQuery | AdminMutation, readonly ErrorCode[]>> = {
  canUseFeature: [],
  canUseFeatures: [],
  recordUsage: [],
  recordUsages: [],
  showUsage: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
  usageSeries: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],

  feature: ['FEATURE_NOT_FOUND'],
  features: [],
  createFeature: [],
  updateFeature: ['FEATURE_NOT_FOUND'],

  package: ['PACKAGE_NOT_FOUND'],
  packages: [],
  createPackage: ['FEATURE_NOT_FOUND'],
  updatePackage: ['PACKAGE_NOT_FOUND'],
  migration: ['MIGRATION_NOT_FOUND'],
  migrateSubscriptions: ['PACKAGE_NOT_FOUND'],
  undoMigration: ['MIGRATION_NOT_FOUND'],

  user: ['USER_NOT_FOUND'],
  users: [],
  exportUser: ['USER_NOT_FOUND'],
  createUser: [],
  updateUser: ['USER_NOT_FOUND'],
  deleteUser: ['USER_NOT_FOUND', 'BILLING_PROVIDER_ERROR'],
  generateUserToken: ['USER_NOT_FOUND'],

  events: ['EVENTS_EXPIRED'],
  overrides: ['USER_NOT_FOUND'],
  setOverride: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
  removeOverride: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],

  credits: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
  addCredit: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND', 'CONFLICT'],
  voidCredit: ['CREDIT_NOT_FOUND'],
  reservations: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
  caps: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
  setCap: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
  removeCap: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND'],
  reserveUsage: ['USER_NOT_FOUND', 'FEATURE_NOT_FOUND', 'CONFLICT'],
  extendReservation: ['RESERVATION_NOT_FOUND', 'CONFLICT'],
  settleReservation: ['RESERVATION_NOT_FOUND', 'CONFLICT'],
  releaseReservation: ['RESERVATION_NOT_FOUND', 'CONFLICT'],

  subscription: ['SUBSCRIPTION_NOT_FOUND'],
  subscriptions: [],
  subscribe: ['USER_NOT_FOUND'],
  cancelSubscription: ['SUBSCRIPTION_NOT_FOUND', 'BILLING_PROVIDER_ERROR'],
  keepSubscription: ['SUBSCRIPTION_NOT_FOUND', 'BILLING_PROVIDER_ERROR'],
  changeSubscription: ['USER_NOT_FOUND', 'PACKAGE_NOT_FOUND', 'BILLING_PROVIDER_ERROR'],
  cancelScheduledChange: ['USER_NOT_FOUND', 'BILLING_PROVIDER_ERROR'],
  startTrial: ['USER_NOT_FOUND', 'PACKAGE_NOT_FOUND'],
  extendTrial: ['SUBSCRIPTION_NOT_FOUND'],

  webhookEndpoints: [],
  createWebhookEndpoint: [],
  updateWebhookEndpoint: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  rotateWebhookSecret: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  deleteWebhookEndpoint: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  sendTestEvent: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  webhookDeliveries: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  resendEvents: ['WEBHOOK_ENDPOINT_NOT_FOUND'],
  resendFailedEvents: ['WEBHOOK_ENDPOINT_NOT_FOUND'],

  generateCreditLink: ['USER_NOT_FOUND', 'PRICE_NOT_FOUND', 'SUBSCRIPTION_LINK_ERROR'],
  generateSubscriptionLink: ['USER_NOT_FOUND', 'SUBSCRIPTION_LINK_ERROR'],
}
