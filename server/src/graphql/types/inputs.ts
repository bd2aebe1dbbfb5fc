import type { ApiKeyScope } from '../../domain/api-key-scope.ts'
import { type CreditKind, DEFAULT_PRIORITY, type NewCredit } from '../../domain/credit.ts'
import { badUserInput } from '../../domain/errors.ts'
import type { Cost, Feature, FeatureChange, FeatureType } from '../../domain/feature.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import type { NewOverride, OverrideMode } from '../../domain/override.ts'
import type { EntitlementInput } from '../../domain/package.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { DEFAULT_RESERVATION_SECONDS, type NewReservation } from '../../domain/reservation.ts'
import { timeOf } from '../../domain/time.ts'
import type { UsageAction } from '../../domain/usage.ts'
import { sortedThresholds } from '../../domain/usage-thresholds.ts'
import type { User } from '../../domain/user.ts'
import type { NewApiKey } from '../../operations/apps/api-keys.ts'
import type { NewPackage } from '../../operations/catalogue/create-package.ts'
import type { TrialInput } from '../../operations/subscriptions/start-trial.ts'
import type { KeyedUsageEvent } from '../../operations/usage/record-usage.ts'

// Converts GraphQL inputs to those of the operations: with defaults, and for an update only with the given fields.

export type Maybe<T> = T | null | undefined

export function newUser(input: {
  id: string
  billingId?: Maybe<string>
  name?: Maybe<string>
  email?: Maybe<string>
  metadata?: Maybe<JsonObject>
}): User {
  return {
    id: input.id,
    billingId: input.billingId ?? null,
    name: input.name ?? null,
    email: input.email ?? null,
    metadata: input.metadata ?? {},
  }
}

interface UserInput {
  id?: Maybe<string>
  name?: Maybe<string>
  metadata?: Maybe<JsonObject>
}

/** Only members change email and billingId (spec §2). */
export function userChange(input: UserInput): Pick<Partial<User>, keyof UserInput> {
  return {
    ...(input.id !== undefined && { id: required('id', input.id) }),
    ...(input.name !== undefined && { name: input.name }),
    ...metadataOf(input),
  }
}

export function memberUserChange(
  input: UserInput & { billingId?: Maybe<string>; email?: Maybe<string> },
): Partial<User> {
  return {
    ...userChange(input),
    ...(input.billingId !== undefined && { billingId: input.billingId }),
    ...(input.email !== undefined && { email: input.email }),
  }
}

export function newFeature(input: {
  id: string
  name: string
  type: FeatureType
  unitLabel?: Maybe<string>
  unitLabelPlural?: Maybe<string>
  metadata?: Maybe<JsonObject>
  thresholds?: Maybe<readonly number[]>
  costs?: Maybe<readonly Cost[]>
}): Feature {
  return {
    id: input.id,
    name: input.name,
    type: input.type,
    unitLabel: input.unitLabel ?? null,
    unitLabelPlural: input.unitLabelPlural ?? null,
    metadata: input.metadata ?? {},
    thresholds: input.thresholds ? sortedThresholds(input.thresholds) : null,
    costs: costsOf(input.costs),
  }
}

export function featureChange(input: {
  name?: Maybe<string>
  unitLabel?: Maybe<string>
  unitLabelPlural?: Maybe<string>
  metadata?: Maybe<JsonObject>
  thresholds?: Maybe<readonly number[]>
  costs?: Maybe<readonly Cost[]>
}): FeatureChange {
  return {
    ...(input.name !== undefined && { name: required('name', input.name) }),
    ...(input.unitLabel !== undefined && { unitLabel: input.unitLabel }),
    ...(input.unitLabelPlural !== undefined && { unitLabelPlural: input.unitLabelPlural }),
    ...metadataOf(input),
    ...(input.thresholds !== undefined && {
      thresholds: input.thresholds && sortedThresholds(input.thresholds),
    }),
    ...(input.costs !== undefined && { costs: costsOf(input.costs) }),
  }
}

const costsOf = (costs: Maybe<readonly Cost[]>): Cost[] =>
  (costs ?? []).map(({ featureId, cost }) => ({ featureId, cost }))

export function newPackage(input: {
  id: string
  name: string
  isAddon?: Maybe<boolean>
  metadata?: Maybe<JsonObject>
  features?: Maybe<{ id: string; entitlement?: Maybe<EntitlementInput> }[]>
}): NewPackage {
  return {
    id: input.id,
    name: input.name,
    isAddon: input.isAddon ?? false,
    metadata: input.metadata ?? {},
    features: (input.features ?? []).map(({ id, entitlement }) => ({ id, entitlement: entitlement ?? {} })),
  }
}

