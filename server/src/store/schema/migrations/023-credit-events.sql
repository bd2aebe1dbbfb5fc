-- Events of credits. A pool whose costs change is a changed feature.

drop trigger feature_event_changed on feature;
create trigger feature_event_changed after update on feature for each row
  when ((old.name, old.unit_label, old.unit_label_plural, old.archived_at, old.thresholds, old.metadata::text, old.costs)
    is distinct from
    (new.name, new.unit_label, new.unit_label_plural, new.archived_at, new.thresholds, new.metadata::text, new.costs))
  execute function note_feature_event();

create function note_credit_event() returns trigger language plpgsql as $$
declare
  moment timestamptz := event_moment(new.app_id);
begin
  if moment is null then
    return null;
  end if;
  insert into event_outbox (app_id, at, kind, type, user_uid, before, after)
  values (new.app_id, moment, 'CREDIT', tg_op, new.user_uid, case tg_op when 'UPDATE' then to_json(old) end, to_json(new));
  perform plan_event(new.app_id, 'c ' || new.id, 'credit.expired', new.user_uid, moment,
    case when tg_op = 'UPDATE' and old.voided_at is null then old.expires_at end,
    case when new.voided_at is null then new.expires_at end, null);
  return null;
end $$;
create trigger credit_event_added after insert on credit for each row execute function note_credit_event();
-- Not for each unit that is used: only for the last one.
create trigger credit_event_changed after update on credit for each row
  when ((old.voided_at, old.amount, old.used >= old.amount) is distinct from (new.voided_at, new.amount, new.used >= new.amount))
  execute function note_credit_event();

-- What is already planned.
insert into event_due (app_id, subject, type, due_at, user_uid)
select c.app_id, 'c ' || c.id, 'credit.expired', c.expires_at, c.user_uid
from credit c join app a on a.id = c.app_id
where c.voided_at is null and c.expires_at > coalesce(a.test_clock, now())
on conflict do nothing;
