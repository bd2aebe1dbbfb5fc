import { badUserInput, quote } from '../../domain/errors.ts'
import { checkNewUser, type User } from '../../domain/user.ts'
import { violates } from '../../store/database.ts'
import { BILLING_ID_TAKEN, insertUser, USER_ID_TAKEN } from '../../store/users.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'

export async function createUser(call: Call, user: User): Promise<User> {
  checkNewUser(user)
  return mutate(call, async (tx) => {
    try {
      await insertUser(tx, call.appId, user)
    } catch (error) {
      if (violates(error, USER_ID_TAKEN)) throw userIdTaken(user.id)
      if (violates(error, BILLING_ID_TAKEN)) {
        throw badUserInput(`Another user has the billingId ${quote(user.billingId ?? '')}`, 'billingId')
      }
      throw error
    }
    return user
  })
}

export const userIdTaken = (id: string) =>
  badUserInput(`A user with the id ${quote(id)} already exists`, 'id')
