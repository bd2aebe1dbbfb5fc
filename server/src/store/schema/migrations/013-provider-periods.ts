import { type Kysely, sql } from 'kysely'

/** Where a provider's periods begin, and how long they are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- Null until it is asked again. Of a change of both, the usage that is counted here takes no notice.
alter table provider_subscription add column anchor timestamptz(3), add column interval text;
`)
    .execute(db)
}
