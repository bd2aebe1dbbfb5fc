import { type Kysely, sql } from 'kysely'

/** Archiving and deleting apps. What is being deleted goes bit by bit; the app's row goes last. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table app add column archived_at timestamptz(3);
alter table app add column deleting_since timestamptz(3);
alter table app add column deleted_rows bigint not null default 0;
`)
    .execute(db)
}
