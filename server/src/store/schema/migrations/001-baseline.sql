-- The schema of 0.1.0. This file never changes after the release: later changes are files of their own.
--
-- Every key starts with app_id, so that an app sees only its own rows and a sharded PostgreSQL can distribute by it.
-- Timestamps have milliseconds, as JavaScript does, so that the start of a period is the same value on both sides.

----------------------------------------------------------------------------------------------------------------------
-- Apps

create table app (
  id                   text primary key,
  name                 text not null,
  -- null: real time. Otherwise the app's own time, which only advanceClock moves.
  test_clock           timestamptz(3),
  -- Rises with every change of the catalogue, the API keys or the origins: cached copies are valid for one version.
  version              bigint not null default 1,
  -- web pages that may call the client API
  origins              text[] not null default '{}',
  created_at           timestamptz(3) not null default now(),
  -- how long access lasts after a failed payment
  grace_days           integer not null default 7 check (grace_days between 0 and 365),
  -- whether access ends when everything paid for the running period is refunded or disputed
  access_after_refund  text not null default 'KEEP' check (access_after_refund in ('KEEP', 'END')),
  archived_at          timestamptz(3),
  -- A deletion removes rows in batches, and the app's own row last.
  deleting_since       timestamptz(3),
  deleted_rows         bigint not null default 0
);

create table api_key (
  app_id        text not null references app,
  id            text not null,
  name          text not null,
  prefix        text not null,
  hash          bytea not null unique,
  created_at    timestamptz(3) not null default now(),
  revoked_at    timestamptz(3),
  last_used_at  timestamptz(3),
  expires_at    timestamptz(3),
  primary key (app_id, id)
);

-- Keys that sign user tokens.
create table token_key (
  app_id      text not null references app,
  id          text not null,
  algorithm   text not null,
  -- the secret or private key, sealed with the master key if there is one
  material    bytea not null,
  public_key  json,
  created_at  timestamptz not null default now(),
  -- A retired key signs nothing more; tokens that it has signed are valid until they expire.
  retired_at  timestamptz,
  revoked_at  timestamptz,
  primary key (app_id, id)
);
create unique index token_key_current on token_key (app_id) where retired_at is null and revoked_at is null;

-- Secrets that the service generates, shared by all processes.
create table secret (
  name   text primary key,
  value  bytea not null
);

----------------------------------------------------------------------------------------------------------------------
-- Catalogue

create table feature (
  app_id             text not null references app,
  id                 text not null,
  seq                bigint generated always as identity,
  name               text not null,
  type               text not null check (type in ('BINARY', 'CONSUMABLE')),
  unit_label         text,
  unit_label_plural  text,
  metadata           json not null,
  -- reset periods that overrides count by, in addition to those of packages
  override_periods   text[] not null default '{}',
  archived_at        timestamptz(3),
  primary key (app_id, id)
);

