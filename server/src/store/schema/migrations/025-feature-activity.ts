import { type Kysely, sql } from 'kysely'

/** Up to here the index is built at once; beyond, in the background: see `store/schema/search-indexes.ts`. */
const FEW_USERS = 5_000

/**
 * What each feature's page shows: calls by the hour, and who has overrides. And the search by a part of a word as a
 * function, so that it can share a statement with the search by beginnings, whose connections do without bitmap scans:
 * a GIN index knows no other.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- How often a feature was asked for and recorded, by the hour.
create table feature_activity (
  app_id      text not null,
  feature_id  text not null,
  hour        timestamptz(0) not null,
  -- calls that never were, which go with the sample
  sample      boolean not null default false,
  checks      bigint not null,
  -- of the checks: those answered with no
  denied      bigint not null,
  -- recorded calls, what they added up to, and calls that were refused
  records     bigint not null,
  units       numeric not null,
  refused     bigint not null,
  primary key (app_id, feature_id, hour, sample),
  foreign key (app_id, feature_id) references feature on delete cascade
);
-- The oldest go first.
create index feature_activity_by_hour on feature_activity (hour);

-- Users with every word of the search in their id, name, address or billing id, none of which begins with the search:
-- first those in whose name a word begins so, then the others, oldest first. Of more than most, which ones is left open.
create function users_with_part(in_app text, search text, most int, after_key text, after_uid bigint, wanted bigint)
  returns table (uid bigint, id text, billing_id text, name text, email text, metadata json,
    created_at timestamptz(3), key text)
  language plpgsql stable set enable_bitmapscan = on set max_parallel_workers_per_gather = 0 as $$
declare
  folded text := lower(search collate "default");
  words text[] := array(select '%' || regexp_replace(word, '([\\\\%_])', '\\\\\\1', 'g') || '%'
    from string_to_table(folded, ' ') as word);
  parts tsquery := parts_of_search(in_app, search);
begin
  -- Until the index is built, nothing is found by it: the table is not read from end to end.
  if parts is null
    or (select indisvalid from pg_index where indexrelid = to_regclass('users_by_part')) is not true then
    return;
  end if;
  return query
    select f.* from (
      select u.uid, u.id, u.billing_id, u.name, u.email, u.metadata, u.created_at,
        case when strpos(' ' || lower(u.name), ' ' || folded) > 0 then '0' else '1' end collate "C" as key
      from users u
      where u.app_id = in_app and user_parts(u.app_id, u.id, u.name, u.email, u.billing_id) @@ parts
        and not starts_with(u.id, search)
        and not coalesce(starts_with(lower(u.email), folded), false)
        and not coalesce(starts_with(u.billing_id, search), false)
        and not coalesce(starts_with(lower(u.name), folded), false)
        and lower(concat_ws(' ', u.id, u.name, u.email, u.billing_id) collate "default") like all (words)
      limit most) f
    where (f.key, f.uid) > (after_key collate "C", after_uid) order by f.key, f.uid limit wanted;
end $$;
`)
    .execute(db)
  const { rows } = await sql<{ many: boolean }>`
    select count(*) > ${FEW_USERS} as many from (select from users limit ${FEW_USERS} + 1) u
  `.execute(db)
  if (rows[0]?.many !== false) return
  await sql
    .raw('create index users_with_overrides on users (app_id, uid) where overrides is not null')
    .execute(db)
}
