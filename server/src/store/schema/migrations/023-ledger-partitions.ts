import { type Kysely, sql } from 'kysely'

/** Up to here the ledger is partitioned at once; beyond, in the background: see `store/ledger/partition-ledger.ts`. */
const FEW_ENTRIES = 100_000

/**
 * The ledger in partitions, so that old entries can go without being deleted one by one. They are ranges of `seq`, which
 * the primary key has already, and follow time because the sequence jumps to the next block when its time has come: see
 * `store/ledger/ledger-partitions.ts`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table ledger_partition (
  -- entries with seq from block * 2^40 to the next block
  block         int primary key,
  -- when the sequence jumped here, so that entries go here since; null: not yet
  opened_at     timestamptz(3),
  -- what is under way to retire it: since when, how many of its pages are summed up, and its file
  retiring_at   timestamptz(3),
  filenode      oid,
  changes       int not null default 0,
  pages_summed  bigint not null default 0,
  -- when its entries were replaced by their sums in ledger_base; null: they are in the ledger
  retired_at    timestamptz(3),
  entries       bigint,
  -- the file they were archived in, and its checksum
  file          text,
  sha256        text
);

-- The sums of retired partitions by counter. They count from the moment that the partition is retired.
create table ledger_base (
  app_id        text not null,
  user_uid      bigint not null,
  feature_id    text not null,
  reset_period  text not null,
  period_start  timestamptz(3) not null,
  block         int not null,
  delta         bigint not null,
  entries       bigint not null,
  primary key (app_id, user_uid, feature_id, reset_period, period_start, block)
);

-- Entries are deleted only with a user of the sample, or with their app. A partition that is being retired is then read again.
create function note_ledger_change() returns trigger language plpgsql as $$
begin
  update ledger_partition set changes = changes + 1 where retiring_at is not null and retired_at is null;
  return null;
end $$;

-- Makes a table of the ledger that is not partitioned yet its first partition. Takes milliseconds if the check is valid,
-- but blocks everybody meanwhile: the caller sets lock_timeout.
create function partition_usage_ledger() returns void language plpgsql as $$
declare
  continued bigint;
begin
  lock table usage_ledger in access exclusive mode;
  if (select relkind from pg_class where oid = 'usage_ledger'::regclass) = 'p' then
    return;
  end if;
  execute format('select last_value + is_called::int from %s', pg_get_serial_sequence('usage_ledger', 'seq'))
    into continued;
  alter table usage_ledger alter column seq drop identity;
  alter table usage_ledger rename to usage_ledger_0;
  alter index usage_ledger_pkey rename to usage_ledger_0_pkey;
  execute format('create table usage_ledger (
    app_id        text not null,
    user_uid      bigint not null,
    feature_id    text not null,
    reset_period  text not null,
    period_start  timestamptz(3) not null,
    seq           bigint generated always as identity (start with %s),
    action        text not null,
    delta         bigint not null,
    used          bigint not null,
    recorded_at   timestamptz(3) not null,
    primary key (app_id, user_uid, feature_id, seq)
  ) partition by range (seq)', continued);
  alter table usage_ledger attach partition usage_ledger_0 for values from (minvalue) to (1099511627776);
  alter table usage_ledger_0 drop constraint if exists usage_ledger_first_block;
  create table usage_ledger_1 (like usage_ledger);
  alter table usage_ledger attach partition usage_ledger_1 for values from (1099511627776) to (2199023255552);
  create trigger usage_ledger_changed before update or delete on usage_ledger
    for each statement execute function note_ledger_change();
  insert into ledger_partition (block, opened_at) values (0, now()), (1, null);
end $$;
`)
    .execute(db)
  const { rows } = await sql<{ many: boolean }>`
    select count(*) > ${FEW_ENTRIES} as many from (select from usage_ledger limit ${FEW_ENTRIES} + 1) l
  `.execute(db)
  if (rows[0]?.many === false) await sql`select partition_usage_ledger()`.execute(db)
}
