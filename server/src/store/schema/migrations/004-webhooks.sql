-- Webhook endpoints: URLs that receive the events of an app, and one delivery per endpoint and event.

create table webhook_endpoint (
  app_id                 text not null references app,
  id                     text not null,
  seq                    bigint generated always as identity,
  url                    text not null,
  -- empty: all types
  types                  text[] not null default '{}',
  description            text,
  -- sealed
  secret                 bytea not null,
  -- signs as well until the given time
  previous_secret        bytea,
  previous_secret_until  timestamptz(3),
  enabled                boolean not null default true,
  -- why the service disabled it
  disabled_reason        text check (disabled_reason in ('GONE', 'FAILING')),
  disabled_at            timestamptz(3),
  -- the first failed attempt since the last successful one
  failing_since          timestamptz(3),
  created_at             timestamptz(3) not null default now(),
  primary key (app_id, id),
  check (enabled = (disabled_at is null))
);

-- Without a foreign key to its endpoint: those of a deleted one are removed in batches.
create table webhook_delivery (
  app_id       text not null,
  endpoint_id  text not null,
  seq          bigint generated always as identity,
  event_id     text not null,
  event_type   text not null,
  -- of the event in event_log; null: a test event, which is only here
  sequence     bigint,
  state        text not null default 'PENDING' check (state in ('PENDING', 'SUCCEEDED', 'FAILED')),
  -- since it was sent or resent
  attempts     int not null default 0,
  -- while pending: when it is due. While an attempt is in progress: when its process is taken for dead.
  due_at       timestamptz(3) default now(),
  -- identifies the attempt in progress
  lease        uuid,
  -- the latest attempts, oldest first
  log          json not null default '[]',
  created_at   timestamptz(3) not null default now(),
  primary key (app_id, endpoint_id, seq),
  check ((state = 'PENDING') = (due_at is not null))
);
create unique index webhook_delivery_event on webhook_delivery (app_id, endpoint_id, event_id);
create index webhook_delivery_due on webhook_delivery (app_id, endpoint_id, due_at) where state = 'PENDING';
create index webhook_delivery_state on webhook_delivery (app_id, endpoint_id, state, seq);

-- An event is resent by its id.
create index event_log_id on event_log (app_id, id);
