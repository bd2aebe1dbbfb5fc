import { type Kysely, sql } from 'kysely'

/** Whoever changes a subscription at its provider does so alone, until the change is recorded here. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table provider_subscription
  add column leased_by text,
  add column leased_until timestamptz;
`)
    .execute(db)
}
