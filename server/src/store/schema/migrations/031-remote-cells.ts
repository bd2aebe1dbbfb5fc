import { type Kysely, sql } from 'kysely'

/** Cells on other servers: see `store/cells/remote-cells.ts`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table cell add column remote boolean not null default false;

-- Never has a row: see commitTogether in store/cells/cells.ts.
create table remote_work (id int primary key);

-- The default of a column whose numbers come from a sequence on this server. On another, where there is no such sequence,
-- it fails instead of starting again from one.
create function next_number(sequence text) returns bigint language sql volatile as $$
  select nextval(sequence::regclass)
$$;

-- For users of another server, where no trigger does it.
create function claim_billing_id(of_app text, wanted text, owner bigint) returns void language plpgsql as $$
begin
  insert into user_billing_id (app_id, billing_id, uid) values (of_app, wanted, owner) on conflict do nothing;
  if not found then
    raise unique_violation using constraint = 'users_billing_id',
      message = 'another user of the app has this billing id';
  end if;
end $$;
`)
    .execute(db)
}
