import { createHash } from 'node:crypto'
import { badUserInput, rateLimited } from '../../domain/errors.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { transaction } from '../../store/connection/database.ts'
import { addJob, type Jobs } from '../../store/jobs/jobs.ts'
import { findMember, lockMembers } from '../../store/members/members.ts'
import { type Pace, takeTry } from '../../store/members/sign-in-pace.ts'
import type { Service } from '../call/service.ts'
import { memberLink, resetMail } from './mails.ts'
import { newPasswordReset } from './password-resets.ts'
import { type Browser, checkedAddress } from './sign-in.ts'

/** Emails for one account. */
const ACCOUNT: Pace = { tries: 3, everyMs: 10 * 60_000 }
/** Requests from one address, whatever the account. */
const ADDRESS: Pace = { tries: 20, everyMs: 60_000 }
/** An email that could not be sent for so long is given up. */
const GIVEN_UP_MS = 60 * 60_000

/**
 * Sends a reset link to a member who forgot the password. An address without an account gets the same answer after the
 * same work: whether it has one is found out later, in the background.
 */
export async function requestPasswordReset(
  service: Service,
  { address }: Pick<Browser, 'address'>,
  email: string,
): Promise<boolean> {
  const { pool, clock, mail } = service
  if (!mail) throw badUserInput('This service does not send email. Ask an owner for a reset link.')
  const account = checkedAddress(email)
  await take(service, ['reset from address', address], ADDRESS)
  await take(service, ['reset of account', account], ACCOUNT)
  const job = { email: account, source: address, at: clock() }
  await addJob(pool, 'send-password-reset', job, `reset ${hashOf([account]).toString('base64url')}`)
  return true
}

/** The job: a new link replaces an earlier one. If the mail server does not take it, the job is repeated. */
export async function sendPasswordReset(
  service: Service,
  { email, source, at }: Jobs['send-password-reset'],
): Promise<void> {
  const { pool, clock, mail } = service
  if (!mail || clock() > at + GIVEN_UP_MS) return
  const made = await transaction(pool, async (tx) => {
    await lockMembers(tx)
    const member = await findMember(tx, email)
    return member && { member, link: await newPasswordReset(tx, member, null, clock()) }
  })
  if (!made) return
  const { member, link } = made
  await mail.send(resetMail({ ...link, url: memberLink(service, 'reset', link.token) }))
  const shown = { id: String(member.id), email: member.email, role: member.role }
  await insertAuditEntry(pool, {
    actorKind: 'VISITOR',
    memberEmail: member.email,
    source,
    appId: null,
    operation: 'requestPasswordReset',
    subjectKind: 'member',
    subjectId: shown.id,
    before: shown,
    after: shown,
  })
}

async function take({ pool, clock }: Service, source: string[], pace: Pace): Promise<void> {
  const wait = await takeTry(pool, hashOf(source), clock(), pace)
  if (wait === 0) return
  const seconds = Math.ceil(wait / 1_000)
  throw rateLimited(`Too many reset requests; retry in ${seconds} s.`, seconds)
}

const hashOf = (parts: string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()
