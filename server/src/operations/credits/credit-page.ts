import { type CreditCursor, creditsUsableFirst, liveCredits } from '../../store/credits/credits.ts'
import { heldOfUser } from '../../store/credits/reservations.ts'
import { type Call, momentOf } from '../call/call.ts'
import { type KeyedPage, keyAfter, pageOf, pageSize, unknownCursor } from '../call/pages.ts'
import { requireUser } from '../call/require.ts'
import { reservedByCredit, type UserCredit, userCredit } from './credits.ts'

/** The credits of one feature that can be used now. */
export interface CreditBalance {
  featureId: string
  /** units that are neither used nor reserved */
  left: number
  /** of the credit with units left that expires first: how many, and when; null: none expires */
  next: { left: number; expiresAt: number } | null
}

export interface CreditPage extends KeyedPage<UserCredit> {
  /** of all credits, whatever the page */
  balances: CreditBalance[]
}

const START: CreditCursor = { ended: false, seq: Number.MAX_SAFE_INTEGER }

/** A user's credits: those that can be used or will be, then those that have ended, each newest first. */
export async function creditPage(
  call: Call,
  userId: string,
  first: number | null | undefined,
  after: string | null | undefined,
): Promise<CreditPage> {
  const { appId, service } = call
  const { pool } = service
  const size = pageSize(first)
  const cursor = after === null || after === undefined ? START : cursorOf(after)
  const { now } = await momentOf(call)
  const { uid } = await requireUser(pool, appId, userId)
  const reserved = reservedByCredit(await heldOfUser(pool, appId, uid, now))
  const { rows, next } = pageOf(
    await creditsUsableFirst(pool, appId, uid, cursor, size + 1, now),
    size,
    ({ ended, seq }) => `${ended ? 'ended' : 'usable'}:${seq}`,
  )
  return {
    rows: rows.map(({ ended: _, ...row }) => userCredit(row, userId, reserved.get(row.id) ?? 0, now)),
    next,
    balances: balancesOf(await liveCredits(pool, appId, uid, now), reserved),
  }
}

function cursorOf(after: string): CreditCursor {
  const [, state, seq] = /^(usable|ended):(\d+)$/.exec(after) ?? []
  if (seq === undefined) throw unknownCursor()
  return { ended: state === 'ended', seq: keyAfter(seq) }
}

function balancesOf(
  live: Awaited<ReturnType<typeof liveCredits>>,
  reserved: ReadonlyMap<string | null, number>,
): CreditBalance[] {
  const balances = new Map<string, CreditBalance>()
  for (const { id, featureId, amount, used, expiresAt } of live) {
    const left = Math.max(0, amount - used - (reserved.get(id) ?? 0))
    const balance = balances.get(featureId) ?? { featureId, left: 0, next: null }
    balance.left += left
    if (left > 0 && expiresAt !== null && (balance.next === null || expiresAt < balance.next.expiresAt))
      balance.next = { left, expiresAt }
    balances.set(featureId, balance)
  }
  return [...balances.values()]
}
