-- Recorded usage of all users per feature and hour, for series over time: see store/usage/usage-hours.ts.

-- Sums of the entries of the ledger up to usage_rollup.seq, by the app's clock.
create table usage_hour (
  app_id      text not null,
  feature_id  text not null,
  hour        timestamptz(0) not null,
  delta       numeric not null,
  entries     bigint not null,
  -- the first and last number of these entries
  first_seq   bigint not null,
  last_seq    bigint not null,
  primary key (app_id, feature_id, hour)
);

create table usage_rollup (
  only_row       boolean primary key default true check (only_row),
  -- every entry of the ledger up to here is part of usage_hour
  seq            bigint not null,
  -- entries of earlier times were deleted before they were added; null: none were
  complete_from  timestamptz(3)
);
insert into usage_rollup (seq, complete_from)
  select 0, (select max(next.opened_at) from ledger_partition p join ledger_partition next on next.block = p.block + 1
    where p.retired_at is not null);

-- New entries are found by their number. The maintenance of the ledger creates the index on partitions that are too large to
-- be indexed during a start, and on new ones.
do $$
declare
  leaf record;
begin
  for leaf in select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relname ~ '^usage_ledger_\d+$' and c.relkind = 'r' and pg_relation_size(c.oid) < 64 * 1024 * 1024
      and (n.nspname = current_schema() or exists (select from cell where schema = n.nspname and not remote))
  loop
    execute format('create index %I on %I.%I using brin (seq) with (pages_per_range = 32)',
      leaf.relname || '_by_seq', leaf.nspname, leaf.relname);
  end loop;
end $$;
