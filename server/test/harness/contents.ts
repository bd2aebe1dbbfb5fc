import type { FeatureContent, PackageContent } from '../../src/domain/catalogue.ts'
import type { Entitlement } from '../../src/domain/package.ts'
import type { UserEntitlement } from '../../src/domain/user-entitlement.ts'

// Parts of a catalogue, for tests of the domain.

export const featureContent = (id: string, more: Partial<FeatureContent> = {}): FeatureContent => ({
  id,
  name: id,
  type: 'CONSUMABLE',
  unitLabel: null,
  unitLabelPlural: null,
  metadata: {},
  overridePeriods: [],
  spends: false,
  archived: false,
  ...more,
})

/** Grants 10 a month. */
export const entitlement = (featureId: string, more: Partial<Entitlement> = {}): Entitlement => ({
  featureId,
  limit: 10,
  resetPeriod: 'MONTH',
  overageEnabled: false,
  ...more,
})

/** A published base plan that grants nothing. */
export const packageContent = (id: string, more: Partial<PackageContent> = {}): PackageContent => ({
  id,
  name: id,
  status: 'PUBLISHED',
  isAddon: false,
  archived: false,
  metadata: {},
  updatedAt: 0,
  features: [],
  prices: [],
  draft: null,
  version: 1,
  history: 1,
  scheduled: null,
  entries: [],
  ...more,
})

export const metered = (budget: number | null, overageEnabled = false): UserEntitlement => ({
  kind: 'metered',
  allowance: { budget, overageEnabled, resetPeriod: 'MONTH' },
  anchor: 0,
  byOverride: false,
  period: { start: 0, end: 1 },
})
