import { type Kysely, sql } from 'kysely'

/**
 * How fast passwords may be tried, by where the guesses come from. `sign_in_attempt`, which counted them by account alone,
 * stays for as long as processes of the version before may run beside this one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table sign_in_pace (
  -- a hash: of an address, an account, or both
  source   bytea primary key,
  -- when it may try again as often as one that never tried
  full_at  timestamptz(3) not null
);
create index sign_in_pace_age on sign_in_pace (full_at);
`)
    .execute(db)
}
