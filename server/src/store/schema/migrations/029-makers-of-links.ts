import { type Kysely, sql } from 'kysely'

/** Who made a reset link, which goes when they may no longer make one; null: the command line, or an earlier version. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table password_reset add column made_by bigint references member on delete cascade`.execute(
    db,
  )
}
