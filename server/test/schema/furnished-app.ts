import { SEQUENCES_PER_DAY } from '../../src/domain/event.ts'
import type { HomeDb } from '../../src/store/connection/places.ts'

/** The uid of the app's one user. */
export const UID = 1

/** Of its webhook delivery that is being attempted. */
export const LEASE = '00000000-0000-4000-8000-000000000001'

/** An app with at least one row in every table that has apps, and a second one with none. */
export async function furnishApp(db: HomeDb): Promise<void> {
  await db.query(`insert into event_block (block) values (0);
    create table event_log_0 partition of event_log for values from (0) to (${SEQUENCES_PER_DAY})`)
  await db.query(`insert into app (id, name) values ('ours', 'Ours'), ('theirs', 'Theirs')`)
  await db.query(rowsOf('ours', UID, '\\x01'))
}

/** Where the numbers of users come from, also in a cell that shares them with another. */
const UIDS = `coalesce(pg_get_serial_sequence('users', 'uid'), (
  select substring(pg_get_expr(d.adbin, d.adrelid) from '''([^'']+)''') from pg_attrdef d
  join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
  where d.adrelid = 'users'::regclass and a.attname = 'uid'))::regclass`

/** Another app, which has all that the first one has, under the same ids, and a user more. */
export async function furnishTwin(db: HomeDb): Promise<void> {
  await db.query(`insert into app (id, name) values ('twin', 'Twin')`)
  await db.query(`select setval(${UIDS}, ${UID})`)
  await db.query(rowsOf('twin', UID + 1, '\\x11'))
  // Who was deleted here is a user there.
  await db.query(
    `insert into users (app_id, id, billing_id, metadata) values ('twin', 'nina', 'cus_9', '{}')`,
  )
}

