import type { JsonObject } from '../../domain/metadata.ts'
import { allRows } from '../connection/merge-answers.ts'
import { type HomeDb, rowsOf } from '../connection/places.ts'

/** The stored rows of these subscriptions, by id, as the triggers write them to the outbox. */
export async function subscriptionRows(
  db: HomeDb,
  appId: string,
  ids: readonly string[],
): Promise<Map<string, JsonObject>> {
  const find = rowsOf<{ id: string; row: JsonObject }>({
    text: `select s.id, to_json(s) as row from subscription s where s.app_id = $1 and s.id = any($2)`,
    values: [appId, ids],
  })
  return new Map((await db.places.each(find, allRows())).map(({ id, row }) => [id, row]))
}
