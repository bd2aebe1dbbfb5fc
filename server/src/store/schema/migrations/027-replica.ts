import { type Kysely, sql } from 'kysely'

/** The primary's timeline as the service last saw it: a replica that has another one did not follow the last failover. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table liveness add column timeline int`.execute(db)
}
