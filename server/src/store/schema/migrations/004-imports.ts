import { type Kysely, sql } from 'kysely'

/** What makes an import of a million rows a matter of a minute: half of what it wrote was indexes and marks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- Compared byte by byte, one index serves the search by prefix as well as the key.
alter table users alter id type text collate "C", alter billing_id type text collate "C";
drop index users_by_id;
drop index users_by_billing_id;

-- How far the rows of an import are applied and undone, by their lines: they need no mark of their own.
alter table user_import add applied_to bigint not null default 0, add undone_to bigint not null default 0;
update user_import i set
  applied_to = coalesce((select max(line) from user_import_row r where (r.app_id, r.import_id) = (i.app_id, i.id)
    and outcome in ('APPLIED', 'REFUSED', 'UNDONE', 'KEPT')), 0),
  undone_to = coalesce((select max(line) from user_import_row r where (r.app_id, r.import_id) = (i.app_id, i.id)
    and outcome in ('UNDONE', 'KEPT')), 0);
update user_import_row set outcome = 'CHANGE' where outcome in ('APPLIED', 'UNDONE');
-- Only what is rare wants finding; of the rest, the next page is never far.
drop index user_import_outcome;
create index user_import_outcome on user_import_row (app_id, import_id, outcome, line)
  where outcome in ('BAD', 'REFUSED', 'KEPT');
-- It was looked up for every row. Instead an import that is dropped stays, unseen, until its rows are deleted.
alter table user_import_row drop constraint user_import_row_app_id_import_id_fkey;
alter table user_import add dropped boolean not null default false;
`)
    .execute(db)
}
