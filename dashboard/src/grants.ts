import { number, units } from './ui/number.ts'

export interface Grant {
  id: string
  limit: string | null
  resetPeriod: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR' | 'NEVER'
  overageEnabled: boolean
  /** units of overage beyond the limit; null: any number */
  overageCap: string | null
  caps: readonly GrantCap[]
}

/** Of each subscriber, or of each of their entities of one type. */
export interface GrantCap {
  limit: string
  period: Grant['resetPeriod']
  perEntity: string | null
}

export interface CatalogueFeature {
  id: string
  name: string
  type: 'BINARY' | 'CONSUMABLE'
  unitLabel: string | null
  unitLabelPlural: string | null
}

export const RESET_PERIODS = [
  { value: 'HOUR', label: 'every hour' },
  { value: 'DAY', label: 'every day' },
  { value: 'WEEK', label: 'every week' },
  { value: 'MONTH', label: 'every month' },
  { value: 'YEAR', label: 'every year' },
  { value: 'NEVER', label: 'never' },
] as const

/** What `createPackage` and `editPackage` take for a grant. */
export function grantInput(grant: Grant, features: readonly CatalogueFeature[]) {
  const { id, limit, resetPeriod, overageEnabled, overageCap, caps } = grant
  if (features.find((feature) => feature.id === id)?.type === 'BINARY') return { id }
  const entitlement = {
    resetPeriod,
    overageEnabled,
    ...(limit !== null && { limit: Number(limit) }),
    ...(overageCap !== null && { overageCap: Number(overageCap) }),
    caps: caps.map((cap) => ({ ...cap, limit: Number(cap.limit) })),
  }
  return { id, entitlement }
}

const PER: Record<Grant['resetPeriod'], string> = {
  HOUR: ' an hour',
  DAY: ' a day',
  WEEK: ' a week',
  MONTH: ' a month',
  YEAR: ' a year',
  NEVER: '',
}

/** Describes a grant: "1,000 calls a month, overage counted, at most 50 an hour for each agent". */
export function grantText(grant: Grant, feature: CatalogueFeature | undefined): string {
  if (feature?.type === 'BINARY') return 'included'
  return [grantLimitText(grant, feature), ...grant.caps.map(capText)].join(', ')
}

function grantLimitText(grant: Grant, feature: CatalogueFeature | undefined): string {
  if (grant.limit === null) return 'unlimited'
  const amount = units(Number(grant.limit), feature?.unitLabel, feature?.unitLabelPlural)
  return `${amount}${PER[grant.resetPeriod]}${overageText(grant)}`
}

function overageText({ overageEnabled, overageCap }: Grant): string {
  if (!overageEnabled) return ''
  return overageCap === null ? ', overage counted' : `, overage up to ${number(overageCap)}`
}

/** Describes a cap: "at most 50 an hour for each agent". */
export function capText({ limit, period, perEntity }: GrantCap): string {
  const window = period === 'NEVER' ? ' in total' : PER[period]
  return `at most ${number(limit)}${window}${perEntity === null ? '' : ` for each ${perEntity}`}`
}

interface PlanLimit {
  /** null: unlimited, or a binary feature */
  budget: number | null
  /** null: a binary feature */
  resetPeriod: Grant['resetPeriod'] | null
  overageEnabled: boolean
}

/** Describes what a user has of a feature: "1,000 calls a month"; null: nothing. */
export function limitText(
  limit: PlanLimit | null,
  labels: { unitLabel: string | null; unitLabelPlural: string | null },
): string {
  if (limit === null) return 'Not included'
  if (limit.resetPeriod === null) return 'Included'
  if (limit.budget === null) return 'Unlimited'
  const amount = units(limit.budget, labels.unitLabel, labels.unitLabelPlural)
  return `${amount}${PER[limit.resetPeriod]}${limit.overageEnabled ? ', then overage' : ''}`
}

interface OverrideContent {
  mode: 'REPLACE' | 'ADD' | 'UNLIMITED' | 'GRANT' | 'DENY'
  limit: number | null
  overageEnabled: boolean | null
}

/** Describes an override: "500 calls more, overage allowed". */
export function overrideText(
  { mode, limit, overageEnabled }: OverrideContent,
  feature: CatalogueFeature | undefined,
): string {
  if (mode === 'DENY') return 'no access'
  if (mode === 'UNLIMITED') return 'no limit'
  if (mode === 'GRANT') return feature?.type === 'BINARY' ? 'access' : 'access, no limit'
  const amount = units(limit ?? 0, feature?.unitLabel, feature?.unitLabelPlural)
  const overage =
    overageEnabled === null ? '' : overageEnabled ? ', overage allowed' : ', overage not allowed'
  return `${amount}${mode === 'ADD' ? ' more' : ''}${overage}`
}

export interface GrantChange {
  id: string
  before: Grant | null
  after: Grant | null
}

/** The grants of two versions of a package, feature by feature, with the differences marked. */
export function grantChanges(
  before: readonly Grant[],
  after: readonly Grant[],
): (GrantChange & { same: boolean })[] {
  const ids = new Set([...before, ...after].map(({ id }) => id))
  return [...ids].map((id) => {
    const [old = null, now = null] = [before, after].map((grants) => grants.find((grant) => grant.id === id))
    return { id, before: old, after: now, same: old !== null && now !== null && sameGrant(old, now) }
  })
}

const sameGrant = (a: Grant, b: Grant) =>
  a.limit === b.limit &&
  a.resetPeriod === b.resetPeriod &&
  a.overageEnabled === b.overageEnabled &&
  a.overageCap === b.overageCap &&
  a.caps.map(capText).join() === b.caps.map(capText).join()
