import {
  AUTO_RECHARGE,
  CAP,
  CHECK,
  CHECK_WITH_SOURCES,
  CONSUMPTION,
  CREDIT,
  MIGRATION,
  OVERRIDE,
  PACKAGE,
  PACKAGE_FEATURE,
  RESERVATION,
  REVERSALS,
  SUBSCRIPTION,
  USAGE_PERIOD,
  WEBHOOK_DELIVERIES,
  WEBHOOK_ENDPOINT,
} from './selections.ts'

const FEATURES_IF_ASKED = `features @include(if: $includeFeatures) { ${PACKAGE_FEATURE} }`
const FEATURE = `id name type unitLabel unitLabelPlural metadata thresholds costs { featureId cost } archived packages { ${PACKAGE} }`
const USER = 'id billingId name email metadata'
const FEATURE_CHANGE = `featureId name before { ${CHECK} } after { ${CHECK} }`
const RECORDED = `recorded reason ${CONSUMPTION}`

/** A check, with what it answers. */
const check = (selection: string) =>
  `query canUseFeature($userId: String!, $featureId: String!, $delta: Int, $entities: [String!]) {
    canUseFeature(userId: $userId, featureId: $featureId, delta: $delta, entities: $entities) { ${selection} }
  }`

/** In place of `DOCUMENTS.canUseFeature`, if the caller asks for sources. */
export const DETAILED_CHECK = check(CHECK_WITH_SOURCES)

