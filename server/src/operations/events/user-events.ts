import { firstSequenceOf } from '../../domain/event.ts'
import { type EventRow, logEnds, newestEventsOfUser } from '../../store/events/event-log.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { type KeyedPage, keyBefore, pageOf, pageSize } from '../call/pages.ts'
import { requireUser } from '../call/require.ts'
import { checkEventTypes } from './events.ts'

/** Events of a user, newest first. */
export async function userEvents(
  { service: { pool }, appId }: Call,
  userId: string,
  {
    types,
    first,
    after,
  }: {
    types?: readonly string[] | null | undefined
    first?: number | null | undefined
    after?: string | null | undefined
  },
): Promise<KeyedPage<EventRow>> {
  await requireApp(pool, appId)
  const wanted = checkEventTypes(types)
  const size = pageSize(first)
  const { uid } = await requireUser(pool, appId, userId)
  const { firstDay } = await logEnds(pool, appId)
  const range = { from: firstSequenceOf(firstDay), before: keyBefore(after) }
  const rows = await newestEventsOfUser(pool, appId, uid, wanted, range, size + 1)
  return pageOf(rows, size, ({ sequence }) => sequence)
}
