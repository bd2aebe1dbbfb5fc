import { isIdentifier } from '../domain/identifier.ts'
import type { User } from '../domain/user.ts'
import { findUser, listUsers } from '../store/users.ts'
import { type Call, momentOf } from './call.ts'
import { foundUser } from './found.ts'
import { checkFirst, type Page, unknownAfter } from './paging.ts'

export async function user(call: Call, id: string): Promise<User> {
  await momentOf(call)
  return foundUser(call.service.pool, call.appId, id)
}

export async function users(call: Call, { first, after }: Page): Promise<User[]> {
  checkFirst(first)
  await momentOf(call)
  const { pool } = call.service
  let afterUid: number | null = null
  if (after !== null && after !== undefined) {
    const last = isIdentifier(after) ? await findUser(pool, call.appId, after) : null
    if (!last) throw unknownAfter()
    afterUid = last.uid
  }
  return listUsers(pool, call.appId, afterUid, first ?? null)
}
