-- What a key may do, and how long it was to work when its expiry was set: a rotation grants the same again. Keys that
-- processes of 0.1.0 create may do everything.
alter table api_key
  add column scope text not null default 'ALL' check (scope in ('READ', 'USAGE', 'CATALOGUE', 'ALL')),
  add column lifetime_ms bigint check (lifetime_ms > 0);
