import { type Kysely, sql } from 'kysely'

/** Prices and templates, payment links, what the providers say, and the built-in provider's own books. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- how long access lasts after a payment has failed
alter table app add column grace_days integer not null default 7 check (grace_days between 0 and 365);

-- A price's id is the provider's: what is paid there is found here by it, so it is the price of one package only.
create table price (
  app_id       text not null,
  provider     text not null,
  id           text not null,
  seq          bigint generated always as identity,
  package_id   text not null,
  amount       bigint not null check (amount between 0 and 9007199254740991),
  currency     text not null,
  -- null: paid once
  interval     text check (interval in ('day', 'week', 'month', 'year')),
  created_at   timestamptz(3) not null default now(),
  archived_at  timestamptz(3),
  primary key (app_id, provider, id),
  foreign key (app_id, package_id) references package
);
create index price_package on price (app_id, package_id, seq);

create table billing_template (
  app_id       text not null references app,
  id           text not null,
  seq          bigint generated always as identity,
  name         text not null,
  created_at   timestamptz(3) not null default now(),
  archived_at  timestamptz(3),
  primary key (app_id, id)
);

create table billing_template_item (
  app_id       text not null,
  template_id  text not null,
  position     integer not null,
  package_id   text not null,
  -- null: the package's newest live price
  provider     text,
  price_id     text,
  primary key (app_id, template_id, position),
  foreign key (app_id, template_id) references billing_template,
  foreign key (app_id, package_id) references package,
  foreign key (app_id, provider, price_id) references price
);

-- One payment link. Its id travels to the provider and comes back with everything that follows from it.
create table checkout_session (
  app_id        text not null,
  id            text not null,
  template_id   text not null,
  -- null: the payer becomes a user
  user_uid      bigint,
  provider      text not null,
  -- what was offered when it was made
  items         json not null,
  success_url   text not null,
  cancel_url    text not null,
  -- the provider's id and address of it; null until the provider has answered
  provider_ref  text,
  url           text,
  state         text not null default 'OPEN' check (state in ('OPEN', 'AWAITING', 'PAID', 'FAILED', 'EXPIRED')),
  created_at    timestamptz(3) not null default now(),
  primary key (app_id, id),
  foreign key (app_id, template_id) references billing_template,
  foreign key (app_id, user_uid) references users
);
create unique index checkout_session_ref on checkout_session (app_id, provider, provider_ref)
  where provider_ref is not null;
create index checkout_session_unsettled on checkout_session (app_id, created_at)
  where state in ('OPEN', 'AWAITING');

-- Secrets are sealed: see store/secrets/keyring.ts.
create table provider_account (
  app_id                   text not null references app,
  provider                 text not null,
  enabled                  boolean not null default true,
  secret_key               bytea,
  webhook_secret           bytea,
  -- accepted as well, while the provider still signs with it
  previous_webhook_secret  bytea,
  updated_at               timestamptz(3) not null default now(),
  primary key (app_id, provider)
);

-- The inbox: what the providers sent, each of it once.
create table notice (
  app_id       text not null references app,
  seq          bigint generated always as identity,
  provider     text not null,
  event_id     text not null,
  type         text not null,
  payload      json not null,
  state        text not null default 'PENDING' check (state in ('PENDING', 'DONE', 'FAILED')),
  attempts     integer not null default 0,
  last_error   text,
  received_at  timestamptz(3) not null default now(),
  handled_at   timestamptz(3),
  primary key (app_id, seq)
);
create unique index notice_event on notice (app_id, provider, event_id);
create index notice_state on notice (app_id, state, seq);

-- What a provider last said about one of its subscriptions, or about one payment for good.
create table provider_subscription (
  app_id          text not null,
  provider        text not null,
  ref             text not null,
  user_uid        bigint not null,
  customer_ref    text,
  status          text not null,
  -- the provider's time of its making: of two base plans the later one counts
  made_at         timestamptz(3) not null,
  paid_until      timestamptz(3),
  past_due_since  timestamptz(3),
  live            boolean not null,
  -- Rises with every writing: what was asked of the provider before another wrote is asked again.
  version         bigint not null default 1,
  primary key (app_id, provider, ref),
  foreign key (app_id, user_uid) references users
);
create index provider_subscription_customer on provider_subscription (app_id, provider, customer_ref);
create index provider_subscription_live on provider_subscription (app_id, provider, ref) where live;

alter table subscription
  add column provider text,
  add column provider_ref text,
  add foreign key (app_id, provider, provider_ref) references provider_subscription;
create index subscription_provider on subscription (app_id, provider, provider_ref) where provider is not null;

-- From here on: the books of the built-in provider, which the rest of the service reads through its interface alone.
create table sandbox_customer (
  app_id  text not null references app,
  id      text not null,
  email   text,
  name    text,
  primary key (app_id, id)
);

create table sandbox_checkout (
  app_id           text not null references app,
  id               text not null unique,
  -- what the link was made for, as any provider would be told
  session_id       text not null,
  customer_id      text,
  email            text,
  items            json not null,
  success_url      text not null,
  cancel_url       text not null,
  state            text not null default 'open' check (state in ('open', 'paid', 'cancelled', 'expired')),
  subscription_id  text,
  made_at          timestamptz(3) not null,
  expires_at       timestamptz(3) not null,
  primary key (app_id, id)
);
create unique index sandbox_checkout_session on sandbox_checkout (app_id, session_id);
create index sandbox_checkout_open on sandbox_checkout (app_id, expires_at) where state in ('open', 'cancelled');

create table sandbox_subscription (
  app_id                text not null,
  id                    text not null,
  session_id            text not null,
  customer_id           text not null,
  price_ids             text[] not null,
  interval              text not null,
  status                text not null check (status in ('active', 'past_due', 'canceled')),
  made_at               timestamptz(3) not null,
  period_end            timestamptz(3) not null,
  past_due_since        timestamptz(3),
  cancel_at_period_end  boolean not null default false,
  ended_at              timestamptz(3),
  -- whether the card takes further charges
  card_renews           boolean not null,
  primary key (app_id, id),
  foreign key (app_id, customer_id) references sandbox_customer
);
create index sandbox_subscription_due on sandbox_subscription (app_id, period_end) where status <> 'canceled';

-- Sent until the inbox takes it.
create table sandbox_event (
  app_id   text not null references app,
  id       text not null,
  payload  json not null,
  primary key (app_id, id)
);
`)
    .execute(db)
}
