import {
  type Cap,
  type CapCount,
  capsOfSubscriber,
  checkEntity,
  type PlanCap,
  replacedBy,
} from '../../domain/cap.ts'
import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { MAX_LISTED_CAPS } from '../../domain/limits.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { userEntitlement } from '../../domain/user-entitlement.ts'
import { capCountsOfUser } from '../../store/credits/caps.ts'
import { heldOfUser } from '../../store/credits/reservations.ts'
import { holders } from '../../store/subscriptions/subscribers.ts'
import type { UserRow } from '../../store/users/users.ts'
import { type Call, momentOf } from '../call/call.ts'
import { requireFeature, requireUser } from '../call/require.ts'
import { heldOn, type UserCap, userCap } from './caps.ts'

/** A cap of a user as of now: set for them, or of their plans. */
export interface CapInForce {
  featureId: string
  entity: string | null
  /** type of the entities that it holds for, each by itself */
  perEntity: string | null
  period: ResetPeriod
  limit: number
  own: boolean
  /** limit of the plan's cap that it replaces; null: none */
  planLimit: number | null
  /** null: each entity has a count */
  used: number | null
  reserved: number | null
  resetsAt: number | null
}

export interface CapsInForce {
  caps: CapInForce[]
  /** number of others */
  more: number
}

/** The caps of a user: of each feature, in the order of the catalogue, those set for the user and then those of the plans. */
export async function userCaps(call: Call, userId: string): Promise<CapsInForce> {
  const { app } = await momentOf(call)
  const user = await requireUser(call.service.pool, call.appId, userId)
  const features = [...app.catalogue.features.values()].filter(({ type }) => type === 'CONSUMABLE')
  const { now, stored, held } = await capsOf(call, user, features, [])
  const caps = stored.flatMap(({ featureId, counts, plan }) => {
    const parts = heldOn(featureId, held)
    return capsOfSubscriber(counts, plan).map((cap): CapInForce => {
      const { used, reserved, resetsAt } = userCap(cap, { userId, featureId }, parts, now)
      const { entity, perEntity, period, limit, own, planLimit } = cap
      const counted = perEntity === null ? { used, reserved } : { used: null, reserved: null }
      return { featureId, entity, perEntity, period, limit, own, planLimit, ...counted, resetsAt }
    })
  })
  return { caps: caps.slice(0, MAX_LISTED_CAPS), more: Math.max(0, caps.length - MAX_LISTED_CAPS) }
}

/** Effect of setting a cap. */
export interface CapPreview extends Pick<UserCap, 'used' | 'reserved' | 'resetsAt'> {
  /** of the user's own cap; null: none */
  limit: number | null
  /** of the plan's cap that it would replace; null: none */
  planLimit: number | null
}

/** The cap that is set, that of the plan, and the usage of the current window that a cap would have counted. */
export async function capPreview(
  call: Call,
  userId: string,
  featureId: string,
  cap: Pick<Cap, 'entity' | 'period'>,
): Promise<CapPreview> {
  if (cap.entity !== null) checkEntity('entity', cap.entity)
  const { app } = await momentOf(call)
  const user = await requireUser(call.service.pool, call.appId, userId)
  const feature = requireFeature(app.catalogue, featureId)
  const entities = cap.entity === null ? [] : [cap.entity]
  const { now, stored, held } = await capsOf(call, user, [feature], entities)
  const { counts = [], plan = [] } = stored[0] ?? {}
  const count = counts.find(({ entity, period }) => entity === cap.entity && period === cap.period)
  const { windowStart = 0, used = 0, limit = null } = count ?? {}
  const counted = { ...cap, limit: limit ?? 0, windowStart, used }
  return {
    ...userCap(counted, { userId, featureId }, heldOn(featureId, held), now),
    limit,
    planLimit: replacedBy(plan, cap)?.limit ?? null,
  }
}

interface StoredCaps {
  featureId: string
  counts: readonly CapCount[]
  plan: readonly PlanCap[]
}

/** Known caps of features. Users on another database server have none. */
async function capsOf(
  call: Call,
  { id, uid }: UserRow,
  features: readonly CataloguedFeature[],
  entities: readonly string[],
): Promise<{ now: number; stored: StoredCaps[]; held: Awaited<ReturnType<typeof heldOfUser>> }> {
  const { appId, service } = call
  const { pool, usageStore } = service
  const { app, now } = await momentOf(call)
  if (usageStore.queueOf(app.layout, appId, id) !== null) return { now, stored: [], held: [] }
  const holder = (await holders(pool, appId, [uid], now)).get(uid) ?? null
  const plans = features.map(({ id }) => {
    const entitlement = userEntitlement(app.catalogue, id, holder, now)
    return entitlement.kind === 'metered' ? (entitlement.allowance.caps ?? []) : []
  })
  const capped = features.filter((_, i) => plans[i]?.length)
  const rows = await capCountsOfUser(
    pool,
    appId,
    uid,
    capped.map(({ id }) => id),
    entities,
  )
  const stored = features.map(({ id }, i) => ({
    featureId: id,
    counts: rows.filter(({ featureId }) => featureId === id),
    plan: plans[i] ?? [],
  }))
  return { now, stored, held: await heldOfUser(pool, appId, uid, now) }
}
