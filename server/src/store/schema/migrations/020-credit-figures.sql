-- Credits sold, burnt and expiring, for the home page.

alter table usage_hour
  -- the part of delta that was taken from credits
  add column burnt numeric not null default 0;
alter table usage_rollup
  -- burnt units of earlier times were not added up; null: all were
  add column burnt_from timestamptz(3);
update usage_rollup set burnt_from = now() where seq > 0 and exists (select from credit);

alter table credit
  -- what was paid for it, in minor units; null: not bought, or not known
  add column paid bigint,
  add column currency text;

create index credit_sold on credit (app_id, created_at) include (feature_id, bought, provider, paid, currency)
  where bought is not null;
-- Without columns that change with every use: an update of an indexed column costs a new entry in every index.
create index credit_expiring on credit (app_id, expires_at) where not ended and expires_at is not null;
