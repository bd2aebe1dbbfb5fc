-- A row in every table of the baseline, with every column, as 0.1.0 writes it. It never changes after the release:
-- migrations.test.ts upgrades a database with these rows, and then writes them again, as a process of 0.1.0 would that is
-- still running. :app is the app's id, :hash 32 bytes that differ from app to app.

insert into app (id, name, test_clock, version, origins, created_at, grace_days, access_after_refund, archived_at,
    deleting_since, deleted_rows)
  values (:app, 'App', '2026-01-01Z', 7, '{https://a.example}', '2026-01-01Z', 3, 'END', '2026-01-02Z', '2026-01-03Z', 5);
insert into api_key (app_id, id, name, prefix, hash, created_at, revoked_at, last_used_at, expires_at)
  values (:app, 'key', 'Key', 'tg_', :hash, '2026-01-01Z', '2026-01-02Z', '2026-01-01Z', '2026-01-03Z');
insert into token_key (app_id, id, algorithm, material, public_key, created_at, retired_at, revoked_at)
  values (:app, 'signer', 'EdDSA', '\x01', '{"kty":"OKP"}', '2026-01-01Z', '2026-01-02Z', '2026-01-03Z');
insert into secret (name, value) values ('secret of ' || :app, '\x02');

insert into feature (app_id, id, name, type, unit_label, unit_label_plural, metadata, override_periods, archived_at)
  values (:app, 'calls', 'Calls', 'CONSUMABLE', 'call', 'calls', '{"a":1}', '{DAY}', '2026-01-02Z');
insert into package (app_id, id, name, status, is_addon, metadata, draft, updated_at, version, history, archived_at)
  values (:app, 'plan', 'Plan', 'PUBLISHED', false, '{"a":1}', '{"name":"Next","features":[]}', '2026-01-01Z', 2, 2,
    '2026-01-02Z');
insert into package_feature (app_id, package_id, feature_id, position, "limit", reset_period, overage_enabled)
  values (:app, 'plan', 'calls', 1, 10, 'MONTH', true);
insert into package_history (app_id, package_id, position, kind, from_version, to_version, reach, at, features, id, undone_at)
  values (:app, 'plan', 2, 'PUBLISHED', 1, 2, 'NEW_ONLY', '2026-01-01Z',
    '[{"featureId":"calls","limit":5,"resetPeriod":"MONTH","overageEnabled":false}]', 'migration', '2026-01-02Z');

insert into users (app_id, id, billing_id, name, email, metadata, created_at, overrides, former_ids)
  values (:app, 'ann', 'cus_1', 'Ann Lovelace', 'ann@example.com', '{"a":1}', '2026-01-01Z',
    '[{"featureId":"calls","mode":"DENY"}]', '[{"id":"anna","until":1}]');
insert into erased_ref (app_id, hash) values (:app, :hash);

insert into provider_subscription (app_id, provider, ref, user_uid, customer_ref, status, live, made_at, paid_at, paid_until,
    past_due_since, trial_ends_at, anchor, interval, price_ids, quantities, billing_state, reversals, access_ended_at,
    version, leased_by, leased_until)
  select app_id, 'stripe', 'sub_1', uid, 'cus_1', 'active', true, '2026-01-01Z', '2026-01-01Z', '2026-02-01Z',
    '2026-01-05Z', '2026-01-03Z', '2026-01-01Z', 'month', '{price_1}', '{2}', 'past due', '[]', '2026-01-06Z', 4,
    'holder', '2026-01-07Z'
  from users where app_id = :app;
insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor, trial_ends_at, cancel_at,
    cancelled_at, metadata, quantity, package_version, version_as_of, follows, provider, provider_ref)
  select app_id, 'subscription', uid, 'plan', false, '2026-01-01Z', '2026-01-01Z', '2026-01-03Z', '2026-02-01Z',
    '2026-02-01Z', '{"a":1}', 2, 1, 2, 'former', 'stripe', 'sub_1'
  from users where app_id = :app;

insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
  select app_id, uid, 'calls', 'MONTH', '2026-01-01Z', 5 from users where app_id = :app;
insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
  select app_id, uid, 'calls', 'MONTH', '2026-01-01Z', 'ADD', 5, 5, '2026-01-02Z' from users where app_id = :app;
insert into ledger_partition (block, opened_at, retiring_at, filenode, changes, pages_summed, retired_at, entries, file, sha256)
  values (2, '2026-01-01Z', '2026-01-02Z', 1, 1, 1, null, 1, 'a', 'b') on conflict do nothing;
insert into ledger_base (app_id, user_uid, feature_id, reset_period, period_start, block, delta, entries)
  select app_id, uid, 'calls', 'MONTH', '2026-01-01Z', 2, 2, 1 from users where app_id = :app;
insert into recent_usage (app_id, user_id, feature_id, used, budget, recorded_at)
  values (:app, 'ann', 'calls', 5, 10, '2026-01-02Z');
insert into activity (app_id, minute, checks, records) values (:app, '2026-01-01Z', 1, 2);
insert into feature_activity (app_id, feature_id, hour, sample, checks, denied, records, units, refused)
  values (:app, 'calls', '2026-01-01Z', false, 1, 1, 1, 5, 1);
insert into idempotency (app_id, scope, key, request, results, created_at, user_uid)
  values (:app, 'request', 'k', '\x05', '{"a":1}', '2026-01-01Z', 1);

insert into price (app_id, provider, id, package_id, amount, currency, interval, created_at, archived_at)
  values (:app, 'stripe', 'price_1', 'plan', 900, 'usd', 'month', '2026-01-01Z', '2026-01-02Z');
insert into billing_template (app_id, id, name, terms, created_at, archived_at)
  values (:app, 'template', 'Template', '{"trialDays":7,"trialNeedsCard":false,"promotionCodes":true}', '2026-01-01Z',
    '2026-01-02Z');
insert into billing_template_item (app_id, template_id, position, package_id, provider, price_id)
  values (:app, 'template', 1, 'plan', 'stripe', 'price_1');
insert into checkout_session (app_id, id, template_id, user_uid, provider, items, terms, success_url, cancel_url,
    provider_ref, url, state, created_at, paid_at)
  select app_id, 'session', 'template', uid, 'stripe', '[]', '{"trialDays":7,"trialNeedsCard":false,"promotionCodes":true}',
    'https://a.example', 'https://b.example', 'cs_1', 'https://c.example', 'PAID', '2026-01-01Z', '2026-01-02Z'
  from users where app_id = :app;
insert into provider_account (app_id, provider, enabled, beside_live, secret_key, webhook_secret, previous_webhook_secret, updated_at)
  values (:app, 'stripe', false, true, '\x01', '\x02', '\x03', '2026-01-01Z');
insert into notice (app_id, provider, event_id, type, payload, state, attempts, last_error, payment_ref, received_at, handled_at)
  values (:app, 'stripe', 'evt_1', 'invoice.paid', '{"a":1}', 'FAILED', 2, 'why', 'pay_1', '2026-01-01Z', '2026-01-02Z');
insert into payment (app_id, provider, ref, user_uid, subscription_ref, state, amount, currency, at)
  select app_id, 'stripe', 'in_1', uid, 'sub_1', 'PAID', 900, 'usd', '2026-01-01Z' from users where app_id = :app;
insert into revenue_figures (app_id, days, as_of, made_at, figures)
  values (:app, 30, '2026-01-01Z', '2026-01-01Z', '{"started":1}');

insert into sandbox_customer (app_id, id, email, name) values (:app, 'cus_1', 'ann@example.com', 'Ann');
insert into sandbox_checkout (app_id, id, session_id, customer_id, email, items, terms, success_url, cancel_url, state,
    subscription_id, made_at, expires_at, paid_at, paid_really_at, refunds, dispute)
  values (:app, 'cs of ' || :app, 'session', 'cus_1', 'ann@example.com', '[]',
    '{"trialDays":7,"trialNeedsCard":false,"promotionCodes":true}', 'https://a.example', 'https://b.example', 'paid',
    'sub_1', '2026-01-01Z', '2026-01-02Z', '2026-01-01Z', '2026-01-01Z', '[]', '{"state":"won"}');
