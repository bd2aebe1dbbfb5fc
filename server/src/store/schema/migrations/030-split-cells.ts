import { type Kysely, sql } from 'kysely'

/** Which cell another one takes half of the users from; null: none, or it has them all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table cell add column split_from int`.execute(db)
}
