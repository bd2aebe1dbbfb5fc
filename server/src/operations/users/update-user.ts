import { checkEmail } from '../../domain/email.ts'
import { badUserInput, quote } from '../../domain/errors.ts'
import { providerNameFirst } from '../../domain/provider-name.ts'
import { checkUser, type User } from '../../domain/user.ts'
import { chargedProvider } from '../../store/billing/provider-subscriptions.ts'
import type { Tx } from '../../store/connection/database.ts'
import * as store from '../../store/users/users.ts'
import type { Call } from '../call/call.ts'
import { mutateUser } from '../call/mutate.ts'
import { unlessTaken } from './create-user.ts'

export async function updateUser(call: Call, id: string, change: Partial<User>): Promise<User> {
  const { email, ...rest } = change
  checkUser(rest)
  return mutateUser(call, id, async (tx, before, moment) => {
    if (call.actor.kind === 'app') await moment()
    // An address from a provider may be invalid, and must not prevent other changes.
    if (email !== before.email) checkEmail(email)
    const user = { ...before, ...change }
    if (user.billingId !== before.billingId) await checkNotCharged(tx, call.appId, before)
    await unlessTaken(user, () => store.updateUser(tx, call.appId, before, user))
    return user
  })
}

/**
 * A billing id that is being charged cannot change: otherwise purchases of that customer would belong to nobody, and
 * another user could take the id and have this user's card charged.
 */
async function checkNotCharged(tx: Tx, appId: string, { uid, billingId }: store.UserRow): Promise<void> {
  const provider = billingId === null ? null : await chargedProvider(tx, appId, uid, billingId)
  if (billingId === null || provider === null) return
  throw badUserInput(
    `${providerNameFirst(provider)} charges ${quote(billingId)} for a subscription of this user. Cancel the subscription before changing the billingId.`,
    'billingId',
  )
}
