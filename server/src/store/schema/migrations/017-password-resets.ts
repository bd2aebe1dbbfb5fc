import { type Kysely, sql } from 'kysely'

/** Links by which a member who forgot the password sets a new one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table password_reset (
  member_id   bigint primary key references member on delete cascade,
  hash        bytea not null unique,
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3) not null
);
`)
    .execute(db)
}