/** The one document of each operation. Each selects one field, of the same name. */
export const DOCUMENTS = {
  feature: `query feature($id: String!) { feature(id: $id) { ${FEATURE} } }`,
  features: `query features($first: Int, $after: String) {
    features(first: $first, after: $after) { ${FEATURE} }
  }`,
  canUseFeature: check(CHECK),
  canUseFeatures: `query canUseFeatures($userId: String!, $featureIds: [String!]!) {
    canUseFeatures(userId: $userId, featureIds: $featureIds) { ${CHECK} }
  }`,
  showUsage: `query showUsage($userId: String!, $featureId: String!) {
    showUsage(userId: $userId, featureId: $featureId) { current { ${USAGE_PERIOD} } }
  }`,
  usageSeries: `query usageSeries(
    $featureId: String!, $userId: String, $from: String!, $to: String!, $bucket: UsageBucket!
  ) {
    usageSeries(featureId: $featureId, userId: $userId, from: $from, to: $to, bucket: $bucket) {
      total completeFrom points { at used }
    }
  }`,
  package: `query package($id: String!, $includeFeatures: Boolean!) {
    package(id: $id) { ${PACKAGE} ${FEATURES_IF_ASKED} }
  }`,
  packages: `query packages($status: String, $first: Int, $after: String, $includeFeatures: Boolean!) {
    packages(status: $status, first: $first, after: $after) { ${PACKAGE} ${FEATURES_IF_ASKED} }
  }`,
  user: `query user($id: String!) { user(id: $id) { ${USER} } }`,
  exportUser: `query exportUser($id: String!, $after: String) { exportUser(id: $id, after: $after) }`,
  users: `query users($first: Int, $after: String) { users(first: $first, after: $after) { ${USER} } }`,
  subscription: `query subscription($id: String!) { subscription(id: $id) { ${SUBSCRIPTION} ${REVERSALS} } }`,
  subscriptions: `query subscriptions($userId: String, $first: Int, $after: String) {
    subscriptions(userId: $userId, first: $first, after: $after) { ${SUBSCRIPTION} ${REVERSALS} }
  }`,
  events: `query events($after: String, $types: [String!], $userId: String, $first: Int) {
    events(after: $after, types: $types, userId: $userId, first: $first) {
      nodes { id type at userId sequence cursor data } next
    }
  }`,
  overrides: `query overrides($userId: String!) { overrides(userId: $userId) { ${OVERRIDE} } }`,
  credits: `query credits($userId: String!, $featureId: String, $state: CreditState, $first: Int, $after: String) {
    credits(userId: $userId, featureId: $featureId, state: $state, first: $first, after: $after) { ${CREDIT} }
  }`,
  reservations: `query reservations(
    $userId: String!, $featureId: String, $state: ReservationState, $first: Int, $after: String
  ) {
    reservations(userId: $userId, featureId: $featureId, state: $state, first: $first, after: $after) {
      ${RESERVATION}
    }
  }`,
  addCredit: `mutation addCredit($input: CreditInput!) { addCredit(input: $input) { ${CREDIT} } }`,
  voidCredit: `mutation voidCredit($id: String!, $reason: String) {
    voidCredit(id: $id, reason: $reason) { ${CREDIT} }
  }`,
  generateCreditLink: `mutation generateCreditLink(
    $userId: String!, $priceId: String!, $quantity: Int, $successUrl: String!, $cancelUrl: String!, $saveCard: Boolean
  ) {
    generateCreditLink(
      userId: $userId, priceId: $priceId, quantity: $quantity, successUrl: $successUrl, cancelUrl: $cancelUrl,
      saveCard: $saveCard
    ) { url }
  }`,
  autoRecharges: `query autoRecharges($userId: String!, $featureId: String) {
    autoRecharges(userId: $userId, featureId: $featureId) { ${AUTO_RECHARGE} }
  }`,
  setAutoRecharge: `mutation setAutoRecharge($input: AutoRechargeInput!) {
    setAutoRecharge(input: $input) { ${AUTO_RECHARGE} }
  }`,
  removeAutoRecharge: `mutation removeAutoRecharge($userId: String!, $featureId: String!) {
    removeAutoRecharge(userId: $userId, featureId: $featureId) { ${AUTO_RECHARGE} }
  }`,
  caps: `query caps($userId: String!, $featureId: String) {
    caps(userId: $userId, featureId: $featureId) { ${CAP} }
  }`,
  setCap: `mutation setCap($input: CapInput!) { setCap(input: $input) { ${CAP} } }`,
  removeCap: `mutation removeCap($userId: String!, $featureId: String!, $entity: String, $period: ResetPeriod!) {
    removeCap(userId: $userId, featureId: $featureId, entity: $entity, period: $period) { ${CAP} }
  }`,
  reserveUsage: `mutation reserveUsage($input: ReservationInput!) {
    reserveUsage(input: $input) { ${RESERVATION} }
  }`,
  extendReservation: `mutation extendReservation($id: String!, $ttlSeconds: Int, $add: SafeInt) {
    extendReservation(id: $id, ttlSeconds: $ttlSeconds, add: $add) { ${RESERVATION} }
  }`,
  settleReservation: `mutation settleReservation(
    $id: String!, $amount: SafeInt!, $final: Boolean, $ifOver: IfOver
  ) {
    settleReservation(id: $id, amount: $amount, final: $final, ifOver: $ifOver) { ${RESERVATION} }
  }`,
  releaseReservation: `mutation releaseReservation($id: String!) {
    releaseReservation(id: $id) { ${RESERVATION} }
  }`,
  migration: `query migration($id: String!) { migration(id: $id) { ${MIGRATION} } }`,
  webhookEndpoints: `query webhookEndpoints { webhookEndpoints { ${WEBHOOK_ENDPOINT} } }`,
  webhookDeliveries: `query webhookDeliveries(
    $endpointId: String!, $state: WebhookDeliveryState, $first: Int, $after: String
  ) {
    webhookDeliveries(endpointId: $endpointId, state: $state, first: $first, after: $after) { ${WEBHOOK_DELIVERIES} }
  }`,
  createFeature: `mutation createFeature($input: CreateFeatureInput!) {
    createFeature(input: $input) { ${FEATURE} }
  }`,
  updateFeature: `mutation updateFeature($id: String!, $input: UpdateFeatureInput!) {
    updateFeature(id: $id, input: $input) { ${FEATURE} }
  }`,
  createPackage: `mutation createPackage($input: CreatePackageInput!) {
    createPackage(input: $input) { ${PACKAGE} features { ${PACKAGE_FEATURE} } }
  }`,
  updatePackage: `mutation updatePackage($id: String!, $input: UpdatePackageInput!) {
    updatePackage(id: $id, input: $input) { ${PACKAGE} }
  }`,
  createUser: `mutation createUser($input: CreateUserInput!) { createUser(input: $input) { ${USER} } }`,
  updateUser: `mutation updateUser($id: String!, $input: UpdateUserInput!) {
    updateUser(id: $id, input: $input) { ${USER} }
  }`,
  deleteUser: `mutation deleteUser($id: String!) { deleteUser(id: $id) { id } }`,
  subscribe: `mutation subscribe($userId: String!, $packageIds: [String!]!, $quantities: [Int!]) {
    subscribe(userId: $userId, packageIds: $packageIds, quantities: $quantities) { ${SUBSCRIPTION} }
  }`,
  cancelSubscription: `mutation cancelSubscription($id: String!, $atPeriodEnd: Boolean) {
    cancelSubscription(id: $id, atPeriodEnd: $atPeriodEnd) { ${SUBSCRIPTION} }
  }`,
  keepSubscription: `mutation keepSubscription($id: String!) { keepSubscription(id: $id) { ${SUBSCRIPTION} } }`,
  setOverride: `mutation setOverride($input: OverrideInput!) { setOverride(input: $input) { ${OVERRIDE} } }`,
  removeOverride: `mutation removeOverride($userId: String!, $featureId: String!) {
    removeOverride(userId: $userId, featureId: $featureId) { ${OVERRIDE} }
  }`,
  migrateSubscriptions: `mutation migrateSubscriptions($packageId: String!, $fromVersion: Int!, $toVersion: Int!, $when: ChangeTime, $dryRun: Boolean) {
    migrateSubscriptions(packageId: $packageId, fromVersion: $fromVersion, toVersion: $toVersion, when: $when, dryRun: $dryRun) { ${MIGRATION} }
  }`,
  undoMigration: `mutation undoMigration($id: String!) { undoMigration(id: $id) { ${MIGRATION} } }`,
  changeSubscription: `mutation changeSubscription(
    $userId: String!, $packageId: String!, $when: ChangeTime, $quantity: Int, $dryRun: Boolean
  ) {
    changeSubscription(userId: $userId, packageId: $packageId, when: $when, quantity: $quantity, dryRun: $dryRun) {
      at now from { ${PACKAGE} } to { ${PACKAGE} } gains { ${FEATURE_CHANGE} } loses { ${FEATURE_CHANGE} }
      moreOverage { ${FEATURE_CHANGE} } lessOverage { ${FEATURE_CHANGE} }
      credit charge currency quotedBy formula subscription { ${SUBSCRIPTION} }
    }
  }`,
  cancelScheduledChange: `mutation cancelScheduledChange($userId: String!) {
    cancelScheduledChange(userId: $userId) { ${SUBSCRIPTION} }
  }`,
  startTrial: `mutation startTrial(
    $userId: String!, $packageId: String!, $days: Int, $until: String, $then: String, $again: Boolean
  ) {
    startTrial(userId: $userId, packageId: $packageId, days: $days, until: $until, then: $then, again: $again) {
      ${SUBSCRIPTION}
    }
  }`,
  extendTrial: `mutation extendTrial($id: String!, $until: String!) {
    extendTrial(id: $id, until: $until) { ${SUBSCRIPTION} }
  }`,
  recordUsage: `mutation recordUsage($input: CreateUsageEventInput!) {
    recordUsage(input: $input) { ${RECORDED} }
  }`,
  recordUsages: `mutation recordUsages($inputs: [CreateUsageEventInput!]!) {
    recordUsages(inputs: $inputs) { ${RECORDED} }
  }`,
  createWebhookEndpoint: `mutation createWebhookEndpoint($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) { id secret endpoint { ${WEBHOOK_ENDPOINT} } }
  }`,
  updateWebhookEndpoint: `mutation updateWebhookEndpoint($id: String!, $input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(id: $id, input: $input) { ${WEBHOOK_ENDPOINT} }
  }`,
  rotateWebhookSecret: `mutation rotateWebhookSecret($id: String!) {
    rotateWebhookSecret(id: $id) { id secret endpoint { ${WEBHOOK_ENDPOINT} } }
  }`,
  deleteWebhookEndpoint: `mutation deleteWebhookEndpoint($id: String!) { deleteWebhookEndpoint(id: $id) { id } }`,
  sendTestEvent: `mutation sendTestEvent($endpointId: String!) { sendTestEvent(endpointId: $endpointId) { id type at } }`,
  resendEvents: `mutation resendEvents($endpointId: String!, $eventIds: [String!]!) {
    resendEvents(endpointId: $endpointId, eventIds: $eventIds) { resent more }
  }`,
  resendFailedEvents: `mutation resendFailedEvents($endpointId: String!, $from: String, $to: String) {
    resendFailedEvents(endpointId: $endpointId, from: $from, to: $to) { resent more }
  }`,
  generateUserToken: `mutation generateUserToken($userId: String!) { generateUserToken(userId: $userId) { token } }`,
} as const

export type Operation = keyof typeof DOCUMENTS

export const isMutation = (operation: Operation): boolean => DOCUMENTS[operation].startsWith('mutation')
