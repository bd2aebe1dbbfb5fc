import { type Kysely, sql } from 'kysely'

/** Up to here the indexes are built at once; beyond, in the background: see `store/schema/search-indexes.ts`. */
const FEW_USERS = 5_000

/**
 * Search for users by any part of a word. Words are indexed by their parts of five characters, which the app's hash
 * precedes, so that one app's search reads no other's users. Parts of three, as `pg_trgm` has them, are too common: its
 * searches took ten times as long.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create function user_parts(app_id text, id text, name text, email text, billing_id text) returns tsvector
  language plpgsql immutable parallel safe cost 1000 as $$
declare
  app text := left(md5(app_id), 4);
  parts text[] := '{}';
  word text;
begin
  foreach word in array string_to_array(lower(concat_ws(' ', left(id, 256), left(name, 256), left(email, 256),
      left(billing_id, 256)) collate "default"), ' ') loop
    -- The end of a word is shorter, but no shorter than what is searched for.
    for i in 1 .. length(word) - 2 loop
      parts := parts || (app || substr(word, i, 5));
    end loop;
  end loop;
  return array_to_tsvector(parts);
end $$;

-- What the parts of a user must match to contain every word of a search; null: no word is long enough.
create function parts_of_search(app_id text, search text) returns tsquery
  language plpgsql immutable parallel safe as $$
declare
  app text := left(md5(app_id), 4);
  wanted text[] := '{}';
  word text;
  part text;
begin
  foreach word in array string_to_array(lower(search collate "default"), ' ') loop
    for i in 0 .. (length(word) - 1) / 5 loop
      -- The last part overlaps the one before it, so that it is whole.
      part := substr(word, greatest(1, least(i * 5 + 1, length(word) - 4)), 5);
      continue when length(part) < 3;
      wanted := wanted || ('''' || replace(replace(app || part, '\\', '\\\\'), '''', '''''') || ''''
        || case when length(part) < 5 then ':*' else '' end);
    end loop;
  end loop;
  return nullif(array_to_string(wanted, ' & '), '')::tsquery;
end $$;
`)
    .execute(db)
  const { rows } = await sql<{ many: boolean }>`
    select count(*) > ${FEW_USERS} as many from (select from users limit ${FEW_USERS} + 1) u
  `.execute(db)
  if (rows[0]?.many !== false) return
  await sql
    .raw(`
create index users_by_name on users (app_id, left(lower(name), 128) collate "C", uid) where name is not null;
create index users_by_part on users using gin (user_parts(app_id, id, name, email, billing_id));
`)
    .execute(db)
}
