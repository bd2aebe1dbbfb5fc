import { CHECK, PACKAGE, PACKAGE_FEATURE, SUBSCRIPTION, USAGE_PERIOD } from '../selections.ts'

/** The one document of each operation of the client API. Each selects one field, of the same name. */
export const CLIENT_DOCUMENTS = {
  canUseFeature: `query canUseFeature($featureId: String!, $delta: Int) { canUseFeature(featureId: $featureId, delta: $delta) { ${CHECK} } }`,
  canUseFeatures: `query canUseFeatures($featureIds: [String!]!) { canUseFeatures(featureIds: $featureIds) { ${CHECK} } }`,
  showUsage: `query showUsage($featureId: String!) { showUsage(featureId: $featureId) { current { ${USAGE_PERIOD} } } }`,
  packages: `query packages { packages { ${PACKAGE} features { ${PACKAGE_FEATURE} } } }`,
  subscriptions: `query subscriptions { subscriptions { ${SUBSCRIPTION} } }`,
} as const

export type ClientOperation = keyof typeof CLIENT_DOCUMENTS
