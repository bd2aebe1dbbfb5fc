import { checkUserChange, type User, type UserChange } from '../../domain/user.ts'
import { violates } from '../../store/database.ts'
import * as store from '../../store/users.ts'
import type { Call } from '../call/call.ts'
import { lockedUser } from '../call/found.ts'
import { mutate } from '../call/mutate.ts'
import { userIdTaken } from './create-user.ts'

export async function updateUser(call: Call, id: string, change: UserChange): Promise<User> {
  checkUserChange(change)
  return mutate(call, async (tx) => {
    const user = { ...(await lockedUser(tx, call.appId, id)), ...change }
    try {
      await store.updateUser(tx, call.appId, user)
    } catch (error) {
      throw violates(error, store.USER_ID_TAKEN) ? userIdTaken(user.id) : error
    }
    return user
  })
}
