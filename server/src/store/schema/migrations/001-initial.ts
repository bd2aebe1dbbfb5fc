import { type Kysely, sql } from 'kysely'

/**
 * Every key starts with app_id: an app sees its own rows by construction, and a sharded PostgreSQL can
 * distribute by it. Timestamps keep milliseconds, which is what JavaScript keeps, so that a period's start is
 * the same value on both sides.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table app (
  id          text primary key,
  name        text not null,
  -- null: real time. Otherwise the app's own time, which only advanceClock moves.
  test_clock  timestamptz(3),
  -- Rises with every change of the catalogue, the API keys or the origins: what is cached of them is good while it stands.
  version     bigint not null default 1,
  -- the web pages that may use the client API
  origins     text[] not null default '{}',
  created_at  timestamptz(3) not null default now()
);

create table api_key (
  app_id        text not null references app,
  id            text not null,
  name          text not null,
  prefix        text not null,
  hash          bytea not null unique,
  created_at    timestamptz(3) not null default now(),
  revoked_at    timestamptz(3),
  primary key (app_id, id)
);

create table feature (
  app_id             text not null references app,
  id                 text not null,
  seq                bigint generated always as identity,
  name               text not null,
  type               text not null check (type in ('BINARY', 'CONSUMABLE')),
  unit_label         text,
  unit_label_plural  text,
  metadata           json not null,
  primary key (app_id, id)
);

create table package (
  app_id      text not null references app,
  id          text not null,
  seq         bigint generated always as identity,
  name        text not null,
  status      text not null default 'DRAFT' check (status in ('DRAFT', 'PUBLISHED')),
  is_addon    boolean not null,
  metadata    json not null,
  -- Edits to a published package, not yet published: { name, features }.
  draft       json,
  updated_at  timestamptz(3) not null,
  primary key (app_id, id)
);

create table package_feature (
  app_id           text not null,
  package_id       text not null,
  feature_id       text not null,
  position         int not null,
  "limit"          bigint check ("limit" between 0 and 9007199254740991),
  reset_period     text not null check (reset_period in ('HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NEVER')),
  overage_enabled  boolean not null,
  primary key (app_id, package_id, feature_id),
  foreign key (app_id, package_id) references package,
  foreign key (app_id, feature_id) references feature
);

-- uid is the identity that everything else points at: a change of the caller's id touches one row.
create table users (
  app_id      text not null references app,
  uid         bigint generated always as identity,
  id          text not null,
  billing_id  text,
  name        text,
  email       text,
  metadata    json not null,
  created_at  timestamptz(3) not null default now(),
  primary key (app_id, uid),
  unique (app_id, id)
);
create unique index users_billing_id on users (app_id, billing_id) where billing_id is not null;

create table subscription (
  app_id        text not null,
  id            text not null,
  seq           bigint generated always as identity,
  user_uid      bigint not null,
  package_id    text not null,
  is_addon      boolean not null,
  started_at    timestamptz(3) not null,
  anchor        timestamptz(3) not null,
  cancel_at     timestamptz(3),
  cancelled_at  timestamptz(3),
  metadata      json not null default '{}',
  primary key (app_id, id),
  foreign key (app_id, user_uid) references users,
  foreign key (app_id, package_id) references package
);
create unique index subscription_seq on subscription (app_id, seq);
create index subscription_user on subscription (app_id, user_uid, seq);
create unique index one_live_base_plan on subscription (app_id, user_uid)
  where cancelled_at is null and not is_addon;
create unique index one_live_subscription_per_package on subscription (app_id, user_uid, package_id)
  where cancelled_at is null;

create table usage_counter (
  app_id        text not null,
  user_uid      bigint not null,
  feature_id    text not null,
  reset_period  text not null,
  period_start  timestamptz(3) not null,
  used          bigint not null check (used between 0 and 9007199254740991),
  primary key (app_id, user_uid, feature_id, reset_period, period_start)
) with (fillfactor = 80);  -- room on the page for the next value, so that counting touches no index

-- Append-only: one row for each recorded call. A counter always equals the sum of its rows here.
create table usage_ledger (
  app_id        text not null,
  user_uid      bigint not null,
  feature_id    text not null,
  reset_period  text not null,
  period_start  timestamptz(3) not null,
  seq           bigint generated always as identity,
  action        text not null,
  -- what the call added; for SET the adjustment it made
  delta         bigint not null,
  used          bigint not null,
  recorded_at   timestamptz(3) not null,
  primary key (app_id, user_uid, feature_id, seq)
);

-- What a keyed mutation answered, written in the transaction of its effect.
create table idempotency (
  app_id      text not null,
  -- 'request': the header of a whole request. 'usage': the key inside one usage event.
  scope       text not null,
  key         text not null,
  -- SHA-256 of what was asked
  request     bytea not null,
  -- answers by the response name of the mutation field, since one request may carry several
  results     json not null,
  created_at  timestamptz(3) not null default now(),
  primary key (app_id, scope, key)
);
create index idempotency_age on idempotency (created_at);

create table member (
  id             bigint generated always as identity primary key,
  email          text not null unique,
  password_hash  text not null,
  created_at     timestamptz(3) not null default now()
);

create table session (
  hash        bytea primary key,
  member_id   bigint not null references member,
  created_at  timestamptz(3) not null default now(),
  expires_at  timestamptz(3) not null
);
create index session_expiry on session (expires_at);

-- Secrets the service makes for itself, so that every process on this database agrees on them.
create table secret (
  name   text primary key,
  value  bytea not null
);
`)
    .execute(db)
}
