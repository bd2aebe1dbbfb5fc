const PRICE = 'id provider amount displayAmount currency interval'
export const PACKAGE = `id name status metadata isAddon updatedAt archived prices { ${PRICE} }`
export const PACKAGE_FEATURE = 'id name limit type unitLabel unitLabelPlural metadata'
export const SUBSCRIPTION = `id userId status metadata startedAt cancelAt cancelledAt trialEndsAt quantity packageVersion scheduled { packageId at } package { ${PACKAGE} }`
export const REVERSALS =
  'reversals { paymentRef amount refunded currency paidAt periodStart periodEnd refundedAt dispute { state reason openedAt } }'
export const OVERRIDE = 'userId featureId mode limit overageEnabled resetPeriod startedAt expiresAt reason'
export const CREDIT =
  'id userId featureId amount bought provider used reserved kind priority effectiveAt expiresAt state reason'
export const RESERVATION = 'id userId featureId reserved settled state createdAt expiresAt late reason'
export const CAP = 'userId featureId entity limit period used reserved resetsAt'
export const AUTO_RECHARGE =
  'userId featureId below upTo priceId maxSpendPerPeriod spent state declines waitsUntil reason'
export const MIGRATION =
  'id packageId fromVersion toVersion when at status subscriptions moved gains loses moreOverage lessOverage features { featureId gains loses moreOverage lessOverage } undoneAt'
export const WEBHOOK_ENDPOINT =
  'id url types description enabled disabledReason disabledAt failingSince previousSecretUntil createdAt'
export const WEBHOOK_DELIVERIES =
  'nodes { id eventId type state attemptCount nextAttemptAt attempts { at durationMs status error body } body createdAt } next'
export const CONSUMPTION = 'consumption { budget used overageEnabled }'
export const CHECK = `featureId access reason reasonCode ${CONSUMPTION}`
export const CHECK_WITH_SOURCES =
  'featureId access reason reasonCode deniedBy sources { kind id poolId cost left expiresAt } consumption { budget used overageEnabled overageCap reserved remaining }'
export const USAGE_PERIOD = `periodStart periodEnd ${CONSUMPTION}`
