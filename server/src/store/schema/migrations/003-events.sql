-- Events: a log of every change that other systems may need to know about.
--
-- Triggers write each change to event_outbox, in the transaction that makes it, so no writer can bypass the log. One
-- publisher at a time moves committed rows to event_log and numbers them there: see docs/decisions/event-log.md.

alter table app
  -- how long events are kept
  add column event_days int not null default 30 check (event_days between 1 and 90),
  -- whether each recorded call is an event
  add column usage_events boolean not null default false;

-- Percentages of the budget at which usage is reported; null: the default.
alter table feature add column thresholds int[];

create table event_outbox (
  id          bigint generated always as identity primary key,
  app_id      text not null,
  -- by the app's clock
  at          timestamptz(3) not null,
  txn         xid8 not null default pg_current_xact_id(),
  -- in real time, even if the app has a test clock
  written_at  timestamptz not null default clock_timestamp(),
  -- USER, SUBSCRIPTION, FEATURE, PACKAGE, PAYMENT, REVERSALS: a row that changed. HISTORY: an entry of package_history.
  -- DUE: a time that was reached. EVENT: an event as it is to be published. FANOUT: the rest of the users of a package.
  kind        text not null,
  -- INSERT, UPDATE or DELETE, or the type of the event
  type        text not null,
  user_uid    bigint,
  user_id     text,
  before      json,
  after       json
);

-- What time alone will bring. Written by the triggers, and moved to event_outbox when due.
create table event_due (
  app_id    text not null,
  -- 's' and the id of a subscription; 'o', a user and a feature; or 'u' and a user
  subject   text collate "C" not null,
  type      text not null,
  due_at    timestamptz(3) not null,
  user_uid  bigint not null,
  data      json,
  primary key (app_id, subject, type, due_at)
);
create index event_due_at on event_due (due_at);
create index event_due_of_app on event_due (app_id, due_at);

-- The days that event_log has a partition for, as days since 1970.
create table event_block (
  block  int primary key
);

-- Partitioned by sequence. A day begins at 2^36 times its number, so partitions are days of publication.
create table event_log (
  app_id    text not null,
  sequence  bigint not null,
  id        text not null default 'evt_' || replace(gen_random_uuid()::text, '-', ''),
  type      text not null,
  at        timestamptz(3) not null,
  user_uid  bigint,
  user_id   text,
  data      json not null,
  primary key (app_id, sequence)
) partition by range (sequence);
create index event_log_user on event_log (app_id, user_uid, sequence) where user_uid is not null;

-- The last published sequence.
create table event_position (
  only_row  boolean primary key default true check (only_row),
  last      bigint not null
);
insert into event_position (last) values (0);

-- The app's time. Null: nothing is noted, because the app is being deleted, or because a tool writes rows that are not new.
create function event_moment(of_app text) returns timestamptz language plpgsql stable as $$
begin
  if current_setting('tollgate.moving', true) = 'on' or current_setting('tollgate.events', true) = 'off' then
    return null;
  end if;
  return (select coalesce(test_clock, date_trunc('milliseconds', statement_timestamp())) from app
    where id = of_app and deleting_since is null);
end $$;

-- Replaces a planned moment by another. One that has passed stays: its event may not be written yet.
create function plan_event(of_app text, of_subject text, of_type text, of_user bigint, moment timestamptz,
    was timestamptz, wanted timestamptz, what json) returns void language plpgsql as $$
begin
  if was is not distinct from wanted then
    return;
  end if;
  if was > moment then
    delete from event_due where app_id = of_app and subject = of_subject and type = of_type and due_at = was;
  end if;
  if wanted is not null then
    insert into event_due (app_id, subject, type, due_at, user_uid, data)
    values (of_app, of_subject, of_type, wanted, of_user, what) on conflict do nothing;
  end if;
end $$;

create function note_user_event() returns trigger language plpgsql as $$
declare
  of_app text := coalesce(new.app_id, old.app_id);
  of_user bigint := coalesce(new.uid, old.uid);
  moment timestamptz := event_moment(of_app);
  planned record;
begin
  if moment is null then
    return null;
  end if;
  insert into event_outbox (app_id, at, kind, type, user_uid, user_id, before, after)
  values (of_app, moment, 'USER', tg_op, of_user, coalesce(new.id, old.id),
    case tg_op when 'UPDATE' then json_build_object('id', old.id, 'billingId', old.billing_id, 'name', old.name,
      'email', old.email, 'metadata', old.metadata, 'overrides', old.overrides) end,
    case when tg_op <> 'DELETE' then json_build_object('id', new.id, 'billingId', new.billing_id, 'name', new.name,
      'email', new.email, 'metadata', new.metadata, 'overrides', new.overrides) end);
  if tg_op = 'DELETE' then
    delete from event_due
    where app_id = of_app and subject >= 'o ' || of_user || ' ' and subject < 'o ' || of_user || '!';
  elsif old.overrides::text is distinct from new.overrides::text then
    for planned in
      select coalesce(a.feature, b.feature) as feature, b.ends as was, a.ends as wanted, a.o as what
      from (select o, o->>'featureId' as feature, to_timestamp((o->>'expiresAt')::float8 / 1000)::timestamptz(3) as ends
            from json_array_elements(new.overrides) o) a
      full join (select o->>'featureId' as feature, to_timestamp((o->>'expiresAt')::float8 / 1000)::timestamptz(3) as ends
            from json_array_elements(old.overrides) o) b on b.feature = a.feature
    loop
      perform plan_event(of_app, 'o ' || of_user || ' ' || planned.feature, 'override.expired', of_user, moment,
        planned.was, planned.wanted, planned.what);
    end loop;
  end if;
  return null;
