import { type Kysely, sql } from 'kysely'

/** Keys of each app to sign user tokens with, in place of one secret for all of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table token_key (
  app_id      text not null references app,
  id          text not null,
  algorithm   text not null,
  -- The secret or private key, sealed with the master key where there is one.
  material    bytea not null,
  public_key  json,
  created_at  timestamptz not null default now(),
  -- Another took its place: it signs nothing more, and what it signed is good until it expires.
  retired_at  timestamptz,
  revoked_at  timestamptz,
  primary key (app_id, id)
);
create unique index token_key_current on token_key (app_id) where retired_at is null and revoked_at is null;

alter table secret add retires_at timestamptz;
-- Processes of the earlier version know no other: time to replace them, and an hour for the last of their tokens.
update secret set retires_at = now() + interval '25 hours' where name = 'user-token';
`)
    .execute(db)
}
