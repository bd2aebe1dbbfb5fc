import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- Background workers: each raises its number every few seconds. One whose number stands still is dead, and its jobs
-- are free. Numbers, not times: a step of the database's clock makes nobody look dead.
create table job_worker (
  id     text primary key,
  beats  bigint not null
);
`)
    .execute(db)
}