create table package (
  app_id       text not null references app,
  id           text not null,
  seq          bigint generated always as identity,
  name         text not null,
  status       text not null default 'DRAFT' check (status in ('DRAFT', 'PUBLISHED')),
  is_addon     boolean not null,
  metadata     json not null,
  -- unpublished edits of a published package: { name, features }
  draft        json,
  updated_at   timestamptz(3) not null,
  version      int not null default 1,
  -- when version 1 was published
  first_published_at timestamptz(3),
  -- position of the last entry in package_history
  history      int not null default 1,
  archived_at  timestamptz(3),
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

-- The versions of a package, in order. A subscription's version is the one it was bought at, moved on by every later
-- entry that applies to it.
create table package_history (
  app_id        text not null,
  package_id    text not null,
  position      int not null,
  -- PUBLISHED: to_version was published. MIGRATED: subscriptions with from_version were moved to to_version.
  kind          text not null check (kind in ('PUBLISHED', 'MIGRATED')),
  from_version  int not null,
  to_version    int not null,
  reach         text not null check (reach in ('ALL', 'NEW_ONLY', 'AT_PERIOD_END')),
  at            timestamptz(3) not null,
  -- what from_version granted: [{ featureId, limit, resetPeriod, overageEnabled }]; null for a migration
  features      json,
  -- only of a migration
  id            text,
  undone_at     timestamptz(3),
  primary key (app_id, package_id, position),
  foreign key (app_id, package_id) references package
);
create unique index package_migration on package_history (app_id, id) where id is not null;

----------------------------------------------------------------------------------------------------------------------
-- Users

-- Other tables refer to uid, so that a change of id touches one row. Ids are compared byte by byte, so that one index
-- serves both the key and the search by prefix.
create table users (
  app_id      text not null references app,
  uid         bigint generated always as identity,
  id          text collate "C" not null,
  billing_id  text collate "C",
  name        text,
  email       text,
  metadata    json not null,
  created_at  timestamptz(3) not null default now(),
  -- Exceptions, by feature id. In this row because every check reads it anyway.
  overrides   json,
  -- The subscriptions that are not cancelled, for the same reason: see live_subscriptions. Triggers keep it up to date.
  subscriptions  json,
  -- Previous ids and when they were given up, [{ id, until }]: rows written under them belong to this user too.
  former_ids  jsonb,
  primary key (app_id, uid),
  unique (app_id, id)
) with (fillfactor = 85);  -- room on the page for the next version, so that a change of subscriptions touches no index
create unique index users_billing_id on users (app_id, billing_id) where billing_id is not null;
create index users_with_overrides on users (app_id, uid) where overrides is not null;

-- The search for users. An email or a name may be longer than an index entry: its beginning is enough to find it.
create index users_by_email on users (app_id, left(lower(email), 128) collate "C", uid) where email is not null;
create index users_by_name on users (app_id, left(lower(name), 128) collate "C", uid) where name is not null;

-- The search by any part of a word. Words are indexed by their parts of five characters, prefixed with a hash of the app,
-- so that the search of one app reads no other app's users. Parts of three characters, as in pg_trgm, are too common:
-- searches took ten times as long.
create function user_parts(app_id text, id text, name text, email text, billing_id text) returns tsvector
  language plpgsql immutable parallel safe cost 1000 as $$
declare
  app text := left(md5(app_id), 4);
  parts text[] := '{}';
  word text;
begin
  foreach word in array string_to_array(lower(concat_ws(' ', left(id, 256), left(name, 256), left(email, 256),
      left(billing_id, 256)) collate "default"), ' ') loop
    -- Parts at the end of a word are shorter, but no shorter than what is searched for.
    for i in 1 .. length(word) - 2 loop
      parts := parts || (app || substr(word, i, 5));
    end loop;
  end loop;
  return array_to_tsvector(parts);
end $$;
create index users_by_part on users using gin (user_parts(app_id, id, name, email, billing_id));

-- What the parts of a user must match to contain every word of a search; null: no word is long enough.
create function parts_of_search(app_id text, search text) returns tsquery
  language plpgsql immutable parallel safe as $$
declare
  app text := left(md5(app_id), 4);
  wanted text[] := '{}';
  word text;
  part text;
begin
  foreach word in array string_to_array(lower(search collate "default"), ' ') loop
    for i in 0 .. (length(word) - 1) / 5 loop
      -- The last part overlaps the previous one, so that it has five characters.
      part := substr(word, greatest(1, least(i * 5 + 1, length(word) - 4)), 5);
      continue when length(part) < 3;
      wanted := wanted || ('''' || replace(replace(app || part, '\', '\\'), '''', '''''') || ''''
        || case when length(part) < 5 then ':*' else '' end);
    end loop;
  end loop;
  return nullif(array_to_string(wanted, ' & '), '')::tsquery;
end $$;

-- Users with every word of the search in their id, name, email or billing id, none of which starts with the search:
-- first those with a word of the name that starts with it, then the others, oldest first. If there are more than `most`,
-- which of them are found is undefined. A function, because it needs bitmap scans (GIN indexes have no other), and the
-- connections that search by prefix have them turned off.
create function users_with_part(in_app text, search text, most int, after_key text, after_uid bigint, wanted bigint)
  returns table (uid bigint, id text, billing_id text, name text, email text, metadata json,
    created_at timestamptz(3), key text)
  language plpgsql stable set enable_bitmapscan = on set max_parallel_workers_per_gather = 0 as $$
declare
  folded text := lower(search collate "default");
  words text[] := array(select '%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%'
    from string_to_table(folded, ' ') as word);
  parts tsquery := parts_of_search(in_app, search);
begin
  if parts is null then
    return;
  end if;
  return query
    select f.* from (
      select u.uid, u.id, u.billing_id, u.name, u.email, u.metadata, u.created_at,
        case when strpos(' ' || lower(u.name), ' ' || folded) > 0 then '0' else '1' end collate "C" as key
      from users u
      where u.app_id = in_app and user_parts(u.app_id, u.id, u.name, u.email, u.billing_id) @@ parts
        and not starts_with(u.id, search)
        and not coalesce(starts_with(lower(u.email), folded), false)
        and not coalesce(starts_with(u.billing_id, search), false)
        and not coalesce(starts_with(lower(u.name), folded), false)
        and lower(concat_ws(' ', u.id, u.name, u.email, u.billing_id) collate "default") like all (words)
      limit most) f
    where (f.key, f.uid) > (after_key collate "C", after_uid) order by f.key, f.uid limit wanted;
end $$;

-- Hashes of the provider ids of deleted users: later reports about them are dropped.
create table erased_ref (
  app_id  text not null references app,
  hash    bytea not null,
  primary key (app_id, hash)
);

----------------------------------------------------------------------------------------------------------------------
-- Subscriptions

-- What a provider last reported about one of its subscriptions, or about a one-off payment.
create table provider_subscription (
  app_id           text not null,
  provider         text not null,
  ref              text not null,
  user_uid         bigint not null,
  customer_ref     text,
  status           text not null,
  live             boolean not null,
  -- when the provider created it
  made_at          timestamptz(3) not null,
  -- In real time, even if the app has a test clock: of two base plans, the one paid later counts.
  paid_at          timestamptz(3) not null default now(),
  paid_until       timestamptz(3),
  past_due_since   timestamptz(3),
  trial_ends_at    timestamptz(3),
  -- start and length of the billing periods; null: unknown, or not recurring
  anchor           timestamptz(3),
  interval         text,
  -- what it is charged for; quantities[i] is of price_ids[i]
  price_ids        text[] not null default '{}',
  quantities       bigint[] not null default '{}',
  billing_state    text not null default 'active' check (billing_state in ('active', 'past due', 'paused')),
  -- refunded or disputed payments, see domain/reversal.ts; null: none known
  reversals        json,
  -- when these ended access; null: they did not, or access was restored
  access_ended_at  timestamptz(3),
  -- Rises with every write: a report that was read before another was written is read again.
  version          bigint not null default 1,
  -- who is changing it at the provider, so that changes are made one at a time
  leased_by        text,
  leased_until     timestamptz,
  primary key (app_id, provider, ref),
  foreign key (app_id, user_uid) references users
);
create index provider_subscription_customer on provider_subscription (app_id, provider, customer_ref);
create index provider_subscription_user on provider_subscription (app_id, user_uid);
create index provider_subscription_live on provider_subscription (app_id, provider, ref) where live;
create index provider_subscription_past_due on provider_subscription (app_id, past_due_since)
  where past_due_since is not null;
create index provider_subscription_reversed on provider_subscription (app_id, provider, ref)
  where reversals is not null;
-- Those that will not renew, but may still be refunded.
create index provider_subscription_final on provider_subscription (app_id, (coalesce(paid_until, made_at)))
  where not live;

create table subscription (
  app_id           text not null,
  id               text not null,
  seq              bigint generated always as identity,
  user_uid         bigint not null,
  package_id       text not null,
  is_addon         boolean not null,
  started_at       timestamptz(3) not null,
  anchor           timestamptz(3) not null,
  trial_ends_at    timestamptz(3),
  cancel_at        timestamptz(3),
  cancelled_at     timestamptz(3),
  metadata         json not null default '{}',
  quantity         int not null default 1 check (quantity between 1 and 1000000),
  -- the version that was bought, and the package's history at that time: later entries may apply too
  package_version  int not null default 1,
  version_as_of    int not null default 1,
  -- the subscription that this one is planned to succeed at its started_at; null once it has
  follows          text,
  -- null: not paid for at a provider
  provider         text,
  provider_ref     text,
  primary key (app_id, id),
  foreign key (app_id, user_uid) references users,
  foreign key (app_id, package_id) references package,
  foreign key (app_id, provider, provider_ref) references provider_subscription
);
create unique index one_live_base_plan on subscription (app_id, user_uid)
  where cancelled_at is null and not is_addon and follows is null;
create unique index one_live_subscription_per_package on subscription (app_id, user_uid, package_id)
  where cancelled_at is null and follows is null;
create unique index one_successor on subscription (app_id, follows) where follows is not null and cancelled_at is null;
create unique index subscription_seq on subscription (app_id, seq);
create index subscription_user on subscription (app_id, user_uid, seq);
create index subscription_live on subscription (app_id, user_uid) where cancelled_at is null;
create index subscription_package on subscription (app_id, package_id, seq);
create index subscription_provider on subscription (app_id, provider, provider_ref) where provider is not null;
create index subscription_started on subscription (app_id, started_at, seq);
create index subscription_ended on subscription (app_id, (coalesce(cancelled_at, cancel_at)), seq)
  where coalesce(cancelled_at, cancel_at) is not null;
create index subscription_trial on subscription (app_id, trial_ends_at, seq) where trial_ends_at is not null;

create function ms_of(moment timestamptz) returns bigint language sql immutable parallel safe as $$
  select (extract(epoch from moment) * 1000)::bigint
$$;

-- What access depends on, as a list for each subscription: read by store/usage/read-holdings.ts. Those that have ended or
-- not yet begun by their own times are included, since time alone changes no row.
create function live_subscriptions(of_app text, of_user bigint) returns json language plpgsql stable as $$
begin
  return (
    select json_agg(json_build_array(package_id, is_addon, ms_of(started_at), ms_of(anchor), quantity,
      package_version, version_as_of, ms_of(cancel_at), follows is not null) order by seq)
    from subscription where app_id = of_app and user_uid = of_user and cancelled_at is null);
end $$;

-- Each user is locked before their subscriptions are read: the statement after the lock sees what was committed meanwhile.
create function note_subscriptions() returns trigger language plpgsql as $$
begin
  perform from users where (app_id, uid) in (select app_id, user_uid from changed)
    order by app_id, uid for no key update;
  update users u set subscriptions = n.subscriptions
  from (select app_id, user_uid, live_subscriptions(app_id, user_uid) as subscriptions
        from (select distinct app_id, user_uid from changed) c) n
  where u.app_id = n.app_id and u.uid = n.user_uid and u.subscriptions::text is distinct from n.subscriptions::text;
  return null;
end $$;
create trigger subscription_added after insert on subscription referencing new table as changed
  for each statement execute function note_subscriptions();
create trigger subscription_changed after update on subscription referencing new table as changed
  for each statement execute function note_subscriptions();
create trigger subscription_removed after delete on subscription referencing old table as changed
  for each statement execute function note_subscriptions();

----------------------------------------------------------------------------------------------------------------------
-- Usage

create table usage_counter (
  app_id        text not null,
  user_uid      bigint not null,
  feature_id    text not null,
  reset_period  text not null,
  period_start  timestamptz(3) not null,
  used          bigint not null check (used between 0 and 9007199254740991),
  primary key (app_id, user_uid, feature_id, reset_period, period_start)
) with (fillfactor = 80);  -- room on the page for the next value, so that an update touches no index

-- Append-only: one row per recorded call. A counter always equals the sum of its rows here and in ledger_base.
-- Partitioned by blocks of 2^40 numbers, so that old entries can be dropped together. Blocks follow time because the
-- sequence is moved to the next block when that is due: see store/ledger/ledger-partitions.ts.
create table usage_ledger (
  app_id        text not null,
  user_uid      bigint not null,
  feature_id    text not null,
  reset_period  text not null,
  period_start  timestamptz(3) not null,
  seq           bigint generated always as identity,
  action        text not null,
  -- what the call added; for SET, the difference it made
  delta         bigint not null,
  used          bigint not null,
  recorded_at   timestamptz(3) not null,
  primary key (app_id, user_uid, feature_id, seq)
) partition by range (seq);
create table usage_ledger_0 partition of usage_ledger for values from (minvalue) to (1099511627776);
create table usage_ledger_1 partition of usage_ledger for values from (1099511627776) to (2199023255552);

create table ledger_partition (
  -- entries with seq from block * 2^40 to the next block
  block         int primary key,
  -- when the sequence moved here; null: not yet
  opened_at     timestamptz(3),
  -- retirement in progress: since when, the file it reads, changes meanwhile, and how many pages are summed up
  retiring_at   timestamptz(3),
  filenode      oid,
  changes       int not null default 0,
  pages_summed  bigint not null default 0,
  -- when its entries were replaced by their sums in ledger_base; null: they are in the ledger
  retired_at    timestamptz(3),
  entries       bigint,
  -- the archive they were written to, and its checksum
  file          text,
  sha256        text
);
insert into ledger_partition (block, opened_at) values (0, now()), (1, null);

-- Sums of retired partitions, by counter. They count once the partition is retired.
create table ledger_base (
  app_id        text not null,
  user_uid      bigint not null,
  feature_id    text not null,
  reset_period  text not null,
  period_start  timestamptz(3) not null,
  block         int not null,
  delta         bigint not null,
  entries       bigint not null,
  primary key (app_id, user_uid, feature_id, reset_period, period_start, block)
);

-- Entries are deleted only with a user of the sample or with their app. A partition that is being retired is then read
-- again.
create function note_ledger_change() returns trigger language plpgsql as $$
begin
  update ledger_partition set changes = changes + 1 where retiring_at is not null and retired_at is null;
  return null;
end $$;
create trigger usage_ledger_changed before update or delete on usage_ledger
  for each statement execute function note_ledger_change();

-- Latest usage by user and feature, for the home page.
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

-- Calls of checks and records per minute.
create table activity (
  app_id   text not null,
  minute   timestamptz(0) not null,
  checks   bigint not null,
  records  bigint not null,
  primary key (app_id, minute)
);

-- The same by feature, per hour.
create table feature_activity (
  app_id      text not null,
  feature_id  text not null,
  hour        timestamptz(0) not null,
  -- invented for the sample, and removed with it
  sample      boolean not null default false,
  checks      bigint not null,
  -- checks that were answered with no
  denied      bigint not null,
  -- recorded calls, the sum of what they added, and refused calls
  records     bigint not null,
  units       numeric not null,
  refused     bigint not null,
  primary key (app_id, feature_id, hour, sample),
  foreign key (app_id, feature_id) references feature on delete cascade
);
create index feature_activity_by_hour on feature_activity (hour);

-- Answers to mutations with an idempotency key, written in the transaction of their effect.
create table idempotency (
  app_id      text not null,
  -- 'request': the header of a whole request. 'usage': the key inside a usage event.
  scope       text not null,
  key         text not null,
  -- SHA-256 of the request
  request     bytea not null,
  -- by response name of the mutation field, since a request may have several
  results     json not null,
  created_at  timestamptz(3) not null default now(),
  -- the user it was about, if the answer does not say: the caller chooses the key, which may name the user
  user_uid    bigint,
  primary key (app_id, scope, key)
);
create index idempotency_age on idempotency (created_at);

----------------------------------------------------------------------------------------------------------------------
-- Billing

-- A price has the provider's id, by which a payment is matched with it. It is the price of one package only.
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
  -- see domain/sale-terms.ts
  terms        json not null default '{"trialDays":null,"trialNeedsCard":true,"promotionCodes":false}',
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

-- One payment link. The provider gets its id, and returns it with everything that follows from the link.
create table checkout_session (
  app_id        text not null,
  id            text not null,
  template_id   text not null,
  -- null: the payer becomes a user
  user_uid      bigint,
  provider      text not null,
  -- the offer when the link was created
  items         json not null,
  terms         json not null default '{"trialDays":null,"trialNeedsCard":true,"promotionCodes":false}',
  success_url   text not null,
  cancel_url    text not null,
  -- the provider's id and address of it; null until the provider has answered
  provider_ref  text,
  url           text,
  state         text not null default 'OPEN' check (state in ('OPEN', 'AWAITING', 'PAID', 'FAILED', 'EXPIRED')),
  created_at    timestamptz(3) not null default now(),
  -- in real time, even if the app has a test clock
  paid_at       timestamptz(3),
  primary key (app_id, id),
  foreign key (app_id, template_id) references billing_template,
  foreign key (app_id, user_uid) references users
);
create unique index checkout_session_ref on checkout_session (app_id, provider, provider_ref)
  where provider_ref is not null;
create index checkout_session_user on checkout_session (app_id, user_uid) where user_uid is not null;
create index checkout_session_template on checkout_session (app_id, template_id);
create index checkout_session_unsettled on checkout_session (app_id, created_at)
  where state in ('OPEN', 'AWAITING');
create index checkout_session_closed on checkout_session (created_at) where state in ('PAID', 'FAILED', 'EXPIRED');

-- Secrets are sealed: see store/secrets/keyring.ts.
create table provider_account (
  app_id                   text not null references app,
  provider                 text not null,
  enabled                  boolean not null default true,
  -- The owner turned the sandbox on although a live key is set.
  beside_live              boolean not null default false,
  secret_key               bytea,
  webhook_secret           bytea,
  -- accepted as well, while the provider still signs with it
  previous_webhook_secret  bytea,
  updated_at               timestamptz(3) not null default now(),
  primary key (app_id, provider)
);

-- Inbox of the providers' webhook events, each stored once.
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
  -- The provider's id of a payment that granted nothing. One notice says why, however many there are about it.
  payment_ref  text,
  received_at  timestamptz(3) not null default now(),
  handled_at   timestamptz(3),
  primary key (app_id, seq)
);
create unique index notice_event on notice (app_id, provider, event_id);
create index notice_state on notice (app_id, state, seq);
create unique index notice_failed_payment on notice (app_id, provider, payment_ref)
  where state = 'FAILED' and payment_ref is not null;