const rowsOf = (app: string, uid: number, hash: string) => `
insert into api_key (app_id, id, name, prefix, hash) values ('${app}', 'key', 'key', 'tg_', '${hash}');
insert into token_key (app_id, id, algorithm, material) values ('${app}', 'signer', 'HS256', '\\x02');
insert into token_key (app_id, id, algorithm, material, retired_at)
  values ('${app}', 'former', 'HS256', '\\x03', now() - interval '9 days');
insert into feature (app_id, id, name, type, metadata) values ('${app}', 'calls', 'Calls', 'CONSUMABLE', '{}'),
  ('${app}', 'unused', 'Unused', 'BINARY', '{}');
insert into package (app_id, id, name, status, is_addon, metadata, draft, version, first_published_at, updated_at)
  values ('${app}', 'plan', 'Plan', 'DRAFT', false, '{}', '{"name":"Next","features":[]}', 2, now(), now());
insert into package (app_id, id, name, is_addon, metadata, updated_at) values ('${app}', 'unused', 'Unused', true, '{}', now());
insert into package_feature (app_id, package_id, feature_id, position, "limit", reset_period, overage_enabled)
  values ('${app}', 'plan', 'calls', 1, 10, 'MONTH', false);
insert into users (app_id, id, billing_id, name, email, metadata, overrides)
  values ('${app}', 'ann', 'cus_1', 'Ann', 'ann@example.com', '{}', '[{"featureId":"calls","mode":"DENY"}]');
insert into spender (app_id, user_uid, features) values ('${app}', ${uid}, '{"calls":{}}');
insert into credit (app_id, id, user_uid, feature_id, amount, kind, priority, effective_at, created_at, provider, provider_ref, bought, expires_at)
  values ('${app}', 'credit', ${uid}, 'calls', 10, 'PAID', 50, now(), now(), 'stripe', 'cs_credit', 10, '2100-01-01Z');
insert into usage_reservation (app_id, id, user_uid, feature_id, amount, at_least, ttl_seconds, metadata, state, split,
    created_at, expires_at, reverted)
  values ('${app}', 'reservation', ${uid}, 'calls', 5, 5, 60, '{}', 'HELD',
    '[{"credit":"credit","period":null,"amount":5,"settled":0}]', now(), now() + interval '1 day',
    '{"recorded":true}');
insert into usage_cap (app_id, user_uid, feature_id, entity, period, "limit", window_start)
  values ('${app}', ${uid}, 'calls', '', 'DAY', 10, now());
insert into recharge_rule (app_id, user_uid, feature_id, id, below, up_to, price_id, declines)
  values ('${app}', ${uid}, 'calls', 'rule-${app}', 5, 50, 'price_pack', 1);
insert into price (app_id, provider, id, package_id, amount, currency, interval)
  values ('${app}', 'stripe', 'price_1', 'plan', 900, 'usd', 'month');
insert into price (app_id, provider, id, feature_id, units, amount, currency)
  values ('${app}', 'stripe', 'price_pack', 'calls', 100, 900, 'usd');
insert into billing_template (app_id, id, name) values ('${app}', 'template', 'Template'), ('${app}', 'unsold', 'Unsold');
insert into billing_template_item (app_id, template_id, position, package_id) values ('${app}', 'template', 1, 'plan');
insert into checkout_session (app_id, id, template_id, user_uid, provider, items, success_url, cancel_url, provider_ref)
  values ('${app}', 'session', 'template', ${uid}, 'stripe', '[]', 'https://a.example', 'https://b.example', 'cs_1'),
    ('${app}', 'unplaced', 'template', ${uid}, 'stripe', '[]', 'https://a.example', 'https://b.example', null),
    ('${app}', 'recharging', null, ${uid}, 'stripe', '[]', '', '', null);
insert into checkout_session (app_id, id, template_id, user_uid, provider, items, choices, success_url, cancel_url)
  values ('${app}', 'choosing', 'template', ${uid}, 'stripe', '[]', '[{"interval":"month","items":[]}]', '', '');
insert into recharge_attempt (app_id, session_id, user_uid, feature_id, amount, started_at)
  values ('${app}', 'recharging', ${uid}, 'calls', 900, now());
  update checkout_session set created_at = now() - interval '2 days' where app_id = '${app}' and id = 'unplaced';
insert into provider_account (app_id, provider, secret_key, beside_live) values ('${app}', 'stripe', '\\x04', true);
insert into provider_subscription (app_id, provider, ref, user_uid, customer_ref, status, made_at, paid_at, paid_until, live)
  values ('${app}', 'stripe', 'sub_1', ${uid}, 'cus_1', 'active', now(), now() - interval '1 day', now(), true);
insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, reversals, access_ended_at)
  values ('${app}', 'stripe', 'cs_refunded', ${uid}, 'paid', now(), false,
    '[{"ref":"pi_1","amount":900,"currency":"usd","paidAt":1,"period":null,"refunded":900,"refundedAt":1,"dispute":null}]', now());
update provider_subscription set price_ids = '{price_1}', quantities = '{2}', billing_state = 'active', past_due_since = now()
  where app_id = '${app}' and ref = 'sub_1';
insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, leased_by, leased_until)
  values ('${app}', 'stripe', 'sub_of_before', ${uid}, 'active', now(), true, 'holder', now() + interval '1 day');
insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancel_at, provider, provider_ref)
  values ('${app}', 'subscription', ${uid}, 'plan', false, now(), now(), now() + interval '1 day', 'stripe', 'sub_1');
insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, follows)
  values ('${app}', 'successor', ${uid}, 'plan', false, now() + interval '2 days', now(), 'subscription');
insert into package (app_id, id, name, is_addon, metadata, updated_at) values ('${app}', 'extra', 'Extra', true, '{}', now());
insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
  values ('${app}', 'addon', ${uid}, 'extra', true, now(), now());
insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
  values ('${app}', 'stripe', 'in_1', ${uid}, 'sub_1', 'PAID', 900, 'usd', now() - interval '1 hour'),
    ('${app}', 'stripe', 'in_2', ${uid}, 'sub_1', 'FAILED', 900, 'usd', now());
insert into revenue_figures (app_id, days, as_of, figures) values ('${app}', 30, now(), '{}');
insert into package_history (app_id, package_id, position, kind, from_version, to_version, reach, at, features)
  values ('${app}', 'plan', 2, 'PUBLISHED', 1, 2, 'NEW_ONLY', now(),
    '[{"featureId":"calls","limit":5,"resetPeriod":"MONTH","overageEnabled":false}]');
insert into package_history (app_id, package_id, position, kind, from_version, to_version, reach, at, id)
  values ('${app}', 'plan', 3, 'MIGRATED', 1, 2, 'ALL', now(), 'migration');
insert into notice (app_id, provider, event_id, type, payload, payment_ref)
  values ('${app}', 'stripe', 'evt_pending', 'x', '{"data":{"object":{"customer":"cus_1"}}}', null);
insert into user_billing_id (app_id, billing_id, uid) values ('${app}', 'cus_1', ${uid}) on conflict do nothing;
insert into erased_ref (app_id, hash) values ('${app}', sha256('["stripe","cus_9"]'));
insert into notice (app_id, provider, event_id, type, payload, state, payment_ref)
  values ('${app}', 'stripe', 'evt_failed', 'x', '{}', 'FAILED', 'pay_1');
insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
  values ('${app}', ${uid}, 'calls', 'MONTH', '1970-01-01Z', 5);
insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
  values ('${app}', ${uid}, 'calls', 'MONTH', '1970-01-01Z', 'SET', 5, 5, now());
-- Once: a twin in an open transaction must not hold the only row.
update usage_rollup set seq = (select max(seq) from usage_ledger) where seq = 0;
insert into usage_hour (app_id, feature_id, hour, delta, burnt, entries, first_seq, last_seq)
  select '${app}', 'calls', date_trunc('hour', now()), 5, 2, 1, min(seq), max(seq) from usage_ledger where app_id = '${app}';
update ledger_partition set retired_at = now() where block = 0;
insert into ledger_base (app_id, user_uid, feature_id, reset_period, period_start, block, delta, entries)
  values ('${app}', ${uid}, 'calls', 'MONTH', '1970-01-01Z', 0, 2, 1);
insert into idempotency (app_id, scope, key, request, results, user_uid)
  values ('${app}', 'request', 'k', '\\x05', '{}', ${uid}), ('${app}', 'usage', 'event', '\\x06', '{}', ${uid});
insert into audit_entry (app_id, member_email, operation, subject_kind, subject_id)
  values ('${app}', 'o@example.com', 'createUser', 'user', 'ann');
insert into user_import (app_id, id, state, member_email) values ('${app}', 'older', 'APPLIED', 'o@example.com');
insert into user_import (app_id, id, state, member_email) values ('${app}', 'import', 'CHECKED', 'o@example.com');
insert into user_import (app_id, id, state, member_email, dropped) values ('${app}', 'gone', 'CHECKED', 'o@example.com', true);
insert into user_import_row (app_id, import_id, line, user_id, user_uid, outcome, old_email, new_email,
    old_billing_id, new_billing_id)
  values ('${app}', 'import', 2, 'ann', ${uid}, 'CHANGE', 'ann@example.com', 'new@example.com', 'cus_1', 'cus_1');
insert into user_import_row (app_id, import_id, line, user_id, outcome) values ('${app}', 'import', 3, 'bad', 'BAD');
insert into bulk_change (app_id, id, state, request, member_id, member_email)
  values ('${app}', 'older', 'APPLIED', '{"action":{"kind":"CANCEL","atPeriodEnd":true},"of":{"list":"USERS","ids":[]}}', 1, 'o@example.com'),
    ('${app}', 'bulk', 'CHECKING', '{"action":{"kind":"CANCEL","atPeriodEnd":true},"of":{"list":"USERS","ids":[]}}', 1, 'o@example.com');
insert into bulk_change_row (app_id, bulk_id, number, user_uid, outcome) values ('${app}', 'bulk', 1, ${uid}, 'CHANGE');
insert into activity (app_id, minute, checks, records) values ('${app}', '2026-01-01Z', 1, 1);
insert into recent_usage (app_id, user_id, feature_id, used, budget, recorded_at)
  values ('${app}', 'ann', 'calls', 5, 10, now());
insert into denial (app_id, feature_id, user_uid, kind, reason, times, first_at, denied_at)
  values ('${app}', 'calls', ${uid}, 'CHECK', 'Limit reached', 2, now(), now());
insert into feature (app_id, id, name, type, metadata) values ('${app}', 'sampled', 'Sampled', 'BINARY', '{}');
insert into sample_item (app_id, kind, id) values ('${app}', 'feature', 'sampled'), ('${app}', 'user', '${uid}');
insert into feature_activity (app_id, feature_id, hour, checks, denied, records, units, refused)
  values ('${app}', 'calls', '2026-01-01Z', 1, 0, 1, 5, 0);
insert into feature_activity (app_id, feature_id, hour, sample, checks, denied, records, units, refused)
  values ('${app}', 'sampled', '2026-01-01Z', true, 1, 0, 0, 0, 0);
insert into sample_activity (app_id, minute, checks, records) values ('${app}', '2026-01-01Z', 1, 1);
insert into event_log (app_id, sequence, id, type, at, user_uid, user_id, data)
  values ('${app}', 5, 'evt_1', 'user.created', now(), ${uid}, 'ann', '{"object":{"id":"ann"}}');
insert into event_outbox (app_id, at, kind, type, after)
  values ('${app}', now(), 'USAGE', 'INSERT', '[{"type":"usage.recorded","userUid":${uid},"userId":"ann","data":{}}]');
insert into webhook_endpoint (app_id, id, url, description, secret, previous_secret, previous_secret_until, failing_since)
  values ('${app}', 'endpoint', 'https://a.example', 'Ours', '\\x06', '\\x07', now() + interval '1 day', now() - interval '1 day');
insert into webhook_endpoint (app_id, id, url, types, secret, enabled, disabled_reason, disabled_at)
  values ('${app}', 'disabled', 'https://b.example', '{user.created}', '\\x08', false, 'GONE', now());
insert into webhook_delivery (app_id, endpoint_id, event_id, event_type, sequence, state, attempts, due_at)
  values ('${app}', 'endpoint', 'evt_1', 'user.created', 5, 'FAILED', 9, null),
    ('${app}', 'endpoint', 'evt_test', 'user.created', null, 'SUCCEEDED', 1, null);
insert into webhook_delivery (app_id, endpoint_id, event_id, event_type, attempts, due_at, lease)
  values ('${app}', 'endpoint', 'evt_leased', 'user.created', 1, now() + interval '1 day', '${LEASE}');
`