end $$;

-- When the subscription ends by itself. One cancelled at another time has its event already.
create function timed_end(cancel_at timestamptz, cancelled_at timestamptz) returns timestamptz
  language sql immutable parallel safe as $$
  select case when cancelled_at is null or cancelled_at = cancel_at then cancel_at end
$$;

create function timed_trial_end(trial_ends_at timestamptz, cancel_at timestamptz, cancelled_at timestamptz)
  returns timestamptz language sql immutable parallel safe as $$
  select case when trial_ends_at is not null and (cancelled_at is null or cancelled_at = cancel_at)
    then least(trial_ends_at, cancel_at) end
$$;

create function note_subscription_event() returns trigger language plpgsql as $$
declare
  of_app text := coalesce(new.app_id, old.app_id);
  of_user bigint := coalesce(new.user_uid, old.user_uid);
  of_subject text := 's ' || coalesce(new.id, old.id);
  moment timestamptz := event_moment(of_app);
  was timestamptz;
  wanted timestamptz;
begin
  if moment is null then
    return null;
  end if;
  insert into event_outbox (app_id, at, kind, type, user_uid, user_id, before, after)
  values (of_app, moment, 'SUBSCRIPTION', tg_op, of_user,
    (select id from users where app_id = of_app and uid = of_user),
    case when tg_op <> 'INSERT' then to_json(old) end, case when tg_op <> 'DELETE' then to_json(new) end);
  if tg_op = 'DELETE' then
    delete from event_due where app_id = of_app and subject = of_subject;
    return null;
  end if;
  perform plan_event(of_app, of_subject, 'subscription.ended', of_user, moment,
    case tg_op when 'UPDATE' then timed_end(old.cancel_at, old.cancelled_at) end,
    timed_end(new.cancel_at, new.cancelled_at), null);
  -- Once it has taken over it is no longer planned, which is not a cancellation of the plan.
  if new.follows is not null then
    perform plan_event(of_app, of_subject, 'subscription.started', of_user, moment,
      case when tg_op = 'UPDATE' and old.cancelled_at is null and old.follows is not null then old.started_at end,
      case when new.cancelled_at is null then new.started_at end, json_build_object('follows', new.follows));
  end if;
  was := case tg_op when 'UPDATE' then timed_trial_end(old.trial_ends_at, old.cancel_at, old.cancelled_at) end;
  wanted := timed_trial_end(new.trial_ends_at, new.cancel_at, new.cancelled_at);
  perform plan_event(of_app, of_subject, 'trial.ended', of_user, moment, was, wanted, null);
  -- At once if there are fewer days left.
  perform plan_event(of_app, of_subject, 'trial.ending', of_user, moment, was - interval '3 days',
    case when wanted is distinct from was then case when wanted > moment then greatest(wanted - interval '3 days', moment) end
      else wanted - interval '3 days' end, null);
  return null;
end $$;

create function note_feature_event() returns trigger language plpgsql as $$
declare
  of_app text := coalesce(new.app_id, old.app_id);
  moment timestamptz := event_moment(of_app);
begin
  if moment is not null then
    insert into event_outbox (app_id, at, kind, type, before, after)
    values (of_app, moment, 'FEATURE', tg_op, case when tg_op <> 'INSERT' then to_json(old) end,
      case when tg_op <> 'DELETE' then to_json(new) end);
  end if;
  return null;
end $$;
create trigger feature_event_added after insert or delete on feature
  for each row execute function note_feature_event();
create trigger feature_event_changed after update on feature for each row
  when ((old.name, old.unit_label, old.unit_label_plural, old.archived_at, old.thresholds, old.metadata::text)
    is distinct from (new.name, new.unit_label, new.unit_label_plural, new.archived_at, new.thresholds, new.metadata::text))
  execute function note_feature_event();

create function note_package_event() returns trigger language plpgsql as $$
declare
  moment timestamptz := event_moment(new.app_id);
begin
  if moment is not null then
    insert into event_outbox (app_id, at, kind, type, before, after)
    values (new.app_id, moment, 'PACKAGE', tg_op,
      json_build_object('id', old.id, 'name', old.name, 'status', old.status, 'version', old.version, 'archivedAt', old.archived_at),
      json_build_object('id', new.id, 'name', new.name, 'status', new.status, 'version', new.version, 'archivedAt', new.archived_at));
  end if;
  return null;
end $$;
create trigger package_event_changed after update on package for each row
  when ((old.name, old.status, old.version, old.archived_at) is distinct from
    (new.name, new.status, new.version, new.archived_at))
  execute function note_package_event();

