import { type Kysely, sql } from 'kysely'

/**
 * The audit log covers API keys, providers and sign-ins too, and can be filtered. Until now only people wrote to this
 * table, so that it is small enough for its indexes to be built at once.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- member_email says who, whatever the kind: a member's address, a key's id, a provider's name.
alter table audit_entry
  add column actor_kind text not null default 'MEMBER',
  add column actor_name text,
  add column source text;

create index audit_by_kind on audit_entry (app_id, actor_kind, at, seq);
create index audit_by_actor on audit_entry (app_id, member_email, at, seq);
create index audit_by_operation on audit_entry (app_id, operation, at, seq);
create index audit_by_subject on audit_entry (app_id, subject_id, at, seq) where subject_id is not null;
`)
    .execute(db)
}
