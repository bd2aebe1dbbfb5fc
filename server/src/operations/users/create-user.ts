import { badUserInput, quote } from '../../domain/errors.ts'
import { checkUser, type User } from '../../domain/user.ts'
import { violates } from '../../store/connection/refusals.ts'
import { BILLING_ID_TAKEN, insertUser, USER_ID_TAKEN } from '../../store/users/users.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'

export async function createUser(call: Call, user: User): Promise<User> {
  checkUser(user)
  const { appId } = call
  return mutate(call, async (tx) => {
    await unlessTaken(user, () => tx.places.of(appId, user.id, (db) => insertUser(db, appId, user)))
    return user
  })
}

/** Writes a user; fails if the id or billing id belongs to another user. */
export async function unlessTaken(user: User, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (violates(error, USER_ID_TAKEN)) {
      throw badUserInput(`A user with the id ${quote(user.id)} already exists`, 'id')
    }
    if (violates(error, BILLING_ID_TAKEN)) {
      throw badUserInput(`Another user already has the billingId ${quote(user.billingId ?? '')}`, 'billingId')
    }
    throw error
  }
}
