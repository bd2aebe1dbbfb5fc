import { userNotFound } from '../../domain/errors.ts'
import { checkText, isIdentifier, isStorable } from '../../domain/identifier.ts'
import { MAX_PAGE, MAX_USERS_BY_PART } from '../../domain/limits.ts'
import type { User } from '../../domain/user.ts'
import type { Pool } from '../../store/connection/database.ts'
import {
  type ListedUser,
  MATCHED_BY,
  type SearchCursor,
  searchUsers,
  type UserMatch,
} from '../../store/users/search-users.ts'
import { findListedUser } from '../../store/users/users.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, pageOf, pageSize, unknownCursor } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { createUser } from './create-user.ts'
import { updateUser } from './update-user.ts'

export async function dashboardUser({ service, appId }: Call, id: string): Promise<ListedUser> {
  await requireApp(service.pool, appId)
  const user = isIdentifier(id) ? await findListedUser(service.pool, appId, id) : null
  if (!user) throw userNotFound(id)
  return user
}

export async function createDashboardUser(call: Call, user: User): Promise<ListedUser> {
  await createUser(call, user)
  return dashboardUser(call, user.id)
}

export async function updateDashboardUser(
  call: Call,
  id: string,
  change: Partial<User>,
): Promise<ListedUser> {
  const { id: present } = await updateUser(call, id, change)
  return dashboardUser(call, present)
}

/** Users who have each word of the search in their id, name, address or billing id, best matches first. */
export async function dashboardUsers(
  { service: { pool, lookups }, appId }: Call,
  search: string,
  { first, after }: Page,
): Promise<KeyedPage<ListedUser>> {
  // A match proves that the app exists. It is looked up only without one, or if the request is invalid.
  const page = await pageOfUsers(lookups, appId, search, { first, after }).catch(async (error: unknown) => {
    await requireApp(pool, appId)
    throw error
  })
  if (page.rows.length === 0) await requireApp(pool, appId)
  return page
}

/** The index does not contain parts of shorter words; only beginnings are searched for them. */
const SHORTEST_PART = 3

async function pageOfUsers(
  lookups: Pool,
  appId: string,
  search: string,
  { first, after }: Page,
): Promise<KeyedPage<ListedUser>> {
  const size = pageSize(first)
  const text = search.trim().replace(/\s+/g, ' ')
  checkText('search', text)
  const byPart = text.split(' ').some((word) => word.length >= SHORTEST_PART) ? MAX_USERS_BY_PART : 0
  const rows: UserMatch[] = []
  let at = parseCursor(after)
  let more = true
  // A user may match in several ways and is then found once for each. The second query skips such repeats, so that a
  // page does not consist of them only.
  for (const limit of [size + 1, MAX_PAGE]) {
    if (!more || rows.length > size) break
    const found = await searchUsers(lookups, appId, text, at, limit, byPart)
    rows.push(...found.filter((row) => isBestMatch(row, text)))
    at = found.at(-1) ?? at
    more = found.length === limit
  }
  if (rows.length > size) return pageOf(rows, size, cursorText)
  return { rows, next: more && at ? cursorText(at) : null }
}

/** A user found by id is not listed again by email. */
function isBestMatch(user: UserMatch, text: string): boolean {
  const folded = text.toLowerCase()
  const finds: Record<UserMatch['by'], boolean | undefined> = {
    id: user.id.startsWith(text),
    email: user.email?.toLowerCase().startsWith(folded),
    billingId: user.billingId?.startsWith(text),
    name: user.name?.toLowerCase().startsWith(folded),
    part: true,
  }
  return MATCHED_BY.find((by) => finds[by]) === user.by
}

const isText = (key: unknown): key is string => typeof key === 'string' && isStorable(key)

const cursorText = ({ by, key, uid }: SearchCursor): string =>
  Buffer.from(JSON.stringify([by, key, uid])).toString('base64url')

function parseCursor(after: string | null | undefined): SearchCursor | null {
  if (after === null || after === undefined) return null
  try {
    const [by, key, uid] = JSON.parse(Buffer.from(after, 'base64url').toString()) as unknown[]
    const known = MATCHED_BY.find((way) => way === by)
    if (known && isText(key) && Number.isSafeInteger(uid)) {
      return { by: known, key, uid: uid as number }
    }
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  }
  throw unknownCursor()
}
