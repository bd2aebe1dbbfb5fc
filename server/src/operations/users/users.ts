import { isIdentifier } from '../../domain/identifier.ts'
import type { User } from '../../domain/user.ts'
import { findUser, listUsers } from '../../store/users/users.ts'
import { type Call, momentOf } from '../call/call.ts'
import { type Chunk, type Cursor, checkFirst, type Page, readChunk, unknownAfter } from '../call/paging.ts'
import { requireUser } from '../call/require.ts'

export async function user(call: Call, id: string): Promise<User> {
  await momentOf(call)
  return requireUser(call.service.pool, call.appId, id)
}

export async function users(call: Call, page: Page, cursor: Cursor | null): Promise<Chunk<User>> {
  await momentOf(call)
  const { lookups } = call.service
  return readChunk(
    cursor ?? (await start(call, page)),
    (after, limit) => listUsers(lookups, call.appId, after, limit),
    (row) => row.uid,
  )
}

async function start(call: Call, { first, after }: Page): Promise<Cursor> {
  checkFirst(first)
  if (after === null || after === undefined) return { after: 0, left: first ?? null }
  const last = isIdentifier(after) ? await findUser(call.service.pool, call.appId, after) : null
  if (!last) throw unknownAfter()
  return { after: last.uid, left: first ?? null }
}