insert into sandbox_subscription (app_id, id, session_id, customer_id, price_ids, quantities, interval, status, made_at,
    anchor, period_end, past_due_since, trial_ends_at, cancel_at_period_end, scheduled, ended_at, credit, card_renews,
    card_missing)
  values (:app, 'sub_1', 'session', 'cus_1', '{price_1}', '{"price_1":2}', 'month', 'past_due', '2026-01-01Z',
    '2026-01-01Z', '2026-02-01Z', '2026-01-05Z', '2026-01-03Z', true, '{"at":1}', '2026-02-01Z', 100, true, true);
insert into sandbox_invoice (app_id, subscription_id, number, id, reason, currency, lines, due, paid, made_at, refunds, dispute)
  values (:app, 'sub_1', 1, 'in_1', 'subscription_create', 'usd', '[]', 900, true, '2026-01-01Z', '[]', '{"state":"won"}');
insert into sandbox_event (app_id, id, payload) values (:app, 'evt_1', '{"a":1}');

with made as (
  insert into member (email, password_hash, role, created_at)
    values (:app || '@example.com', '$scrypt$', 'OWNER', '2026-01-01Z') returning id),
linked as (
  insert into password_reset (member_id, hash, made_by, created_at, expires_at)
    select id, :hash, id, '2026-01-01Z', '2026-01-02Z' from made)
insert into session (hash, member_id, created_at, last_seen_at, expires_at, user_agent)
  select :hash, id, '2026-01-01Z', '2026-01-01Z', '2026-02-01Z', 'a browser' from made;
insert into invitation (id, email, role, hash, invited_by, created_at, expires_at)
  values ('invitation to ' || :app, 'b@example.com', 'EDITOR', :hash, 'o@example.com', '2026-01-01Z', '2026-01-02Z');
insert into sign_in_pace (source, full_at) values (:hash, '2026-01-01Z');
insert into audit_entry (app_id, at, actor_kind, member_email, actor_name, source, operation, subject_kind, subject_id, before, after)
  values (:app, '2026-01-01Z', 'KEY', 'key', 'Key', '192.0.2.1', 'createUser', 'user', 'ann', '{"a":1}', '{"a":2}');

insert into user_import (app_id, id, state, failure, member_email, started_at, touched_at, finished_at, bytes_total,
    bytes_read, rows, bad, unchanged, changed, applied, refused, undone, kept, applied_to, undone_to, dropped)
  values (:app, 'import', 'APPLIED', 'why', 'o@example.com', '2026-01-01Z', '2026-01-01Z', '2026-01-01Z', 1, 2, 3, 4, 5, 6,
    7, 8, 9, 10, 11, 12, true);
insert into user_import_row (app_id, import_id, line, user_id, user_uid, outcome, problem, message, old_email, new_email,
    old_billing_id, new_billing_id)
  values (:app, 'import', 2, 'ann', 1, 'REFUSED', 'EMAIL', 'why', 'ann@example.com', 'a@example.com', 'cus_1', 'cus_2');

insert into sample_item (app_id, kind, id) values (:app, 'feature', 'calls');
insert into sample_activity (app_id, minute, checks, records) values (:app, '2026-01-01Z', 1, 2);

insert into job_worker (id, beats) values ('worker of ' || :app, 1);
insert into liveness (only_row, written_at, timeline) values (true, '2026-01-01Z', 1) on conflict do nothing;

insert into cell (id, schema, remote, split_from)
  select coalesce(max(id) + 1, 0), 'cell of ' || :app, false, 0 from cell;
insert into cell_bucket (bucket, cell) select count(*), max(cell.id) from cell left join cell_bucket on cell.id = cell_bucket.cell;
insert into user_billing_id (app_id, billing_id, uid) values (:app, 'cus_1', 1);