-- Paid and failed invoices of the providers, and one-off payments.
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

-- Figures of the Revenue page, which are expensive to compute; one row per app and range.
create table revenue_figures (
  app_id   text not null references app,
  days     int not null,
  -- by the app's clock
  as_of    timestamptz(3) not null,
  made_at  timestamptz(3) not null default now(),
  figures  json not null,
  primary key (app_id, days)
);

----------------------------------------------------------------------------------------------------------------------
-- The sandbox: the books of the built-in provider, which the rest of the service sees only through its interface

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
  -- of the payment link, as any provider gets it
  session_id       text not null,
  customer_id      text,
  email            text,
  items            json not null,
  terms            json not null default '{"trialDays":null,"trialNeedsCard":true,"promotionCodes":false}',
  success_url      text not null,
  cancel_url       text not null,
  state            text not null default 'open' check (state in ('open', 'paid', 'cancelled', 'expired')),
  subscription_id  text,
  made_at          timestamptz(3) not null,
  expires_at       timestamptz(3) not null,
  -- by the app's clock, and in real time
  paid_at          timestamptz(3),
  paid_really_at   timestamptz(3),
  -- of a one-off payment: [{ id, amount, at, failed }] and { state, reason, at }
  refunds          json,
  dispute          json,
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
  -- by price id; 1 if missing
  quantities            json not null default '{}',
  interval              text not null,
  status                text not null check (status in ('active', 'past_due', 'canceled')),
  made_at               timestamptz(3) not null,
  -- what periods are counted from; null: made_at
  anchor                timestamptz(3),
  period_end            timestamptz(3) not null,
  past_due_since        timestamptz(3),
  trial_ends_at         timestamptz(3),
  cancel_at_period_end  boolean not null default false,
  -- what is charged from a later time on: { at, interval, items: [{ priceId, quantity }] }
  scheduled             json,
  ended_at              timestamptz(3),
  -- credited by earlier changes and not used by an invoice yet
  credit                bigint not null default 0,
  -- whether the card accepts further charges
  card_renews           boolean not null,
  -- It started with a trial without a card: when that ends, there is nothing to charge.
  card_missing          boolean not null default false,
  primary key (app_id, id),
  foreign key (app_id, customer_id) references sandbox_customer
);
create index sandbox_subscription_due on sandbox_subscription (app_id, period_end) where status <> 'canceled';

