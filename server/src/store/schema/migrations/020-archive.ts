import { type Kysely, sql } from 'kysely'

/** Archiving: what is archived is hidden and refuses what is new; what exists goes on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table feature add column archived_at timestamptz(3);
alter table package add column archived_at timestamptz(3);

-- A template is deleted only if no payment link was made of it.
create index checkout_session_template on checkout_session (app_id, template_id);
`)
    .execute(db)
}
