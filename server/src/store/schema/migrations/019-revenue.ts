import { type Kysely, sql } from 'kysely'

/** What is charged, what was paid, and the figures made of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table provider_subscription
  -- What it is charged for, the quantity beside the price. Null until the provider is asked again.
  add column price_ids text[],
  add column quantities bigint[],
  add column trial_ends_at timestamptz(3),
  add column billing_state text check (billing_state in ('active', 'past due', 'paused'));
create index provider_subscription_past_due on provider_subscription (app_id, past_due_since)
  where past_due_since is not null;

create index subscription_started on subscription (app_id, started_at, seq);
create index subscription_ended on subscription (app_id, (coalesce(cancelled_at, cancel_at)), seq)
  where coalesce(cancelled_at, cancel_at) is not null;
create index subscription_trial on subscription (app_id, trial_ends_at, seq) where trial_ends_at is not null;

-- A provider's invoices that were paid or should have been, and one-off payments.
create table payment (
  app_id            text not null,
  provider          text not null,
  ref               text not null,
  seq               bigint generated always as identity,
  user_uid          bigint not null,
  -- the provider's id of what was paid for
  subscription_ref  text not null,
  state             text not null check (state in ('PAID', 'FAILED')),
  amount            bigint not null,
  currency          text not null,
  -- when it was paid, or else charged, by the app's clock
  at                timestamptz(3) not null,
  primary key (app_id, provider, ref),
  foreign key (app_id, user_uid) references users
);
create index payment_at on payment (app_id, state, at, seq);
create index payment_user on payment (app_id, user_uid);
create index payment_subscription on payment (app_id, provider, subscription_ref);
create index payment_age on payment (at);

-- The figures of the Revenue page, which are expensive to make; one row per app and range.
create table revenue_figures (
  app_id   text not null references app,
  days     int not null,
  -- by the app's clock
  as_of    timestamptz(3) not null,
  made_at  timestamptz(3) not null default now(),
  figures  json not null,
  primary key (app_id, days)
);
`)
    .execute(db)
}
