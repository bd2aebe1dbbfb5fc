import { badUserInput } from '../../domain/errors.ts'
import { checkPassword } from '../../domain/password.ts'
import { findMember, replacePasswordHash } from '../../store/members/members.ts'
import { deletePasswordReset } from '../../store/members/password-resets.ts'
import {
  deleteSessionById,
  deleteSessionsOf,
  listSessions,
  type Session as StoredSession,
} from '../../store/members/sessions.ts'
import type { InstallationCall } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { guess, sourcesOfMember } from './guesses.ts'
import { hashPassword, isPassword } from './password.ts'
import { passwordWork } from './password-work.ts'
import { hashOf } from './sign-in.ts'

export type Session = Omit<StoredSession, 'hash'> & { current: boolean }

/** The member's sessions; `session` is the current one. */
export async function sessions(
  { service, actor: { member } }: InstallationCall,
  session: string | null,
): Promise<Session[]> {
  const own = session === null ? null : hashOf(session)
  const rows = await listSessions(service.pool, member.id, service.clock())
  return rows.map(({ hash, ...shown }) => ({ ...shown, current: own !== null && hash.equals(own) }))
}

export function signOutSession(call: InstallationCall, id: string): Promise<boolean> {
  return mutate(
    call,
    async (tx) => /^\d{1,15}$/.test(id) && deleteSessionById(tx, call.actor.member.id, Number(id)),
  )
}

export function signOutEverywhere(call: InstallationCall): Promise<boolean> {
  return mutate(call, async (tx) => {
    await deleteSessionsOf(tx, call.actor.member.id, null)
    return true
  })
}

/** Also ends all other sessions and deletes a reset link: anyone who knew the old password is locked out. */
export async function changePassword(
  call: InstallationCall,
  session: string | null,
  current: string,
  password: string,
): Promise<{ id: string }> {
  const {
    service,
    actor: { member },
  } = call
  checkPassword(password, member.email)
  const known = await findMember(service.pool, member.email)
  const right = await guess(service, sourcesOfMember(member.id), () =>
    passwordWork.run(() => isPassword(current, known?.passwordHash, service.passwordCost), { ahead: true }),
  )
  if (!known || !right) throw wrong()
  const hash = await passwordWork.run(() => hashPassword(password, service.passwordCost), { ahead: true })
  return mutate(call, async (tx) => {
    // A reset link may have replaced it meanwhile: then the old password must not change anything.
    if (!(await replacePasswordHash(tx, member.id, { from: known.passwordHash, to: hash }))) throw wrong()
    await deletePasswordReset(tx, member.id)
    await deleteSessionsOf(tx, member.id, session === null ? null : hashOf(session))
    return { id: String(member.id) }
  })
}

const wrong = () => badUserInput('The current password is wrong', 'current')
