import { type Kysely, sql } from 'kysely'

/**
 * When version 1 of a package was published. For packages that already are, as far as the audit log tells; it has
 * real time, which is not that of an app with a test clock.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table package add column first_published_at timestamptz(3)`.execute(db)
  await sql`update package p set first_published_at = (
      select e.at from audit_entry e
      where e.app_id = p.app_id and e.subject_id = p.id and e.subject_kind = 'package'
        and e.operation = 'publishPackage' and e.before->>'status' = 'DRAFT'
      order by e.at desc, e.seq desc limit 1)
    from app a where a.id = p.app_id and a.test_clock is null and p.status = 'PUBLISHED'`.execute(db)
}