create function note_history_event() returns trigger language plpgsql as $$
declare
  moment timestamptz := event_moment(new.app_id);
begin
  if moment is not null then
    insert into event_outbox (app_id, at, kind, type, after)
    values (new.app_id, moment, 'HISTORY', tg_op, json_build_object('packageId', new.package_id, 'reach', new.reach));
  end if;
  return null;
end $$;
create trigger package_history_event_added after insert on package_history
  for each row execute function note_history_event();
create trigger package_history_event_changed after update on package_history for each row
  when (old.undone_at is distinct from new.undone_at) execute function note_history_event();

create function note_payment_event() returns trigger language plpgsql as $$
declare
  moment timestamptz := event_moment(new.app_id);
begin
  if moment is not null then
    insert into event_outbox (app_id, at, kind, type, user_uid, before, after)
    values (new.app_id, new.at, 'PAYMENT', tg_op, new.user_uid, case tg_op when 'UPDATE' then to_json(old) end, to_json(new));
  end if;
  return null;
end $$;
create trigger payment_event_added after insert on payment for each row execute function note_payment_event();
create trigger payment_event_changed after update on payment for each row
  when (old.state <> new.state) execute function note_payment_event();

create function note_reversal_event() returns trigger language plpgsql as $$
declare
  moment timestamptz := event_moment(new.app_id);
begin
  if moment is not null then
    insert into event_outbox (app_id, at, kind, type, user_uid, before, after)
    values (new.app_id, moment, 'REVERSALS', tg_op, new.user_uid,
      case tg_op when 'UPDATE' then coalesce(old.reversals, '[]') end,
      json_build_object('provider', new.provider, 'ref', new.ref, 'payments', coalesce(new.reversals, '[]')));
  end if;
  return null;
end $$;
create trigger provider_subscription_event_added after insert on provider_subscription for each row
  when (new.reversals is not null) execute function note_reversal_event();
create trigger provider_subscription_event_changed after update on provider_subscription for each row
  when (old.reversals::text is distinct from new.reversals::text) execute function note_reversal_event();

-- The triggers on the tables of users: in each cell of this server, with functions whose names lead to the tables there.
do $$
declare
  home text := quote_ident(current_schema());
  place text;
  called text;
begin
  -- With cells, the names of these tables are views here.
  for place in select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname = 'users' and c.relkind = 'r' and (n.nspname = current_schema()
      or exists (select from cell where schema = n.nspname and not remote))
  loop
    if quote_ident(place) <> home then
      foreach called in array array['note_user_event', 'note_subscription_event'] loop
        execute format('create function %I.%I() returns trigger language plpgsql set search_path = %I, %s as %L',
          place, called, place, home, (select prosrc from pg_proc where oid = (home || '.' || called)::regproc));
      end loop;
    end if;
    execute format('create trigger users_event_added after insert or delete on %1$I.users
      for each row execute function %1$I.note_user_event()', place);
    execute format('create trigger users_event_changed after update of id, billing_id, name, email, metadata, overrides
      on %1$I.users for each row
      when ((old.id, old.billing_id, old.name, old.email, old.metadata::text, old.overrides::text)
        is distinct from (new.id, new.billing_id, new.name, new.email, new.metadata::text, new.overrides::text))
      execute function %1$I.note_user_event()', place);
    execute format('create trigger subscription_event_added after insert or delete on %1$I.subscription
      for each row execute function %1$I.note_subscription_event()', place);
    execute format('create trigger subscription_event_changed after update on %1$I.subscription for each row
      when ((old.started_at, old.anchor, old.trial_ends_at, old.cancel_at, old.cancelled_at, old.quantity, old.follows)
        is distinct from
        (new.started_at, new.anchor, new.trial_ends_at, new.cancel_at, new.cancelled_at, new.quantity, new.follows))
      execute function %1$I.note_subscription_event()', place);
  end loop;
end $$;

-- What is already planned.
insert into event_due (app_id, subject, type, due_at, user_uid, data)
select s.app_id, 's ' || s.id, d.type, d.due_at, s.user_uid, d.data
from subscription s join app a on a.id = s.app_id
cross join lateral (values
  ('subscription.ended', s.cancel_at, null::json),
  ('trial.ended', timed_trial_end(s.trial_ends_at, s.cancel_at, null), null),
  ('trial.ending', timed_trial_end(s.trial_ends_at, s.cancel_at, null) - interval '3 days', null),
  ('subscription.started', case when s.follows is not null then s.started_at end, json_build_object('follows', s.follows))
) as d (type, due_at, data)
where s.cancelled_at is null and d.due_at > coalesce(a.test_clock, now())
on conflict do nothing;
insert into event_due (app_id, subject, type, due_at, user_uid, data)
select u.app_id, 'o ' || u.uid || ' ' || (o->>'featureId'), 'override.expired',
  to_timestamp((o->>'expiresAt')::float8 / 1000), u.uid, o
from users u join app a on a.id = u.app_id cross join lateral json_array_elements(u.overrides) o
where u.overrides is not null and to_timestamp((o->>'expiresAt')::float8 / 1000) > coalesce(a.test_clock, now())
on conflict do nothing;
