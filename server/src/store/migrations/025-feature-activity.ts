import { type Kysely, sql } from 'kysely'

/** Up to here the index is built at once; beyond, in the background: see `store/search-indexes.ts`. */
const FEW_USERS = 5_000

/** What each feature's page shows: calls by the hour, and who has overrides. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- How often a feature was asked for and recorded, by the hour.
create table feature_activity (
  app_id      text not null,
  feature_id  text not null,
  hour        timestamptz(0) not null,
  -- calls that never were, which go with the sample
  sample      boolean not null default false,
  checks      bigint not null,
  -- of the checks: those answered with no
  denied      bigint not null,
  -- recorded calls, what they added up to, and calls that were refused
  records     bigint not null,
  units       numeric not null,
  refused     bigint not null,
  primary key (app_id, feature_id, hour, sample),
  foreign key (app_id, feature_id) references feature on delete cascade
);
-- The oldest go first.
create index feature_activity_by_hour on feature_activity (hour);
`)
    .execute(db)
  const { rows } = await sql<{ many: boolean }>`
    select count(*) > ${FEW_USERS} as many from (select from users limit ${FEW_USERS} + 1) u
  `.execute(db)
  if (rows[0]?.many !== false) return
  await sql
    .raw('create index users_with_overrides on users (app_id, uid) where overrides is not null')
    .execute(db)
}
