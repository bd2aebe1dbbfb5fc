-- Credits, and reservations of usage.

-- Whether users may pay for the feature with more than their plan. Checks and records of other features read none of the
-- tables below.
alter table feature add column spends boolean not null default false;

-- Users who have, or had, credits or reservations. Whoever changes any of their credits, reservations or counters of the
-- listed features raises the version, so that a decision based on an earlier one is not written.
create table spender (
  app_id    text not null references app,
  user_uid  bigint not null,
  version   bigint not null default 1,
  -- by feature id: { owed, period }, the usage of a period that nothing has paid for
  features  jsonb not null default '{}',
  primary key (app_id, user_uid)
) with (fillfactor = 70);

create table credit (
  app_id        text not null references app,
  id            text not null,
  seq           bigint generated always as identity,
  user_uid      bigint not null,
  feature_id    text not null,
  amount        bigint not null check (amount between 1 and 9007199254740991),
  -- equals the sum of its ledger entries, whose reset period is 'CREDIT:' and its id
  used          bigint not null default 0 check (used between 0 and amount),
  -- the part of it that was used in that period of the plan
  period        text,
  period_used   bigint not null default 0,
  kind          text not null check (kind in ('PROMOTIONAL', 'PAID')),
  priority      int not null,
  effective_at  timestamptz(3) not null,
  expires_at    timestamptz(3),
  reason        text,
  created_at    timestamptz(3) not null,
  voided_at     timestamptz(3),
  -- Spent, voided, or noticed to have expired: nothing can be taken from it.
  ended         boolean not null default false,
  primary key (app_id, id),
  foreign key (app_id, feature_id) references feature
) with (fillfactor = 80);
create index credit_user on credit (app_id, user_uid, feature_id, seq);
create index credit_open on credit (app_id, user_uid, feature_id) where not ended;

create table usage_reservation (
  app_id      text not null references app,
  id          text not null,
  seq         bigint generated always as identity,
  user_uid    bigint not null,
  feature_id  text not null,
  -- the request, which a repetition must equal
  amount      bigint not null,
  at_least    bigint not null,
  ttl_seconds int not null,
  metadata    json not null,
  -- HELD, also after it has expired
  state       text not null check (state in ('HELD', 'SETTLED', 'RELEASED')),
  -- what is held of each source: [{ credit, period, amount, settled }]
  split       json not null,
  settled     bigint not null default 0,
  late        boolean not null default false,
  reason      text,
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3) not null,
  primary key (app_id, id),
  foreign key (app_id, feature_id) references feature
) with (fillfactor = 80);
create index usage_reservation_user on usage_reservation (app_id, user_uid, feature_id, seq);
create index usage_reservation_held on usage_reservation (app_id, user_uid, feature_id, expires_at)
  where state = 'HELD';
