import type { Db } from '../../src/store/database.ts'

/** The uid of the app's one user. */
export const UID = 1

/** An app with at least one row in every table that has apps, and a second one with none. */
export async function furnishApp(db: Db): Promise<void> {
  await db.query(`
insert into app (id, name) values ('ours', 'Ours'), ('theirs', 'Theirs');
insert into api_key (app_id, id, name, prefix, hash) values ('ours', 'key', 'key', 'tg_', '\\x01');
insert into token_key (app_id, id, algorithm, material) values ('ours', 'signer', 'HS256', '\\x02');
insert into token_key (app_id, id, algorithm, material, retired_at)
  values ('ours', 'former', 'HS256', '\\x03', now() - interval '9 days');
insert into feature (app_id, id, name, type, metadata) values ('ours', 'calls', 'Calls', 'CONSUMABLE', '{}'),
  ('ours', 'unused', 'Unused', 'BINARY', '{}');
insert into package (app_id, id, name, status, is_addon, metadata, draft, updated_at)
  values ('ours', 'plan', 'Plan', 'DRAFT', false, '{}', '{"name":"Next","features":[]}', now());
insert into package (app_id, id, name, is_addon, metadata, updated_at) values ('ours', 'unused', 'Unused', true, '{}', now());
insert into package_feature (app_id, package_id, feature_id, position, "limit", reset_period, overage_enabled)
  values ('ours', 'plan', 'calls', 1, 10, 'MONTH', false);
insert into users (app_id, id, billing_id, name, email, metadata, overrides)
  values ('ours', 'ann', 'cus_1', 'Ann', 'ann@example.com', '{}', '[{"featureId":"calls","mode":"DENY"}]');
insert into price (app_id, provider, id, package_id, amount, currency, interval)
  values ('ours', 'stripe', 'price_1', 'plan', 900, 'usd', 'month');
insert into billing_template (app_id, id, name) values ('ours', 'template', 'Template'), ('ours', 'unsold', 'Unsold');
insert into billing_template_item (app_id, template_id, position, package_id) values ('ours', 'template', 1, 'plan');
insert into checkout_session (app_id, id, template_id, user_uid, provider, items, success_url, cancel_url, provider_ref)
  values ('ours', 'session', 'template', ${UID}, 'stripe', '[]', 'https://a.example', 'https://b.example', 'cs_1'),
    ('ours', 'unplaced', 'template', ${UID}, 'stripe', '[]', 'https://a.example', 'https://b.example', null);
  update checkout_session set created_at = now() - interval '2 days' where id = 'unplaced';
insert into provider_account (app_id, provider, secret_key, beside_live) values ('ours', 'stripe', '\\x04', true);
insert into provider_subscription (app_id, provider, ref, user_uid, customer_ref, status, made_at, paid_at, paid_until, live)
  values ('ours', 'stripe', 'sub_1', ${UID}, 'cus_1', 'active', now(), now() - interval '1 day', now(), true);
insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, reversals, access_ended_at)
  values ('ours', 'stripe', 'cs_refunded', ${UID}, 'paid', now(), false,
    '[{"ref":"pi_1","amount":900,"currency":"usd","paidAt":1,"period":null,"refunded":900,"refundedAt":1,"dispute":null}]', now());
update provider_subscription set price_ids = '{price_1}', quantities = '{2}', billing_state = 'active' where ref = 'sub_1';
insert into provider_subscription (app_id, provider, ref, user_uid, status, made_at, live, leased_by, leased_until)
  values ('ours', 'stripe', 'sub_of_before', ${UID}, 'active', now(), true, 'holder', now() + interval '1 day');
insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, cancel_at, provider, provider_ref)
  values ('ours', 'subscription', ${UID}, 'plan', false, now(), now(), now() + interval '1 day', 'stripe', 'sub_1');
insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, follows)
  values ('ours', 'successor', ${UID}, 'plan', false, now() + interval '2 days', now(), 'subscription');
insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
  values ('ours', 'stripe', 'in_1', ${UID}, 'sub_1', 'PAID', 900, 'usd', now() - interval '1 hour'),
    ('ours', 'stripe', 'in_2', ${UID}, 'sub_1', 'FAILED', 900, 'usd', now());
insert into revenue_figures (app_id, days, as_of, figures) values ('ours', 30, now(), '{}');
insert into package_history (app_id, package_id, position, kind, from_version, to_version, reach, at, features)
  values ('ours', 'plan', 2, 'PUBLISHED', 1, 2, 'NEW_ONLY', now(),
    '[{"featureId":"calls","limit":5,"resetPeriod":"MONTH","overageEnabled":false}]');
insert into package_history (app_id, package_id, position, kind, from_version, to_version, reach, at, id)
  values ('ours', 'plan', 3, 'MIGRATED', 1, 2, 'ALL', now(), 'migration');
insert into notice (app_id, provider, event_id, type, payload, payment_ref)
  values ('ours', 'stripe', 'evt_pending', 'x', '{"data":{"object":{"customer":"cus_1"}}}', null);
insert into user_billing_id (app_id, billing_id, uid) values ('ours', 'cus_1', 1) on conflict do nothing;
insert into erased_ref (app_id, hash) values ('ours', sha256('["stripe","cus_9"]'));
insert into notice (app_id, provider, event_id, type, payload, state, payment_ref)
  values ('ours', 'stripe', 'evt_failed', 'x', '{}', 'FAILED', 'pay_1');
insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
  values ('ours', ${UID}, 'calls', 'MONTH', '1970-01-01Z', 5);
insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
  values ('ours', ${UID}, 'calls', 'MONTH', '1970-01-01Z', 'ADD', 5, 5, now());
update ledger_partition set retired_at = now() where block = 0;
insert into ledger_base (app_id, user_uid, feature_id, reset_period, period_start, block, delta, entries)
  values ('ours', ${UID}, 'calls', 'MONTH', '1970-01-01Z', 0, 2, 1);
insert into idempotency (app_id, scope, key, request, results, user_uid)
  values ('ours', 'request', 'k', '\\x05', '{}', ${UID});
insert into audit_entry (app_id, member_email, operation, subject_kind, subject_id)
  values ('ours', 'o@example.com', 'createUser', 'user', 'ann');
insert into user_import (app_id, id, state, member_email) values ('ours', 'older', 'APPLIED', 'o@example.com');
insert into user_import (app_id, id, state, member_email) values ('ours', 'import', 'CHECKED', 'o@example.com');
insert into user_import (app_id, id, state, member_email, dropped) values ('ours', 'gone', 'CHECKED', 'o@example.com', true);
insert into user_import_row (app_id, import_id, line, user_id, user_uid, outcome, old_email, new_email,
    old_billing_id, new_billing_id)
  values ('ours', 'import', 2, 'ann', ${UID}, 'CHANGE', 'ann@example.com', 'new@example.com', 'cus_1', 'cus_1');
insert into user_import_row (app_id, import_id, line, user_id, outcome) values ('ours', 'import', 3, 'bad', 'BAD');
insert into activity (app_id, minute, checks, records) values ('ours', '2026-01-01Z', 1, 1);
insert into recent_usage (app_id, user_id, feature_id, used, budget, recorded_at)
  values ('ours', 'ann', 'calls', 5, 10, now());
insert into feature (app_id, id, name, type, metadata) values ('ours', 'sampled', 'Sampled', 'BINARY', '{}');
insert into sample_item (app_id, kind, id) values ('ours', 'feature', 'sampled'), ('ours', 'user', '${UID}');
insert into feature_activity (app_id, feature_id, hour, checks, denied, records, units, refused)
  values ('ours', 'calls', '2026-01-01Z', 1, 0, 1, 5, 0);
insert into feature_activity (app_id, feature_id, hour, sample, checks, denied, records, units, refused)
  values ('ours', 'sampled', '2026-01-01Z', true, 1, 0, 0, 0, 0);
insert into sample_activity (app_id, minute, checks, records) values ('ours', '2026-01-01Z', 1, 1);
`)
}

/** The sandbox's books, which only the provider of that name reads. */
export async function furnishBooks(db: Db): Promise<void> {
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
export async function allOf(db: Db, appId: string): Promise<unknown> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'app_id'
       and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass) order by 1`,
  )
  const part = ({ name }: { name: string }) =>
    `select '${name}' as name, (select json_agg(t order by t::text) from public."${name}" t where app_id = $1) as rows`
  const { rows } = await db.query(
    `${tables.map(part).join(' union all ')}
     union all select 'app', (select json_agg(t) from app t where id = $1)`,
    [appId],
  )
  return rows
}
