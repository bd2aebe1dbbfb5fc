import { type Kysely, sql } from 'kysely'

/** Trials and promotion codes of payment links. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- { trialDays, trialNeedsCard, promotionCodes }; null: none of them
alter table billing_template add column terms json;
alter table checkout_session add column terms json;
alter table sandbox_checkout add column terms json;

-- It started with a trial that asked for no card: when that ends, there is nothing to charge.
alter table sandbox_subscription add column card_missing boolean not null default false;
`)
    .execute(db)
}
