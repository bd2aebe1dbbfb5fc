import { type Kysely, sql } from 'kysely'

/** Changes of price in the sandbox's books, and its invoices. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table sandbox_subscription
  -- by price id; 1 where it says nothing
  add column quantities json not null default '{}',
  -- where its periods are counted from; null: from made_at
  add column anchor timestamptz(3),
  -- what earlier changes gave back and no invoice has used yet
  add column credit bigint not null default 0,
  -- { at, interval, items: [{ priceId, quantity }] }: what is charged from then on
  add column scheduled json,
  add column trial_ends_at timestamptz(3);

create table sandbox_invoice (
  app_id           text not null,
  subscription_id  text not null,
  number           int not null,
  id               text not null,
  reason           text not null,
  currency         text not null,
  -- [{ priceId, quantity, amount, proration }], in minor units; what is given back is negative
  lines            json not null,
  -- the sum of the lines, less what was credited before
  due              bigint not null,
  paid             boolean not null,
  made_at          timestamptz(3) not null,
  primary key (app_id, subscription_id, number),
  foreign key (app_id, subscription_id) references sandbox_subscription
);
`)
    .execute(db)
}
