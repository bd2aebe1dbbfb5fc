import { type Kysely, sql } from 'kysely'

/** What the dashboard keeps: roles, the audit log, imports, activity. Searches get the indexes they walk. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- Searches by prefix. Byte order, whatever the database's own order is: a prefix is then one range of the index.
create index users_by_id on users (app_id, id collate "C");
-- An address may be longer than an index entry: its beginning is enough to find it.
create index users_by_email on users (app_id, left(lower(email), 128) collate "C", uid) where email is not null;
create index users_by_billing_id on users (app_id, billing_id collate "C") where billing_id is not null;
create index subscription_package on subscription (app_id, package_id, seq);

alter table api_key add last_used_at timestamptz(3), add expires_at timestamptz(3);

alter table member add role text not null default 'OWNER' check (role in ('OWNER', 'EDITOR', 'VIEWER'));
alter table member alter role drop default;
alter table session add id bigint generated always as identity unique,
  add last_seen_at timestamptz(3) not null default now(), add user_agent text;
create index session_member on session (member_id, last_seen_at);

create table invitation (
  id          text primary key,
  email       text not null,
  role        text not null check (role in ('OWNER', 'EDITOR', 'VIEWER')),
  hash        bytea not null unique,
  invited_by  text not null,
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3) not null
);

-- Tries to sign in, counted by all processes together. The account is hashed: people type passwords there too.
create table sign_in_attempt (
  account  bytea primary key,
  times    timestamptz(3)[] not null,
  last_at  timestamptz(3) not null
);
create index sign_in_attempt_age on sign_in_attempt (last_at);

create table audit_entry (
  -- '' for what belongs to no app
  app_id        text not null,
  seq           bigint generated always as identity unique,
  at            timestamptz(3) not null default now(),
  member_email  text not null,
  operation     text not null,
  subject_kind  text not null,
  subject_id    text,
  before        json,
  after         json,
  primary key (app_id, seq)
);

create table user_import (
  app_id        text not null references app,
  id            text not null,
  seq           bigint generated always as identity,
  state         text not null,
  failure       text,
  member_email  text not null,
  started_at    timestamptz(3) not null default now(),
  touched_at    timestamptz(3) not null default now(),
  finished_at   timestamptz(3),
  bytes_total   bigint not null default 0,
  bytes_read    bigint not null default 0,
  rows          bigint not null default 0,
  bad           bigint not null default 0,
  unchanged     bigint not null default 0,
  changed       bigint not null default 0,
  applied       bigint not null default 0,
  refused       bigint not null default 0,
  undone        bigint not null default 0,
  kept          bigint not null default 0,
  primary key (app_id, id)
);

-- One row for each row of the file, with what the user had before: the diff, the report and the way back.
create table user_import_row (
  app_id          text not null,
  import_id       text not null,
  line            bigint not null,
  user_id         text,
  -- null: a bad row
  user_uid        bigint,
  outcome         text not null,
  problem         text,
  message         text,
  old_email       text,
  new_email       text,
  old_billing_id  text,
  new_billing_id  text,
  primary key (app_id, import_id, line),
  foreign key (app_id, import_id) references user_import on delete cascade
);
create unique index user_once_per_import on user_import_row (app_id, import_id, user_uid) where user_uid is not null;
create unique index billing_id_once_per_import on user_import_row (app_id, import_id, new_billing_id)
  where user_uid is not null and new_billing_id is distinct from old_billing_id;
create index user_import_outcome on user_import_row (app_id, import_id, outcome, line);

-- How often the two hot paths were called, by the minute.
create table activity (
  app_id   text not null,
  minute   timestamptz(0) not null,
  checks   bigint not null,
  records  bigint not null,
  primary key (app_id, minute)
);

-- Whose usage was recorded lately, one row for each user and feature: what the home page shows.
create table recent_usage (
  app_id       text not null,
  user_id      text not null,
  feature_id   text not null,
  used         bigint not null,
  budget       bigint,
  recorded_at  timestamptz(3) not null,
  primary key (app_id, user_id, feature_id)
);
create index recent_usage_age on recent_usage (app_id, recorded_at);

-- What the sample catalogue brought, so that exactly this is taken away again.
create table sample_item (
  app_id  text not null,
  kind    text not null,
  id      text not null,
  primary key (app_id, kind, id)
);

-- Calls that never were, kept apart from those that count.
create table sample_activity (
  app_id   text not null,
  minute   timestamptz(0) not null,
  checks   bigint not null,
  records  bigint not null,
  primary key (app_id, minute)
);
`)
    .execute(db)
}
