import { randomUUID } from 'node:crypto'
import { checkNewCredit, type NewCredit } from '../../domain/credit.ts'
import { badUserInput, conflict, quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { MAX_CREDITS } from '../../domain/limits.ts'
import { payOwed } from '../../domain/spending-calls.ts'
import { heldOf } from '../../domain/split.ts'
import {
  type CreditPurchase,
  type CreditRow,
  endCredits,
  findCredit,
  insertCredit,
} from '../../store/credits/credits.ts'
import type { Call } from '../call/call.ts'
import { type UserCredit, userCredit } from './credits.ts'
import { mutateSpender, purseWith, type Spender, writeBurn } from './mutate-spender.ts'

/** Adds a credit. It pays first for usage of this period that nothing has paid for. */
export function addCredit(
  call: Call,
  { userId, ...asked }: NewCredit & { userId: string },
): Promise<UserCredit> {
  return mutateSpender(call, userId, asked.featureId, async (spender) => {
    const { tx, feature, now } = spender
    // It may have expired since.
    const found =
      asked.id !== null && isIdentifier(asked.id) ? await findCredit(tx, call.appId, asked.id) : null
    if (found) return earlier(call, spender, asked, found)
    checkNewCredit(asked, now)
    const credit = { ...asked, id: asked.id ?? `crd_${randomUUID()}`, effectiveAt: asked.effectiveAt ?? now }
    if (feature.archived) {
      throw badUserInput(
        `The feature ${quote(feature.id)} is archived. Restore it before adding credits for it.`,
        'featureId',
      )
    }
    return userCredit(await writeCredit(spender, credit, null), userId, 0, now)
  })
}

/** Stores a new credit, and has it pay what is owed. */
export async function writeCredit(
  spender: Spender,
  credit: NewCredit & { id: string; effectiveAt: number },
  purchase: CreditPurchase | null,
): Promise<CreditRow> {
  const { tx, user, feature, now, call } = spender
  if ((await endCredits(tx, call.appId, user.uid, feature.id, now)) >= MAX_CREDITS) {
    throw badUserInput(`A user can have at most ${MAX_CREDITS} usable credits of a feature.`, 'userId')
  }
  const seq = await insertCredit(tx, call.appId, user.uid, credit, now, purchase)
  if (seq === null) throw conflict(`A credit with the id ${quote(credit.id)} already exists`, 'id')
  const row: CreditRow = {
    ...credit,
    seq,
    used: 0,
    voidedAt: null,
    userUid: user.uid,
    createdAt: now,
    bought: purchase?.units ?? null,
    provider: purchase?.provider ?? null,
  }
  const paid = credit.amount === 0 ? null : await payWith(spender, row)
  await writeBurn(spender, paid)
  const used = paid?.parts.find((part) => part.credit === row.id)?.amount ?? 0
  return { ...row, used }
}

async function payWith(spender: Spender, row: CreditRow) {
  const { spending, now } = spender
  const added = { ...row, reserved: 0 as const, period: null, periodUsed: 0 }
  const before = await purseWith(spender, { ...spending, credits: [...spending.credits, added] })
  if (!before) return null
  const { purse: after, parts } = payOwed(before, row.id, now)
  return { before, after, parts, payment: true as const }
}

/** The same credit added again is not added twice. */
async function earlier(
  { appId }: Call,
  { user, spending, now }: Spender,
  asked: NewCredit,
  row: CreditRow,
): Promise<UserCredit> {
  const same =
    row.userUid === user.uid &&
    row.featureId === asked.featureId &&
    row.amount === asked.amount &&
    row.kind === asked.kind &&
    row.priority === asked.priority &&
    row.expiresAt === asked.expiresAt &&
    row.effectiveAt === (asked.effectiveAt ?? row.createdAt)
  if (!same)
    throw conflict(
      `A credit with the id ${quote(row.id)} already exists in the app ${quote(appId)} with different content`,
      'id',
    )
  const held = spending.held.filter(({ credit }) => credit === row.id)
  return userCredit(row, user.id, heldOf(held), now)
}
