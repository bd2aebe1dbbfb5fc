import { randomBytes } from 'node:crypto'
import { TollgateError } from '../../domain/errors.ts'
import { PASSWORD_RESET_HOURS } from '../../domain/limits.ts'
import { checkPassword } from '../../domain/password.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { findMemberById, lockMembers, type Member, setPassword } from '../../store/members/members.ts'
import { memberOfReset, putPasswordReset, takePasswordReset } from '../../store/members/password-resets.ts'
import { deleteSessionsOf } from '../../store/members/sessions.ts'
import type { InstallationCall } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import type { Service } from '../call/service.ts'
import { mailed, memberLink, resetMail } from './mails.ts'
import { lockedMember } from './members.ts'
import { hashPassword } from './password.ts'
import { passwordWork } from './password-work.ts'
import { type Browser, hashOf, type SignedIn, startSession } from './sign-in.ts'

export interface PasswordResetLink {
  email: string
  /** shown only once: only its hash is stored */
  token: string
  expiresAt: number
}

/** A link for a member who forgot the password. Nothing changes for them until it is used. */
export async function createPasswordReset(
  call: InstallationCall,
  memberId: string,
): Promise<PasswordResetLink & { emailed: boolean | null }> {
  const { service, actor } = call
  const link = await mutate(call, async (tx) =>
    newPasswordReset(tx, await lockedMember(tx, call, memberId), actor.member, service.clock()),
  )
  return {
    ...link,
    emailed: await mailed(service, resetMail({ ...link, url: memberLink(service, 'reset', link.token) })),
  }
}

/** Replaces an earlier link of the same member. Without `by`: created on the command line. */
export async function newPasswordReset(
  db: HomeDb,
  member: Member,
  maker: Member | null,
  now: number,
): Promise<PasswordResetLink> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = now + PASSWORD_RESET_HOURS * 3_600_000
  const reset = { memberId: member.id, madeBy: maker?.id ?? null, createdAt: now, expiresAt }
  await putPasswordReset(db, reset, hashOf(token))
  return { email: member.email, token, expiresAt }
}

export async function passwordReset(service: Service, token: string): Promise<{ email: string }> {
  return goodReset(service.pool, service, token)
}

/** Anyone with the link can set the password. All sessions end. */
export async function resetPassword(
  service: Service,
  browser: Browser,
  token: string,
  password: string,
): Promise<SignedIn> {
  checkPassword(password, (await passwordReset(service, token)).email)
  const hash = await passwordWork.run(() => hashPassword(password, service.passwordCost))
  const member = await transaction(
    service.pool,
    async (tx) => {
      // The creator's permission may be changing, or the link may be being replaced.
      await lockMembers(tx)
      const { id } = await goodReset(tx, service, token)
      const member = await findMemberById(tx, id)
      if (!member || !(await takePasswordReset(tx, hashOf(token), service.clock()))) throw notGood()
      await setPassword(tx, id, hash)
      await deleteSessionsOf(tx, id, null)
      const shown = { id: String(id), email: member.email, role: member.role }
      await insertAuditEntry(tx, {
        memberEmail: member.email,
        source: browser.address,
        appId: null,
        operation: 'resetPassword',
        subjectKind: 'member',
        subjectId: shown.id,
        before: shown,
        after: shown,
      })
      return member
    },
    browser.deadline,
  )
  return startSession(service, browser, member, hash, null)
}

async function goodReset(db: HomeDb, service: Service, token: string) {
  const member = await memberOfReset(db, hashOf(token), service.clock())
  if (!member) throw notGood()
  return member
}

const notGood = () =>
  new TollgateError(
    'UNAUTHENTICATED',
    'This link was already used or has expired. Ask an owner for a new one, or run npx tollgate start --reset-owner.',
  )
