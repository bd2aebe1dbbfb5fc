import {
  type Cap,
  type CountedCap,
  capAt,
  checkCap,
  checkEntity,
  replacedBy,
  windowEnd,
  windowStart,
} from '../../domain/cap.ts'
import { badUserInput } from '../../domain/errors.ts'
import { MAX_CAPS } from '../../domain/limits.ts'
import { heldParts, NO_SPENDING, purseOf, WITHOUT_PLAN } from '../../domain/purse.ts'
import type { HeldPart } from '../../domain/split.ts'
import { capsOfUser, deleteCap, storeCap, unlimitCap } from '../../store/credits/caps.ts'
import { heldOfUser } from '../../store/credits/reservations.ts'
import { type Call, momentOf } from '../call/call.ts'
import { requireFeature, requireUser } from '../call/require.ts'
import { mutateEnrolled, mutateSpender, writeBurn } from './mutate-spender.ts'

/** A cap as of now. */
export interface UserCap extends Cap {
  userId: string
  featureId: string
  /** in the current window */
  used: number
  /** held by live reservations */
  reserved: number
  /** null: never */
  resetsAt: number | null
}

export function userCap(
  cap: CountedCap,
  of: { userId: string; featureId: string },
  held: readonly HeldPart[],
  now: number,
): UserCap {
  const { caps } = purseOf(WITHOUT_PLAN, 0, { ...NO_SPENDING, held, caps: [cap] }, now)
  const { entity, limit, period, used, reserved } = caps[0] ?? capAt(cap, 0, now)
  return { ...of, entity, limit, period, used, reserved, resetsAt: windowEnd(period, now) }
}

/** Sets the limit of a user's usage in a window. A cap that exists keeps its count. */
export function setCap(
  call: Call,
  { userId, featureId, ...cap }: Cap & { userId: string; featureId: string },
): Promise<UserCap> {
  checkCap(cap)
  return mutateSpender(call, userId, featureId, async (spender) => {
    const { tx, user, now, spending } = spender
    const all = await capsOfUser(tx, call.appId, user.uid, null)
    const exists = all.some(
      (one) => one.featureId === featureId && one.entity === cap.entity && one.period === cap.period,
    )
    if (!exists && all.length >= MAX_CAPS)
      throw badUserInput(`A user can have at most ${MAX_CAPS} caps`, 'userId')
    const start = windowStart(cap.period, now)
    const row = await storeCap(tx, call.appId, user.uid, featureId, cap, start)
    await writeBurn(spender, null)
    return userCap(row, { userId, featureId }, spending.held, now)
  })
}

/** Returns the cap that was removed; null if there was none. */
export function removeCap(
  call: Call,
  { userId, featureId, ...cap }: Pick<Cap, 'entity' | 'period'> & { userId: string; featureId: string },
): Promise<UserCap | null> {
  if (cap.entity !== null) checkEntity('entity', cap.entity)
  return mutateEnrolled(call, userId, featureId, async (spender) => {
    const { tx, user, now, spending } = spender
    // The plan's cap takes over the count, so that removing one's own refills nothing.
    const { entitlement } = spender.state
    const plan = entitlement.kind === 'metered' ? (entitlement.allowance.caps ?? []) : []
    const remove = replacedBy(plan, cap) ? unlimitCap : deleteCap
    const row = await remove(tx, call.appId, user.uid, featureId, cap)
    if (!row) return null
    await writeBurn(spender, null)
    return userCap(row, { userId, featureId }, spending.held, now)
  })
}

/** A user's caps, by feature, entity and period. There are at most `MAX_CAPS`. */
export async function caps(call: Call, userId: string, featureId: string | null): Promise<UserCap[]> {
  const { appId } = call
  const { pool } = call.service
  const { app, now } = await momentOf(call)
  const { uid } = await requireUser(pool, appId, userId)
  if (featureId !== null) requireFeature(app.catalogue, featureId)
  const rows = await capsOfUser(pool, appId, uid, featureId)
  if (rows.length === 0) return []
  const held = await heldOfUser(pool, appId, uid, now)
  return rows.map((row) =>
    userCap(row, { userId, featureId: row.featureId }, heldOn(row.featureId, held), now),
  )
}

/** Units of a feature that live reservations of a user hold. */
export function heldOn(
  featureId: string,
  held: readonly { featureId: string; parts: HeldPart[] }[],
): HeldPart[] {
  const partsOf = (own: boolean) =>
    held.flatMap((one) => ((one.featureId === featureId) === own ? one.parts : []))
  return heldParts(featureId, partsOf(true), partsOf(false))
}
