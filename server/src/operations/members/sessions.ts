import { badUserInput } from '../../domain/errors.ts'
import { checkPassword } from '../../domain/password.ts'
import { findMember, setPassword } from '../../store/members.ts'
import {
  deleteSessionById,
  deleteSessionsOf,
  listSessions,
  type Session as StoredSession,
} from '../../store/sessions.ts'
import { changeInstallation, type MemberCall } from '../call/member-call.ts'
import { guess, sourcesOfMember } from './guesses.ts'
import { hashPassword, isPassword } from './password.ts'
import { passwordWork } from './password-work.ts'
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
  const known = await findMember(service.pool, member.email)
  const right = await guess(service, sourcesOfMember(member.id), () =>
    passwordWork.run(() => isPassword(current, known?.passwordHash, service.passwordCost), { ahead: true }),
  )
  if (!right) throw badUserInput('The current password is wrong', 'current')
  const hash = await passwordWork.run(() => hashPassword(password, service.passwordCost), { ahead: true })
  return changeInstallation(call, async (tx) => {
    await setPassword(tx, member.id, hash)
    await deleteSessionsOf(tx, member.id, session === null ? null : hashOf(session))
    return { id: String(member.id) }
  })
}
