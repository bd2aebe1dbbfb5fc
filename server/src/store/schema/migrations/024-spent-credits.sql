-- Units taken from a credit, or returned to it, bring their own event: one row for all that happened at a moment, instead of one
-- for each credit.
drop trigger credit_event_changed on credit;
create trigger credit_event_changed after update on credit for each row
  when ((old.voided_at, old.amount) is distinct from (new.voided_at, new.amount))
  execute function note_credit_event();

-- Spent ones are ended by the user's next credit.
comment on column credit.ended is 'Voided, or noticed to be spent or to have expired: nothing can be taken from it.';
