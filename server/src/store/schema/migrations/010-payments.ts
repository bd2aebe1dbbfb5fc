import { type Kysely, sql } from 'kysely'

/** When things were paid, which payments gave nothing, and the sandbox beside a live account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- In real time, also where the app has a test clock: of two payments the later one counts.
alter table checkout_session add column paid_at timestamptz(3);
alter table provider_subscription add column paid_at timestamptz(3);
update provider_subscription set paid_at = now() where made_at > now();

-- by the app's clock, and in real time
alter table sandbox_checkout add column paid_at timestamptz(3), add column paid_really_at timestamptz(3);

-- The owner has turned the sandbox on although a live key is set.
alter table provider_account add column beside_live boolean not null default false;

-- The provider's id of what was paid and could not be given. One notice says why, however many there are about it.
alter table notice add column payment_ref text;
create unique index notice_failed_payment on notice (app_id, provider, payment_ref)
  where state = 'FAILED' and payment_ref is not null;
`)
    .execute(db)
}
