import { checkIdentifier, checkText } from './identifier.ts'
import { checkMetadata, type JsonObject } from './metadata.ts'
import { checkThresholds } from './usage-thresholds.ts'

export const FEATURE_TYPES = ['BINARY', 'CONSUMABLE'] as const
export type FeatureType = (typeof FEATURE_TYPES)[number]

/** How many units of a pool pay for one unit of a feature. */
export interface Cost {
  featureId: string
  cost: number
}

export interface Feature {
  id: string
  name: string
  type: FeatureType
  unitLabel: string | null
  unitLabelPlural: string | null
  metadata: JsonObject
  /** Percentages of the budget at which usage is reported; null: the default. See usage-thresholds.ts. */
  thresholds?: readonly number[] | null
  /** Features that draw on this one as a pool; absent: none. See pool.ts. */
  costs?: readonly Cost[]
}

/** Fields of an update. Omitted fields are not changed. */
export interface FeatureChange {
  name?: string
  unitLabel?: string | null
  unitLabelPlural?: string | null
  metadata?: JsonObject
  thresholds?: readonly number[] | null
  costs?: readonly Cost[]
}

export function checkNewFeature(feature: Feature): void {
  checkIdentifier('id', feature.id)
  checkFeatureChange(feature)
}

export function checkFeatureChange(change: FeatureChange): void {
  checkText('name', change.name)
  checkText('unitLabel', change.unitLabel)
  checkText('unitLabelPlural', change.unitLabelPlural)
  if (change.metadata) checkMetadata(change.metadata)
  if (change.thresholds) checkThresholds(change.thresholds)
}