/** The sandbox's books, which only the provider of that name reads. */
export async function furnishBooks(db: HomeDb): Promise<void> {
  await db.query(`
insert into sandbox_customer (app_id, id) values ('ours', 'cus_1');
insert into sandbox_checkout (app_id, id, session_id, items, success_url, cancel_url, made_at, expires_at)
  values ('ours', 'cs_1', 'session', '[]', 'https://a.example', 'https://b.example', now(), now());
insert into sandbox_subscription (app_id, id, session_id, customer_id, price_ids, interval, status, made_at, period_end, card_renews)
  values ('ours', 'sub_1', 'session', 'cus_1', '{price_1}', 'month', 'active', now(), now(), true);
insert into sandbox_invoice (app_id, subscription_id, number, id, reason, currency, lines, due, paid, made_at)
  values ('ours', 'sub_1', 1, 'in_1', 'subscription_create', 'usd', '[]', 900, true, now());
insert into sandbox_event (app_id, id, payload) values ('ours', 'evt_1', '{}');
`)
}

/** Everything that is kept of an app, table by table; a partition's rows are its table's. */
export async function allOf(db: HomeDb, appId: string): Promise<unknown> {
  const { rows: tables } = await db.query<{ name: string }>({
    name: 'tables-of-apps',
    text: `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'f', 'p') and not c.relispartition
       and a.attname = 'app_id' and not a.attisdropped order by 1`,
  })
  const part = ({ name }: { name: string }) =>
    `select '${name}' as name, (select json_agg(t order by ${name === 'event_outbox' ? 't.id' : 't::text'}) from public."${name}" t where app_id = $1) as rows`
  // Planning it takes longer than the rest, so it is done once per connection.
  const { rows } = await db.query({
    name: `all-of-${tables.length}`,
    text: `${tables.map(part).join(' union all ')}
     union all select 'app', (select json_agg(t) from app t where id = $1)`,
    values: [appId],
  })
  return rows
}