create table sandbox_invoice (
  app_id           text not null,
  subscription_id  text not null,
  number           int not null,
  id               text not null,
  reason           text not null,
  currency         text not null,
  -- [{ priceId, quantity, amount, proration }], in minor units; credits are negative
  lines            json not null,
  -- the sum of the lines, less earlier credit
  due              bigint not null,
  paid             boolean not null,
  made_at          timestamptz(3) not null,
  -- [{ id, amount, at, failed }] and { state, reason, at }
  refunds          json,
  dispute          json,
  primary key (app_id, subscription_id, number),
  foreign key (app_id, subscription_id) references sandbox_subscription
);
create unique index sandbox_invoice_id on sandbox_invoice (app_id, id);

-- Sent until the inbox accepts it.
create table sandbox_event (
  app_id   text not null references app,
  id       text not null,
  payload  json not null,
  primary key (app_id, id)
);

----------------------------------------------------------------------------------------------------------------------
-- Members

create table member (
  id             bigint generated always as identity primary key,
  email          text not null unique,
  password_hash  text not null,
  role           text not null check (role in ('OWNER', 'EDITOR', 'VIEWER')),
  created_at     timestamptz(3) not null default now()
);

create table session (
  id            bigint generated always as identity unique,
  hash          bytea primary key,
  member_id     bigint not null references member,
  created_at    timestamptz(3) not null default now(),
  last_seen_at  timestamptz(3) not null default now(),
  expires_at    timestamptz(3) not null,
  user_agent    text
);
create index session_member on session (member_id, last_seen_at);
create index session_expiry on session (expires_at);

