import { type Kysely, sql } from 'kysely'

/** Refunds and disputes, and what they do to access. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- whether access ends when everything paid for the running period is refunded or disputed
alter table app add column access_after_refund text not null default 'KEEP'
  check (access_after_refund in ('KEEP', 'END'));

alter table provider_subscription
  -- the payments that were refunded or disputed: see domain/reversal.ts; null: none, as far as is known
  add column reversals json,
  -- when that ended access; null: it did not, or access was given back
  add column access_ended_at timestamptz(3);
create index provider_subscription_reversed on provider_subscription (app_id, provider, ref)
  where reversals is not null;
-- Nothing renews here any more, but what was paid may still be refunded.
create index provider_subscription_final on provider_subscription (app_id, (coalesce(paid_until, made_at)))
  where not live;

-- What happened to the payments in the sandbox's books: [{ id, amount, at, failed }] and { state, reason, at }.
alter table sandbox_invoice add column refunds json, add column dispute json;
create unique index sandbox_invoice_id on sandbox_invoice (app_id, id);
alter table sandbox_checkout add column refunds json, add column dispute json;
`)
    .execute(db)
}
