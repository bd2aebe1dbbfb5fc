import { creditNotFound } from '../../domain/errors.ts'
import { checkText, isIdentifier } from '../../domain/identifier.ts'
import { heldOf } from '../../domain/split.ts'
import { findCredit, voidCredit as storeVoid } from '../../store/credits/credits.ts'
import type { Call } from '../call/call.ts'
import { type UserCredit, userCredit } from './credits.ts'
import { mutateOwned, writeBurn } from './mutate-spender.ts'

/** Voids a credit: what is left of it cannot be used. Reservations keep what they hold of it. */
export function voidCredit(call: Call, id: string, reason: string | null): Promise<UserCredit> {
  checkText('reason', reason)
  const { appId } = call
  return mutateOwned(
    call,
    async (tx) => (isIdentifier(id) ? findCredit(tx, appId, id) : null),
    () => creditNotFound(id),
    async (spender, row) => {
      const { tx, user, spending, now } = spender
      const reserved = heldOf(spending.held.filter(({ credit }) => credit === id))
      if (row.voidedAt !== null) return userCredit(row, user.id, reserved, now)
      await storeVoid(tx, appId, id, reason, now)
      await writeBurn(spender, null)
      return userCredit({ ...row, voidedAt: now, reason: reason ?? row.reason }, user.id, reserved, now)
    },
  )
}
