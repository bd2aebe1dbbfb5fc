-- Changes of many users at once, requested by a member: checked first, then applied row by row in the background.
create table bulk_change (
  app_id       text not null references app,
  id           text not null,
  seq          bigint generated always as identity,
  state        text not null check (state in ('CHECKING', 'CHECKED', 'APPLYING', 'APPLIED', 'UNDOING', 'UNDONE', 'STOPPED',
                 'FAILED')),
  -- what to do, and of which users or subscriptions
  request      json not null,
  member_id    bigint not null,
  member_email text not null,
  created_at   timestamptz(3) not null default now(),
  -- the page of the list at which checking continues
  continue_at  text,
  rows         int not null default 0,
  changing     int not null default 0,
  -- how many rows cannot be changed, by reason
  skipped      json not null default '{}',
  done         int not null default 0,
  refused      int not null default 0,
  undone       int not null default 0,
  kept         int not null default 0,
  problem      text,
  primary key (app_id, id)
);
create unique index bulk_change_seq on bulk_change (app_id, seq);

create table bulk_change_row (
  app_id          text not null,
  bulk_id         text not null,
  number          int not null,
  -- not the id, which may change and is erased with the user
  user_uid        bigint not null,
  -- the subscription that is changed; once it is changed, the one that the change made
  subscription_id text,
  outcome         text not null check (outcome in ('CHANGE', 'SKIP', 'DONE', 'REFUSED', 'UNDONE', 'KEPT')),
  message         text,
  -- what takes it back; null: nothing does
  undo            json,
  primary key (app_id, bulk_id, number),
  foreign key (app_id, bulk_id) references bulk_change on delete cascade
);
-- a user or subscription is in a change once, however often the list shows it
create unique index bulk_change_row_once on bulk_change_row (app_id, bulk_id, user_uid, subscription_id) nulls not distinct;
create index bulk_change_row_outcome on bulk_change_row (app_id, bulk_id, outcome, number);
