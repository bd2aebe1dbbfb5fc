import { type Kysely, sql } from 'kysely'

/** What `/readyz` writes, to know that the database takes writes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table liveness (
      only_row boolean primary key check (only_row),
      written_at timestamptz not null
    )
  `.execute(db)
}
