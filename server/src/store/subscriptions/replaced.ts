import { textArray } from '../connection/arrays.ts'
import { timestamp } from '../connection/database.ts'
import { allRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'

/** A base plan that has ended. */
export interface EndedPlan {
  appId: string
  /** of the subscription */
  id: string
  userId: string
  endedAt: number
}

/** Whether another base plan of the user took over at the moment when each of these ended. */
export async function areReplaced(db: HomeDb, ended: readonly EndedPlan[]): Promise<boolean[]> {
  const ask = rowsOf<{ ord: number }>({
    text: `select q.ord::int from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
         with ordinality as q (app_id, id, user_id, at, ord)
       join users u on u.app_id = q.app_id and u.id = q.user_id
       where exists (select from subscription s where s.app_id = u.app_id and s.user_uid = u.uid and not s.is_addon
         and s.started_at = q.at and s.id <> q.id and (s.cancelled_at is null or s.cancelled_at > q.at))`,
    values: [
      textArray(ended, (e) => e.appId),
      textArray(ended, (e) => e.id),
      textArray(ended, (e) => e.userId),
      textArray(ended, (e) => timestamp(e.endedAt)),
    ],
  })
  const found = new Set((await db.places.each(ask, allRows())).map(({ ord }) => ord))
  return ended.map((_, i) => found.has(i + 1))
}
