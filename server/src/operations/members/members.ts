import { randomBytes, randomUUID } from 'node:crypto'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { INVITATION_HOURS, MAX_MEMBERS } from '../../domain/limits.ts'
import { checkPassword } from '../../domain/password.ts'
import type { Role } from '../../domain/role.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import * as store from '../../store/members/members.ts'
import { deletePasswordResetsBy } from '../../store/members/password-resets.ts'
import { deleteSessionsOf } from '../../store/members/sessions.ts'
import type { InstallationCall } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { checkRole } from '../call/roles.ts'
import type { Service } from '../call/service.ts'
import { MUTATIONS } from '../registry/registry.ts'
import { invitationMail, mailed, memberLink } from './mails.ts'
import { hashPassword } from './password.ts'
import { passwordWork } from './password-work.ts'
import { type Browser, checkedAddress, hashOf, type SignedIn, startSession } from './sign-in.ts'

export function members({ service }: InstallationCall): Promise<store.Member[]> {
  return store.listMembers(service.pool)
}

export function invitations({ service }: InstallationCall): Promise<store.Invitation[]> {
  return store.listInvitations(service.pool, service.clock())
}

export interface NewInvitation extends store.Invitation {
  token: string
  /** null: email is not set up; false: it could not be sent */
  emailed: boolean | null
}

/** The token of the link is shown only once: only its hash is stored. */
export async function inviteMember(
  call: InstallationCall,
  email: string,
  role: Role,
): Promise<NewInvitation> {
  const address = checkedAddress(email)
  const {
    service,
    actor: { member },
  } = call
  const token = randomBytes(32).toString('base64url')
  const createdAt = service.clock()
  const invitation: store.Invitation = {
    id: `inv_${randomUUID()}`,
    email: address,
    role,
    invitedBy: member.email,
    createdAt,
    expiresAt: createdAt + INVITATION_HOURS * 3_600_000,
  }
  await mutate(call, async (tx) => {
    await lockMembers(tx, call)
    if (await store.findMember(tx, address))
      throw badUserInput(`${quote(address)} is already a member`, 'email')
    await store.insertInvitation(tx, invitation, hashOf(token))
    if ((await store.countPeople(tx, createdAt)) > MAX_MEMBERS)
      throw badUserInput(`There can be at most ${MAX_MEMBERS} members and open invitations`)
    return invitation
  })
  const url = memberLink(service, 'invite', token)
  const emailed = await mailed(
    service,
    invitationMail({ email: address, url, expiresAt: invitation.expiresAt }, member.email, role),
  )
  return { ...invitation, token, emailed }
}

export async function revokeInvitation(call: InstallationCall, id: string): Promise<boolean> {
  return mutate(call, async (tx) => isIdentifier(id) && store.deleteInvitation(tx, id))
}

export function invitation(service: Service, token: string): Promise<store.Invitation> {
  return goodInvitation(service.pool, service, token)
}

/** Anyone with the link can set a password and become a member. */
export async function acceptInvitation(
  service: Service,
  browser: Browser,
  token: string,
  password: string,
): Promise<SignedIn> {
  const { email } = await invitation(service, token)
  checkPassword(password, email)
  const hash = await passwordWork.run(() => hashPassword(password, service.passwordCost))
  const member = await transaction(
    service.pool,
    async (tx) => {
      // The sender's permission may be changing.
      await store.lockMembers(tx)
      const { id, email, role, invitedBy } = await goodInvitation(tx, service, token)
      if (!(await store.deleteInvitation(tx, id))) throw notGood()
      const made = await store.insertMember(tx, email, hash, role)
      if (!made) throw badUserInput(`${quote(email)} is already a member. Sign in instead.`)
      await insertAuditEntry(tx, {
        memberEmail: email,
        source: browser.address,
        appId: null,
        operation: 'acceptInvitation',
        subjectKind: 'member',
        subjectId: String(made.id),
        before: null,
        after: { email, role, invitedBy },
      })
      return made
    },
    browser.deadline,
  )
  return startSession(service, browser, member, hash, null)
}

export async function changeRole(
  call: InstallationCall,
  memberId: string,
  role: Role,
): Promise<store.Member> {
  return mutate(call, async (tx) => {
    const member = await lockedMember(tx, call, memberId)
    if (role !== 'OWNER') {
      await checkNotLastOwner(tx, member)
      await deleteLinksBy(tx, member)
    }
    await store.setRole(tx, member.id, role)
    return { ...member, role }
  })
}

export async function removeMember(call: InstallationCall, memberId: string): Promise<boolean> {
  return mutate(call, async (tx) => {
    const member = await lockedMember(tx, call, memberId)
    await checkNotLastOwner(tx, member)
    await deleteLinksBy(tx, member)
    await deleteSessionsOf(tx, member.id, null)
    await store.deleteMember(tx, member.id)
    return true
  })
}

export async function lockedMember(
  tx: HomeDb,
  call: InstallationCall,
  memberId: string,
): Promise<store.Member> {
  await lockMembers(tx, call)
  const id = /^\d{1,15}$/.test(memberId) ? Number(memberId) : 0
  const member = await store.findMemberById(tx, id)
  if (!member) throw new TollgateError('MEMBER_NOT_FOUND', `Member not found: ${quote(memberId)}`)
  return member
}

/** The actor may have lost the permission while waiting for the lock. */
async function lockMembers(tx: HomeDb, { actor: { member, mutation } }: InstallationCall): Promise<void> {
  await store.lockMembers(tx)
  if (mutation) checkRole(MUTATIONS[mutation.name].role, await store.findMemberById(tx, member.id))
}

/** Links created by a member who lost the permission are deleted too. */
async function deleteLinksBy(tx: HomeDb, { id, email }: store.Member): Promise<void> {
  await store.deleteInvitationsBy(tx, email)
  await deletePasswordResetsBy(tx, id)
}

async function checkNotLastOwner(tx: HomeDb, { id, role }: store.Member): Promise<void> {
  if (role !== 'OWNER') return
  const others = (await store.listMembers(tx)).filter((m) => m.role === 'OWNER' && m.id !== id)
  if (others.length === 0) throw badUserInput('This is the last owner. Make another member an owner first.')
}

async function goodInvitation(db: HomeDb, service: Service, token: string): Promise<store.Invitation> {
  const found = await store.findInvitation(db, hashOf(token), service.clock())
  if (!found) throw notGood()
  return found
}

const notGood = () =>
  new TollgateError('UNAUTHENTICATED', 'This invitation is no longer valid. Ask an owner for a new one.')
