import { type Kysely, sql } from 'kysely'

/** What deleting a user for good needs: finding everything about them, and knowing what not to take in again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- Ids the user had before, each with the time it was given up: [{ id, until }]. What was written under them is theirs too.
alter table users add column former_ids jsonb;

-- Whose call it was, where the answer does not say: the key is the caller's, and may name the user.
alter table idempotency add column user_uid bigint;

create index provider_subscription_user on provider_subscription (app_id, user_uid);
create index checkout_session_user on checkout_session (app_id, user_uid) where user_uid is not null;

-- Hashes of the ids that deleted users had at billing providers. What a provider reports about them later is dropped.
create table erased_ref (
  app_id  text not null references app,
  hash    bytea not null,
  primary key (app_id, hash)
);
`)
    .execute(db)
}