create table invitation (
  id          text primary key,
  email       text not null,
  role        text not null check (role in ('OWNER', 'EDITOR', 'VIEWER')),
  hash        bytea not null unique,
  invited_by  text not null,
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3) not null
);

-- Links to set a new password.
create table password_reset (
  member_id   bigint primary key references member on delete cascade,
  hash        bytea not null unique,
  -- The link is deleted when its maker may no longer make one. Null: the command line.
  made_by     bigint references member on delete cascade,
  created_at  timestamptz(3) not null,
  expires_at  timestamptz(3) not null
);

-- How fast passwords may be tried, by the source of the guesses.
create table sign_in_pace (
  -- a hash of an address, an account, or both
  source   bytea primary key,
  -- when it may try again as often as a source that never tried
  full_at  timestamptz(3) not null
);
create index sign_in_pace_age on sign_in_pace (full_at);

create table audit_entry (
  -- '' for what belongs to no app
  app_id        text not null,
  seq           bigint generated always as identity unique,
  at            timestamptz(3) not null default now(),
  actor_kind    text not null default 'MEMBER',
  -- the actor, whatever its kind: a member's email, the id of an API key, the name of a provider
  member_email  text not null,
  actor_name    text,
  source        text,
  operation     text not null,
  subject_kind  text not null,
  subject_id    text,
  before        json,
  after         json,
  primary key (app_id, seq)
);
create index audit_by_kind on audit_entry (app_id, actor_kind, at, seq);
create index audit_by_actor on audit_entry (app_id, member_email, at, seq);
create index audit_by_operation on audit_entry (app_id, operation, at, seq);
create index audit_by_subject on audit_entry (app_id, subject_id, at, seq) where subject_id is not null;

