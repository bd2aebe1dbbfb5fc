import { badUserInput, TollgateError } from '../../domain/errors.ts'
import { SIGN_IN_TRIES, SIGN_IN_WINDOW_MS } from '../../domain/limits.ts'
import { checkPassword } from '../../domain/password.ts'
import { findMember, setPassword } from '../../store/members.ts'
import {
  deleteSessionById,
  deleteSessionsOf,
  listSessions,
  type Session as StoredSession,
} from '../../store/sessions.ts'
import { forgetAttempts, noteAttempt } from '../../store/sign-in-attempts.ts'
import { changeInstallation, type MemberCall } from './member-call.ts'
import { hashPassword, isPassword } from './password.ts'
import { hashOf } from './sign-in.ts'

export type Session = Omit<StoredSession, 'hash'> & { current: boolean }

/** The member's own; `session` is the one that asks. */
export async function sessions({ service, member }: MemberCall, session: string | null): Promise<Session[]> {
  const own = session === null ? null : hashOf(session)
  const rows = await listSessions(service.pool, member.id, service.clock())
  return rows.map(({ hash, ...shown }) => ({ ...shown, current: own !== null && hash.equals(own) }))
}

export function signOutSession(call: MemberCall, id: string): Promise<boolean> {
  return changeInstallation(
    call,
    async (tx) => /^\d{1,15}$/.test(id) && deleteSessionById(tx, call.member.id, Number(id)),
  )
}

export function signOutEverywhere(call: MemberCall): Promise<boolean> {
  return changeInstallation(call, async (tx) => {
    await deleteSessionsOf(tx, call.member.id, null)
    return true
  })
}

/** Ends all other sessions: whoever knew the old password is out. */
export async function changePassword(
  call: MemberCall,
  session: string | null,
  current: string,
  password: string,
): Promise<{ id: string }> {
  const { service, member } = call
  checkPassword(password, member.email)
  const account = hashOf(member.email)
  const window = { most: SIGN_IN_TRIES, windowMs: SIGN_IN_WINDOW_MS }
  if (!(await noteAttempt(service.pool, account, service.clock(), window))) {
    throw new TollgateError('RATE_LIMITED', 'Too many attempts for this account; try again in a few minutes')
  }
  const known = await findMember(service.pool, member.email)
  if (!(await isPassword(current, known?.passwordHash, service.passwordCost))) {
    throw badUserInput('The current password is wrong', 'current')
  }
  await forgetAttempts(service.pool, account)
  const hash = await hashPassword(password, service.passwordCost)
  return changeInstallation(call, async (tx) => {
    await setPassword(tx, member.id, hash)
    await deleteSessionsOf(tx, member.id, session === null ? null : hashOf(session))
    return { id: String(member.id) }
  })
}
