import { type Credit, type CreditState, creditState } from '../../domain/credit.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_PAGE } from '../../domain/limits.ts'
import { leftOf } from '../../domain/split.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { type CreditRow, creditsOfUser, findCredit } from '../../store/credits/credits.ts'
import { heldOfUser } from '../../store/credits/reservations.ts'
import { type Call, momentOf } from '../call/call.ts'
import { checkFirst, type Page, unknownAfter } from '../call/paging.ts'
import { requireFeature, requireUser } from '../call/require.ts'

/** A credit as of now. */
export interface UserCredit extends Credit {
  userId: string
  /** held by live reservations */
  reserved: number
  /** units that were paid for; null: not bought through a payment link */
  bought: number | null
  /** where it was paid; null: not bought */
  provider: string | null
  state: CreditState
}

export const userCredit = (row: CreditRow, userId: string, reserved: number, now: number): UserCredit => ({
  ...row,
  userId,
  reserved,
  state: creditState(row, now),
})

export interface SpendingFilter<State> extends Page {
  featureId: string | null
  state: State | null
}

/** A user's credits, oldest first. */
export async function credits(
  call: Call,
  userId: string,
  filter: SpendingFilter<CreditState>,
): Promise<UserCredit[]> {
  const { appId, service } = call
  const { pool } = service
  const { uid, now, page } = await spendingPage(call, userId, filter, findCredit)
  const rows = await creditsOfUser(pool, appId, uid, page, now)
  const reserved = reservedByCredit(await heldOfUser(pool, appId, uid, now))
  return rows.map((row) => userCredit(row, userId, reserved.get(row.id) ?? 0, now))
}

/** Units that live reservations hold of each credit. */
export function reservedByCredit(held: Awaited<ReturnType<typeof heldOfUser>>): Map<string | null, number> {
  const reserved = new Map<string | null, number>()
  for (const part of held.flatMap(({ parts }) => parts))
    reserved.set(part.credit, (reserved.get(part.credit) ?? 0) + leftOf(part))
  return reserved
}

/** A user, and the page of their credits or reservations that is asked for. `find` finds the last one of the page before. */
export async function spendingPage<State>(
  call: Call,
  userId: string,
  { featureId, state, first, after }: SpendingFilter<State>,
  find: (db: HomeDb, appId: string, id: string) => Promise<{ seq: number; userUid: number } | null>,
) {
  const { appId, service } = call
  const { app, now } = await momentOf(call)
  const { uid } = await requireUser(service.pool, appId, userId)
  if (featureId !== null) requireFeature(app.catalogue, featureId)
  checkFirst(first)
  // One more than a page, so that a caller can find out whether it is the last.
  const limit = Math.min(first ?? MAX_PAGE, MAX_PAGE + 1)
  const last = after ? (isIdentifier(after) ? await find(service.pool, appId, after) : null) : undefined
  if (last === null || (last && last.userUid !== uid)) throw unknownAfter()
  return { uid, now, page: { featureId, state, after: last?.seq ?? 0, limit } }
}