----------------------------------------------------------------------------------------------------------------------
-- CSV imports of users

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
  -- the last lines that were applied and undone, so that rows need no mark of their own
  applied_to    bigint not null default 0,
  undone_to     bigint not null default 0,
  -- hidden until its rows are deleted
  dropped       boolean not null default false,
  primary key (app_id, id)
);

-- One row per line of the file, with the user's previous values: for the diff, the report and undoing. It has no foreign
-- key, which would be looked up for every row.
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
  primary key (app_id, import_id, line)
);
create unique index user_once_per_import on user_import_row (app_id, import_id, user_uid) where user_uid is not null;
create unique index billing_id_once_per_import on user_import_row (app_id, import_id, new_billing_id)
  where user_uid is not null and new_billing_id is distinct from old_billing_id;
-- Only rare outcomes are looked for; rows with the others are on the next page anyway.
create index user_import_outcome on user_import_row (app_id, import_id, outcome, line)
  where outcome in ('BAD', 'REFUSED', 'KEPT');

----------------------------------------------------------------------------------------------------------------------
-- Sample data

-- What the sample added, so that exactly this is removed again.
create table sample_item (
  app_id  text not null,
  kind    text not null,
  id      text not null,
  primary key (app_id, kind, id)
);

-- Invented calls, apart from real ones.
create table sample_activity (
  app_id   text not null,
  minute   timestamptz(0) not null,
  checks   bigint not null,
  records  bigint not null,
  primary key (app_id, minute)
);

