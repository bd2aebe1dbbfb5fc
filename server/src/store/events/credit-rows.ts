import type { JsonObject } from '../../domain/metadata.ts'
import type { HomeDb } from '../connection/places.ts'

/** The stored rows of these credits, by id, as the triggers write them to the outbox. */
export async function creditRows(
  db: HomeDb,
  appId: string,
  ids: readonly string[],
): Promise<Map<string, JsonObject>> {
  const { rows } = await db.query<{ id: string; row: JsonObject }>(
    `select id, to_json(c) as row from credit c where app_id = $1 and id = any($2)`,
    [appId, ids],
  )
  return new Map(rows.map(({ id, row }) => [id, row]))
}
