import { type Kysely, sql } from 'kysely'

/** Finds closed payment links by their age, to delete the oldest. The other tables have an index that does. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create index checkout_session_closed on checkout_session (created_at) where state in ('PAID', 'FAILED', 'EXPIRED');
`)
    .execute(db)
}