----------------------------------------------------------------------------------------------------------------------
-- Upkeep

-- Background workers: each raises its number every few seconds. A worker whose number stands still is dead, and its jobs
-- are free. Numbers, not times: no worker looks dead because the database's clock was set.
create table job_worker (
  id     text primary key,
  beats  bigint not null
);

-- Written by /readyz, to find out whether the database accepts writes.
create table liveness (
  only_row    boolean primary key check (only_row),
  written_at  timestamptz not null,
  -- The primary's timeline when last seen: a replica with another one did not follow the last failover.
  timeline    int
);

----------------------------------------------------------------------------------------------------------------------
-- Cells: schemas that share the users between them, see store/cells/cells.ts. There are none until an operator adds one.

create table cell (
  id          int primary key,
  schema      text not null unique,
  -- on another server: see store/cells/remote-cells.ts
  remote      boolean not null default false,
  -- the cell it is getting half of the users from; null: none, or it has them all
  split_from  int
);

-- Which cell the users of a bucket are in.
create table cell_bucket (
  bucket  int primary key check (bucket between 0 and 1023),
  cell    int not null references cell
);

-- The bucket of a user: ten bits of a hash.
create function bucket_of(app_id text, user_id text) returns int language sql immutable parallel safe as $$
  select (get_byte(h, 0) << 2) | (get_byte(h, 1) >> 6)
  from (select sha256(convert_to(app_id || chr(31) || user_id, 'UTF8')) as h) hashed
$$;

-- Who has a billing id: with several cells, no index of one table can tell.
create table user_billing_id (
  app_id      text not null,
  billing_id  text collate "C" not null,
  uid         bigint not null,
  constraint users_billing_id_of_app primary key (app_id, billing_id)
);

-- For users on another server, where no trigger does it.
create function claim_billing_id(of_app text, wanted text, owner bigint) returns void language plpgsql as $$
begin
  insert into user_billing_id (app_id, billing_id, uid) values (of_app, wanted, owner) on conflict do nothing;
  if not found then
    raise unique_violation using constraint = 'users_billing_id',
      message = 'another user of the app has this billing id';
  end if;
end $$;

-- Default of columns that are numbered by a sequence on this server. On another server, which does not have the sequence,
-- it fails instead of starting again from one.
create function next_number(sequence text) returns bigint language sql volatile as $$
  select nextval(sequence::regclass)
$$;

-- Never has a row: see commitTogether in store/cells/remote-commits.ts.
create table remote_work (id int primary key);
