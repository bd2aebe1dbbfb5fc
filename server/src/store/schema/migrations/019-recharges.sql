-- Automatic recharges: credits that are bought with the user's saved card when few are left.

create table recharge_rule (
  app_id        text not null references app,
  user_uid      bigint not null,
  feature_id    text not null,
  -- names its charges, together with their number
  id            text not null,
  below         bigint not null check (below between 1 and 9007199254740991),
  up_to         bigint not null check (up_to between below and 9007199254740991),
  price_id      text not null,
  -- in minor units per month of the UTC calendar; null: no maximum
  max_spend     bigint check (max_spend >= 1),
  -- number of its latest charge
  charges       int not null default 0,
  is_on         boolean not null default true,
  -- declines since the last payment
  declines      int not null default 0,
  -- by the app's clock; null: it may charge at any time
  wait_until    timestamptz(3),
  -- why it waits or is off
  reason        text,
  primary key (app_id, user_uid, feature_id),
  foreign key (app_id, feature_id) references feature
);

-- The charges of rules, each with the session by which its provider knows it.
create table recharge_attempt (
  app_id        text not null,
  session_id    text not null,
  user_uid      bigint not null,
  feature_id    text not null,
  state         text not null default 'UNDER_WAY' check (state in ('UNDER_WAY', 'PAID', 'DECLINED')),
  -- in minor units
  amount        bigint not null check (amount >= 0),
  -- by the app's clock
  started_at    timestamptz(3) not null,
  -- the provider's id of the card that is charged; null: not known yet
  card          text,
  -- in real time, when the provider was last asked; null: never
  asked_at      timestamptz(3),
  primary key (app_id, session_id),
  foreign key (app_id, session_id) references checkout_session on delete cascade
);
-- One charge under way per user and feature, also after the rule was removed and set again.
create unique index recharge_under_way on recharge_attempt (app_id, user_uid, feature_id) where state = 'UNDER_WAY';
create index recharge_attempt_user on recharge_attempt (user_uid, feature_id, started_at);

-- The card that a customer of the sandbox has saved, by its behaviour; null: none.
alter table sandbox_customer add column card text;
