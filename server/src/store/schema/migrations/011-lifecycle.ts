import { type Kysely, sql } from 'kysely'

/** Planned changes, trials, quantities, versions of packages, and overrides. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table subscription
  -- The subscription that this one succeeds at its started_at. Null once it has: until then it is only planned.
  add column follows text,
  add column trial_ends_at timestamptz(3),
  add column quantity int not null default 1 check (quantity between 1 and 1000000),
  -- The version that was bought, and how far the package's history had got by then: what came later may apply too.
  add column package_version int not null default 1,
  add column version_as_of int not null default 1;

create unique index one_started_base_plan on subscription (app_id, user_uid)
  where cancelled_at is null and not is_addon and follows is null;
drop index one_live_base_plan;
alter index one_started_base_plan rename to one_live_base_plan;
create unique index one_started_per_package on subscription (app_id, user_uid, package_id)
  where cancelled_at is null and follows is null;
drop index one_live_subscription_per_package;
alter index one_started_per_package rename to one_live_subscription_per_package;
create index subscription_live on subscription (app_id, user_uid) where cancelled_at is null;
create unique index one_successor on subscription (app_id, follows) where follows is not null and cancelled_at is null;

-- By feature id. On the row that every check reads anyway.
alter table users add column overrides json;
-- The reset periods that overrides count by, beside those of the packages.
alter table feature add column override_periods text[] not null default '{}';

alter table package
  add column version int not null default 1,
  -- the number of the last entry in its history
  add column history int not null default 1;

-- What happened to a package's versions, in order. A subscription's version now is the one it was bought at, moved on
-- by every later entry that applies to it.
create table package_history (
  app_id        text not null,
  package_id    text not null,
  position      int not null,
  -- PUBLISHED: to_version came to be. MIGRATED: the holders of from_version were moved to to_version.
  kind          text not null check (kind in ('PUBLISHED', 'MIGRATED')),
  from_version  int not null,
  to_version    int not null,
  reach         text not null check (reach in ('ALL', 'NEW_ONLY', 'AT_PERIOD_END')),
  at            timestamptz(3) not null,
  -- what from_version granted: [{ featureId, limit, resetPeriod, overageEnabled }]; null for a migration
  features      json,
  -- of a migration
  id            text,
  undone_at     timestamptz(3),
  primary key (app_id, package_id, position),
  foreign key (app_id, package_id) references package
);
create unique index package_migration on package_history (app_id, id) where id is not null;
`)
    .execute(db)
}
