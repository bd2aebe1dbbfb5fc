import type { AdminMutation, AdminQuery } from '../operations/registry/registry.ts'

/**
 * How REST calls an operation of the Admin API. The operation's arguments and result come from the schema: a name in the
 * path is the argument of that name, or a field of the argument `input`; the remaining arguments are in the query string
 * of a GET or DELETE, and otherwise in the body, which is the argument `input` if there is one.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/v1/${string}`
  /** names in the path, query string or body that differ from the argument's */
  names?: Readonly<Record<string, string>>
  /** arguments without a meaning in REST */
  without?: readonly string[]
  /** Answers 201, unless it is a dry run. */
  creates?: true
  /** the field whose value in the last item of a page is the cursor of the next page; by default `id` */
  cursor?: string
  /** the field with the items, for a result that is a page; in the answer it is `data`, next to `next` */
  page?: string
}

/** The route of every operation of the Admin API. */
export const ROUTES: Readonly<Record<AdminQuery | AdminMutation, Route>> = {
  canUseFeature: { method: 'POST', path: '/v1/check' },
  canUseFeatures: { method: 'POST', path: '/v1/checks' },

  recordUsage: { method: 'POST', path: '/v1/usage' },
  recordUsages: { method: 'POST', path: '/v1/usage/batch', names: { events: 'inputs' } },
  showUsage: { method: 'GET', path: '/v1/usage' },
  usageSeries: { method: 'GET', path: '/v1/usage/series' },

  features: { method: 'GET', path: '/v1/features' },
  createFeature: { method: 'POST', path: '/v1/features', creates: true },
  feature: { method: 'GET', path: '/v1/features/{id}' },
  updateFeature: { method: 'PATCH', path: '/v1/features/{id}' },

  packages: { method: 'GET', path: '/v1/packages', without: ['includeFeatures'] },
  createPackage: { method: 'POST', path: '/v1/packages', creates: true },
  package: { method: 'GET', path: '/v1/packages/{id}', without: ['includeFeatures'] },
  updatePackage: { method: 'PATCH', path: '/v1/packages/{id}' },

  migrateSubscriptions: {
    method: 'POST',
    path: '/v1/packages/{id}/migrations',
    names: { id: 'packageId' },
    creates: true,
  },
  migration: { method: 'GET', path: '/v1/migrations/{id}' },
  undoMigration: { method: 'POST', path: '/v1/migrations/{id}/undo' },

  users: { method: 'GET', path: '/v1/users' },
  createUser: { method: 'POST', path: '/v1/users', creates: true },
  user: { method: 'GET', path: '/v1/users/{id}' },
  updateUser: { method: 'PATCH', path: '/v1/users/{id}' },
  deleteUser: { method: 'DELETE', path: '/v1/users/{id}' },
  exportUser: { method: 'GET', path: '/v1/users/{id}/export' },

  changeSubscription: { method: 'POST', path: '/v1/users/{id}/change-plan', names: { id: 'userId' } },
  startTrial: { method: 'POST', path: '/v1/users/{id}/start-trial', names: { id: 'userId' } },
  cancelScheduledChange: {
    method: 'POST',
    path: '/v1/users/{id}/cancel-scheduled-change',
    names: { id: 'userId' },
  },

  overrides: {
    method: 'GET',
    path: '/v1/users/{id}/overrides',
    names: { id: 'userId' },
    cursor: 'featureId',
  },
  setOverride: { method: 'PUT', path: '/v1/users/{id}/overrides/{featureId}', names: { id: 'userId' } },
  removeOverride: { method: 'DELETE', path: '/v1/users/{id}/overrides/{featureId}', names: { id: 'userId' } },

  credits: { method: 'GET', path: '/v1/credits' },
  addCredit: { method: 'POST', path: '/v1/credits', creates: true },
  voidCredit: { method: 'POST', path: '/v1/credits/{id}/void' },
  caps: { method: 'GET', path: '/v1/caps' },
  setCap: { method: 'PUT', path: '/v1/caps' },
  removeCap: { method: 'DELETE', path: '/v1/caps' },
  autoRecharges: { method: 'GET', path: '/v1/auto-recharges' },
  setAutoRecharge: { method: 'PUT', path: '/v1/auto-recharges' },
  removeAutoRecharge: { method: 'DELETE', path: '/v1/auto-recharges' },
  reservations: { method: 'GET', path: '/v1/reservations' },
  reserveUsage: { method: 'POST', path: '/v1/reservations', creates: true },
  extendReservation: { method: 'POST', path: '/v1/reservations/{id}/extend' },
  settleReservation: { method: 'POST', path: '/v1/reservations/{id}/settle' },
  releaseReservation: { method: 'POST', path: '/v1/reservations/{id}/release' },

  subscriptions: { method: 'GET', path: '/v1/subscriptions' },
  subscribe: { method: 'POST', path: '/v1/subscriptions', creates: true },
  subscription: { method: 'GET', path: '/v1/subscriptions/{id}' },
  cancelSubscription: { method: 'POST', path: '/v1/subscriptions/{id}/cancel' },
  keepSubscription: { method: 'POST', path: '/v1/subscriptions/{id}/keep' },
  extendTrial: { method: 'POST', path: '/v1/subscriptions/{id}/extend-trial' },

  events: { method: 'GET', path: '/v1/events', page: 'nodes' },

  webhookEndpoints: { method: 'GET', path: '/v1/webhook-endpoints' },
  createWebhookEndpoint: { method: 'POST', path: '/v1/webhook-endpoints', creates: true },
  updateWebhookEndpoint: { method: 'PATCH', path: '/v1/webhook-endpoints/{id}' },
  deleteWebhookEndpoint: { method: 'DELETE', path: '/v1/webhook-endpoints/{id}' },
  rotateWebhookSecret: { method: 'POST', path: '/v1/webhook-endpoints/{id}/rotate-secret' },
  sendTestEvent: { method: 'POST', path: '/v1/webhook-endpoints/{id}/test', names: { id: 'endpointId' } },
  webhookDeliveries: {
    method: 'GET',
    path: '/v1/webhook-endpoints/{id}/deliveries',
    names: { id: 'endpointId' },
    page: 'nodes',
  },
  resendEvents: { method: 'POST', path: '/v1/webhook-endpoints/{id}/resend', names: { id: 'endpointId' } },
  resendFailedEvents: {
    method: 'POST',
    path: '/v1/webhook-endpoints/{id}/resend-failed',
    names: { id: 'endpointId' },
  },

  generateSubscriptionLink: { method: 'POST', path: '/v1/payment-links', creates: true },
  generateCreditLink: { method: 'POST', path: '/v1/credit-links', creates: true },
  generateUserToken: { method: 'POST', path: '/v1/user-tokens', creates: true },
}

/** Server-sent events: the only route that is no operation. */
export const EVENT_STREAM_PATH = '/v1/events/stream'