export function packageChange(input: { metadata?: Maybe<JsonObject> }): { metadata?: JsonObject } {
  return metadataOf(input)
}

export function usageEvent(input: {
  userId: string
  featureId: string
  delta: number
  action?: Maybe<UsageAction>
  idempotencyKey?: Maybe<string>
  entities?: Maybe<string[]>
  revertOf?: Maybe<string>
}): KeyedUsageEvent {
  return {
    userId: input.userId,
    featureId: input.featureId,
    delta: input.delta,
    action: input.action ?? 'ADD',
    idempotencyKey: input.idempotencyKey ?? null,
    ...(input.entities && { entities: input.entities }),
    ...(typeof input.revertOf === 'string' && { revertOf: input.revertOf }),
  }
}

export function newOverride(input: {
  userId: string
  featureId: string
  mode: OverrideMode
  limit?: Maybe<number>
  overageEnabled?: Maybe<boolean>
  resetPeriod?: Maybe<ResetPeriod>
  expiresAt?: Maybe<string>
  reason?: Maybe<string>
}): NewOverride & { userId: string } {
  return {
    userId: input.userId,
    featureId: input.featureId,
    mode: input.mode,
    limit: input.limit ?? null,
    overageEnabled: input.overageEnabled ?? null,
    resetPeriod: input.resetPeriod ?? null,
    expiresAt: expiryOf(input),
    reason: input.reason ?? null,
  }
}

interface ApiKeyInput {
  name?: Maybe<string>
  scope?: Maybe<ApiKeyScope>
  expiresAt?: Maybe<string>
}

export function newApiKey(input: ApiKeyInput & { name: string }): NewApiKey {
  return { name: input.name, scope: input.scope ?? 'ALL', expiresAt: expiryOf(input) }
}

export function apiKeyChange(input: ApiKeyInput): Partial<NewApiKey> {
  return {
    ...(input.name !== undefined && { name: required('name', input.name) }),
    ...(input.scope !== undefined && { scope: required('scope', input.scope) }),
    ...(input.expiresAt !== undefined && { expiresAt: expiryOf(input) }),
  }
}

/** The arguments of `startTrial`. */
export const newTrial = (input: {
  userId: string
  packageId: string
  days?: Maybe<number>
  until?: Maybe<string>
  then?: Maybe<string>
  again?: Maybe<boolean>
}): TrialInput => ({
  userId: input.userId,
  packageId: input.packageId,
  days: input.days ?? null,
  until: input.until ?? null,
  next: input.then ?? null,
  again: input.again ?? false,
})

const expiryOf = ({ expiresAt }: { expiresAt?: Maybe<string> }): number | null =>
  typeof expiresAt === 'string' ? timeOf('expiresAt', expiresAt) : null

export function newCredit(input: {
  id?: Maybe<string>
  userId: string
  featureId: string
  amount: number
  kind?: Maybe<CreditKind>
  priority?: Maybe<number>
  effectiveAt?: Maybe<string>
  expiresAt?: Maybe<string>
  reason?: Maybe<string>
}): NewCredit & { userId: string } {
  return {
    id: input.id ?? null,
    userId: input.userId,
    featureId: input.featureId,
    amount: input.amount,
    kind: input.kind ?? 'PROMOTIONAL',
    priority: input.priority ?? DEFAULT_PRIORITY,
    effectiveAt: typeof input.effectiveAt === 'string' ? timeOf('effectiveAt', input.effectiveAt) : null,
    expiresAt: typeof input.expiresAt === 'string' ? timeOf('expiresAt', input.expiresAt) : null,
    reason: input.reason ?? null,
  }
}

export function newReservation(input: {
  id?: Maybe<string>
  userId: string
  featureId: string
  amount: number
  atLeast?: Maybe<number>
  ttlSeconds?: Maybe<number>
  entities?: Maybe<string[]>
  metadata?: Maybe<JsonObject>
}): NewReservation & { userId: string } {
  return {
    id: input.id ?? null,
    userId: input.userId,
    featureId: input.featureId,
    amount: input.amount,
    atLeast: input.atLeast ?? null,
    ttlSeconds: input.ttlSeconds ?? DEFAULT_RESERVATION_SECONDS,
    entities: input.entities ?? [],
    metadata: input.metadata ?? {},
  }
}

/** Metadata is replaced as a whole; null clears it. */
function metadataOf({ metadata }: { metadata?: Maybe<JsonObject> }): { metadata?: JsonObject } {
  return metadata === undefined ? {} : { metadata: metadata ?? {} }
}

export function required<T>(field: string, value: T | null): T {
  if (value === null) throw badUserInput(`${field} must not be null`, field)
  return value
}
