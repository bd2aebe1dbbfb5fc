import { type Kysely, sql } from 'kysely'

/** Cells: schemas that share the users between them. There are none until an operator adds one: see `store/cells/cells.ts`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table cell (
  id      int primary key,
  schema  text not null unique
);

-- Which cell the users of a bucket are in.
create table cell_bucket (
  bucket  int primary key check (bucket between 0 and 1023),
  cell    int not null references cell
);

-- Who has a billing id, where that is not told by the index of one table.
create table user_billing_id (
  app_id      text not null,
  billing_id  text collate "C" not null,
  uid         bigint not null,
  constraint users_billing_id_of_app primary key (app_id, billing_id)
);

-- Makes a writer start again: the user whose rows it would have written is in another cell.
create function user_moved_away() returns int language plpgsql as $$
begin
  raise serialization_failure using message = 'the user was moved to another cell';
end $$;

-- Ten bits of a hash.
create function bucket_of(app_id text, user_id text) returns int language sql immutable parallel safe as $$
  select (get_byte(h, 0) << 2) | (get_byte(h, 1) >> 6)
  from (select sha256(convert_to(app_id || chr(31) || user_id, 'UTF8')) as h) hashed
$$;
`)
    .execute(db)
}
