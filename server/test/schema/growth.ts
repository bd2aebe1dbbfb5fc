import { TEST_CELLS } from '../harness/cells-by-hand.ts'

// Rows as after long use, so that PostgreSQL plans for tables that have grown.

const ROWS = 20_000

/** What is in each cell. */
export const growthOf = (cell: number): string[] => [
  `insert into users (app_id, id, billing_id, metadata)
   select 'default', 'grown${cell}-' || i, 'cus_${cell}-' || i, '{}' from generate_series(1, ${ROWS / TEST_CELLS}) i`,
  `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
   select app_id, 'sub_' || uid, uid, 'plan', false, now(), now() from users where id like 'grown%'`,
  `insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
   select app_id, uid, 'f1', 'MONTH', date_trunc('month', now()), 1 from users`,
  `insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
   select app_id, uid, 'f1', 'MONTH', date_trunc('month', now()), 'ADD', 1, 1, now() from users`,
  `insert into ledger_base (app_id, user_uid, feature_id, reset_period, period_start, block, delta, entries)
   select app_id, uid, 'f1', 'MONTH', date_trunc('month', now()), 0, 1, 1 from users`,
  `insert into spender (app_id, user_uid, features) select app_id, uid, '{"f1":{}}' from users on conflict do nothing`,
  `insert into credit (app_id, id, user_uid, feature_id, amount, used, kind, priority, effective_at, created_at, ended)
   select app_id, 'grown' || uid || '-' || i, uid, 'f1', 9, i % 2 * 9, 'PAID', 50, now(), now(), i % 2 = 1
   from users, generate_series(1, 2) i where app_id = 'default' on conflict do nothing`,
  `insert into usage_reservation (app_id, id, user_uid, feature_id, amount, at_least, ttl_seconds, metadata, state,
     split, created_at, expires_at)
   select app_id, 'grown' || uid || '-' || i, uid, 'f1', 1, 1, 60, '{}', case i when 1 then 'HELD' else 'SETTLED' end,
     '[]', now(), now() from users, generate_series(1, 2) i where app_id = 'default' on conflict do nothing`,
  `insert into recharge_rule (app_id, user_uid, feature_id, id, below, up_to, price_id)
   select app_id, uid, 'f1', 'grown' || uid, 1, 9, 'pack' from users where app_id = 'default' on conflict do nothing`,
  `insert into usage_cap (app_id, user_uid, feature_id, entity, period, "limit", window_start)
   select app_id, uid, 'f1', 'team:' || i, 'DAY', 9, now() from users, generate_series(1, 2) i
   where app_id = 'default' on conflict do nothing`,
  `insert into usage_cap (app_id, user_uid, feature_id, entity, period, window_start)
   select app_id, uid, 'f1', 'agent:' || i, 'HOUR', now() from users, generate_series(1, 5) i
   where app_id = 'default' on conflict do nothing`,
]

export const GROWTH = [
  `insert into app (id, name) select 'app' || i, 'App' from generate_series(1, 500) i`,
  `insert into api_key (app_id, id, name, prefix, hash)
   select 'app' || i % 500 + 1, 'k' || i, 'k', 'tg_', sha256(i::text::bytea) from generate_series(1, ${ROWS}) i`,
  `insert into feature (app_id, id, name, type, metadata)
   select 'app' || i % 500 + 1, 'f' || i, 'F', 'CONSUMABLE', '{}' from generate_series(1, ${ROWS}) i`,
  `insert into package (app_id, id, name, is_addon, metadata, updated_at)
   select 'app' || i % 500 + 1, 'p' || i, 'P', false, '{}', now() from generate_series(1, ${ROWS}) i`,
  `insert into package_feature (app_id, package_id, feature_id, position, reset_period, overage_enabled)
   select 'app' || i % 500 + 1, 'p' || i, 'f' || i, 1, 'MONTH', false from generate_series(1, ${ROWS}) i`,
  `insert into idempotency (app_id, scope, key, request, results, created_at)
   select 'default', 'request', 'k' || i, '', '{}', now() - make_interval(secs => i) from generate_series(1, ${ROWS}) i`,
  `insert into session (hash, member_id, expires_at)
   select sha256(i::text::bytea), (select min(id) from member), now() + make_interval(secs => i)
   from generate_series(1, ${ROWS}) i`,
  `insert into audit_entry (app_id, member_email, operation, subject_kind, subject_id, actor_kind)
   select 'app' || i % 500 + 1, 'a' || i % 9 || '@example.com', 'o' || i % 9, 'k', 's' || i,
     case i % 9 when 1 then 'MEMBER' else 'API_KEY' end from generate_series(1, ${ROWS}) i`,
  `insert into audit_entry (app_id, member_email, operation, subject_kind, subject_id, actor_kind)
   select 'default', 'a' || i % 9 || '@example.com', 'o' || i % 9, 'k', 's' || i,
     case i % 9 when 1 then 'MEMBER' else 'API_KEY' end from generate_series(1, ${ROWS}) i`,
  `insert into activity (app_id, minute, checks, records)
   select 'app' || i % 500 + 1, now() - make_interval(mins => i), 1, 1 from generate_series(1, ${ROWS}) i`,
  `insert into feature_activity (app_id, feature_id, hour, checks, denied, records, units, refused)
   select 'default', id, date_trunc('hour', now()) - make_interval(hours => i), 1, 0, 1, 1, 0
   from (select id from feature where app_id = 'default' order by id limit 20) f, generate_series(1, ${ROWS} / 20) i`,
  `insert into user_import (app_id, id, state, member_email)
   select 'default', 'grown' || i, 'CHECKED', 'a@example.com' from generate_series(1, 20) i`,
  `insert into user_import_row (app_id, import_id, line, user_uid, outcome, new_billing_id)
   select 'default', 'grown' || i % 20 + 1, i, i, 'CHANGE', 'cus_' || i from generate_series(1, ${ROWS}) i`,
  `insert into bulk_change (app_id, id, state, request, member_id, member_email)
   select 'default', 'grown' || i, 'APPLIED', '{}', 1, 'a@example.com' from generate_series(1, 20) i`,
  `insert into bulk_change_row (app_id, bulk_id, number, user_uid, outcome)
   select 'default', 'grown' || i % 20 + 1, i, i, case i % 100 when 0 then 'REFUSED' else 'DONE' end
   from generate_series(1, ${ROWS}) i`,
]
