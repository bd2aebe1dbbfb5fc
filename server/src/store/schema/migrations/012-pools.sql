-- Pools: features whose units pay for other features, at a cost for each.

-- Of a pool: [{ featureId, cost }].
alter table feature add column costs jsonb not null default '[]';

-- The pool whose units a reservation holds; null: only units of its own feature.
alter table usage_reservation add column pool_id text;
create index usage_reservation_drawn on usage_reservation (app_id, user_uid, pool_id, expires_at)
  where state = 'HELD' and pool_id is not null;
