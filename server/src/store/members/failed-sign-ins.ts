import { MAX_FAILED_SIGN_INS } from '../../domain/limits.ts'
import type { Tx } from '../connection/database.ts'

/** The account with the wrong password, and the source; null: no such account. */
interface FailedSignIn {
  member: { id: number; email: string } | null
  source: string
}

const LATELY = `app_id = '' and operation = 'signInFailed' and at > now() - interval '1 hour'`

/**
 * Records a failed sign-in in the audit log: one entry an hour for each account and source, with a count. A stranger
 * must not be able to fill the table, so beyond a number of entries the sources are omitted. Input that is not an
 * existing account is not stored, since it may be a password or a private address.
 */
export async function noteFailedSignIn(tx: Tx, { member, source }: FailedSignIn): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tollgate failed sign-ins'))`)
  const email = member?.email ?? ''
  if (await countAgain(tx, email, source)) return
  const { rows } = await tx.query<{ entries: number }>(
    `select count(*) as entries from audit_entry where ${LATELY} and (member_email = '') = $1`,
    [member === null],
  )
  const room = (rows[0]?.entries ?? 0) < MAX_FAILED_SIGN_INS
  if (!room && (await countAgain(tx, email, null))) return
  await tx.query(
    `insert into audit_entry (app_id, actor_kind, member_email, source, operation, subject_kind, subject_id, after)
     values ('', 'VISITOR', $1, $2, 'signInFailed', 'member', $3,
       json_build_object('email', nullif($1, ''), 'attempts', 1, 'lastAt', now()))`,
    [email, room ? source : null, member && String(member.id)],
  )
}

async function countAgain(tx: Tx, email: string, source: string | null): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update audit_entry set after = json_build_object('email', after->'email',
       'attempts', (after->>'attempts')::int + 1, 'lastAt', now())
     where app_id = '' and seq = (select seq from audit_entry
       where ${LATELY} and member_email = $1 and source is not distinct from $2 order by at desc limit 1)`,
    [email, source],
  )
  return rowCount === 1
}
