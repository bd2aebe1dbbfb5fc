import { peopleOf } from '../../store/subscriptions/subscribers.ts'
import { type DenialRow, listDenials } from '../../store/usage/denials.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, pageSize, unknownCursor } from '../call/pages.ts'
import type { Page } from '../call/paging.ts'
import { dashboardFeature } from '../catalogue/catalogue.ts'

/** The latest denial of a user. */
export interface FeatureDenial extends DenialRow {
  userId: string
  userName: string | null
}

/** Users to whom the feature was denied, latest first. */
export async function featureDenials(
  call: Call,
  id: string,
  { first, after }: Page,
): Promise<KeyedPage<FeatureDenial>> {
  const { pool, activity } = call.service
  await dashboardFeature(call, id)
  const size = pageSize(first)
  const before = cursorOf(after)
  await activity.flush(pool)
  const rows = await listDenials(pool, call.appId, id, before, size + 1)
  const shown = rows.slice(0, size)
  const people = await peopleOf(
    pool,
    call.appId,
    shown.map(({ userUid }) => userUid),
  )
  const last = rows.length > size ? shown.at(-1) : undefined
  return {
    // A user may be deleted between the two queries.
    rows: shown.flatMap((row) => {
      const person = people.get(row.userUid)
      return person ? [{ ...row, userId: person.userId, userName: person.name ?? person.email }] : []
    }),
    next: last ? `${last.at}-${last.userUid}` : null,
  }
}

function cursorOf(after: string | null | undefined): { at: number; userUid: number } | null {
  if (after === null || after === undefined) return null
  const [, at, userUid] = /^(\d{1,15})-(\d{1,15})$/.exec(after) ?? []
  if (at === undefined || userUid === undefined || Number(at) > LATEST) throw unknownCursor()
  return { at: Number(at), userUid: Number(userUid) }
}

const LATEST = Date.parse('9999-12-31T00:00:00Z')
