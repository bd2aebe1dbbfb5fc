import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { checkEmail } from '../../domain/email.ts'
import { TollgateError } from '../../domain/errors.ts'
import { checkText } from '../../domain/identifier.ts'
import { MAX_TEXT_CHARACTERS, SESSION_SECONDS } from '../../domain/limits.ts'
import { checkPassword } from '../../domain/password.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { transaction } from '../../store/connection/database.ts'
import { noteFailedSignIn } from '../../store/members/failed-sign-ins.ts'
import {
  findMember,
  hasMembers,
  insertFirstMember,
  type Member,
  replacePasswordHash,
} from '../../store/members/members.ts'
import {
  deleteExpiredSessions,
  deleteSession,
  findSession,
  insertSession,
  touchSession,
} from '../../store/members/sessions.ts'
import { secretNamed } from '../../store/secrets/secrets.ts'
import type { Deadline } from '../call/deadline.ts'
import type { Service } from '../call/service.ts'
import { guess, guessSources } from './guesses.ts'
import { deviceToken, isDeviceOf } from './known-device.ts'
import { hashPassword, isCheap, isPassword } from './password.ts'
import { passwordWork } from './password-work.ts'

/** To the minute is precise enough. */
const SEEN_EVERY_MS = 60_000

export interface SignedIn {
  member: Member
  /** the cookie's value; only its hash is stored */
  session: string
  /** marks this browser as known to the account */
  device: string
}

/** The visitor's browser: its session, user agent and address. */
export interface Browser {
  session: string | null
  userAgent: string | null
  address: string
  /** when the visitor stops waiting */
  deadline: Deadline
  /** The cookie from its last sign-in to this account. */
  deviceOf(memberId: number): string | null
}

export async function signIn(
  service: Service,
  browser: Browser,
  email: string,
  password: string,
): Promise<SignedIn> {
  const account = normalised(email)
  const member = await findMember(service.pool, account)
  const device = member && (await knownDevice(service, browser, member))
  // An unknown address takes as long as a wrong password and gets the same response.
  const right = await guess(service, guessSources(account, browser.address, device), () =>
    passwordWork.run(() => isPassword(password, member?.passwordHash, service.passwordCost), {
      ahead: device !== null,
    }),
  )
  if (!member || !right) {
    await transaction(service.pool, (tx) => noteFailedSignIn(tx, { member, source: browser.address }))
    throw new TollgateError('UNAUTHENTICATED', 'Email or password is wrong')
  }
  const { passwordHash, ...known } = member
  const signedIn = await startSession(service, browser, known, passwordHash, 'signIn')
  if (isCheap(passwordHash, service.passwordCost)) {
    const dearer = await passwordWork.run(() => hashPassword(password, service.passwordCost), { ahead: true })
    await replacePasswordHash(service.pool, member.id, { from: passwordHash, to: dearer })
  }
  return signedIn
}

async function knownDevice(service: Service, browser: Browser, { id }: Member): Promise<string | null> {
  const token = browser.deviceOf(id)
  return token !== null && (await isDeviceOf(service, id, token)) ? token : null
}

export async function signOut(service: Service, session: string): Promise<void> {
  await deleteSession(service.pool, hashOf(session))
}

export async function memberOfSession(service: Service, session: string): Promise<Member | null> {
  const hash = hashOf(session)
  const now = service.clock()
  const member = await findSession(service.pool, hash, now)
  if (member && now - (member.lastSeenAt ?? 0) > SEEN_EVERY_MS) await touchSession(service.pool, hash, now)
  return member
}

/** Creates the first member. The setup link printed at the start contains the token and works until then. */
export async function setOwner(
  service: Service,
  browser: Browser,
  token: string,
  email: string,
  password: string,
): Promise<SignedIn> {
  const expected = await ownerToken(service)
  if (!timingSafeEqual(hashOf(token), hashOf(expected))) {
    throw new TollgateError('UNAUTHENTICATED', 'This link is not valid. Use the link printed by the service.')
  }
  const owner = await createOwner(service, email, password)
  if (!owner) throw new TollgateError('UNAUTHENTICATED', 'This link was already used. Sign in instead.')
  const { passwordHash, ...known } = owner
  return startSession(service, browser, known, passwordHash, 'setOwner')
}

/** Null if there is already a member. */
export async function createOwner(
  service: Service,
  email: string,
  password: string,
): Promise<(Member & { passwordHash: string }) | null> {
  const account = checkedAddress(email)
  checkPassword(password, account)
  const passwordHash = await passwordWork.run(() => hashPassword(password, service.passwordCost))
  const owner = await transaction(service.pool, (tx) => insertFirstMember(tx, account, passwordHash))
  return owner && { ...owner, passwordHash }
}

/** Before that, nobody can sign in. */
export const hasOwner = ({ pool }: Service): Promise<boolean> => hasMembers(pool)

export async function ownerToken(service: Pick<Service, 'pool' | 'keyring'>): Promise<string> {
  return (await secretNamed(service.pool, service.keyring, 'owner-link')).toString('base64url')
}

/**
 * Always creates a new session, so that one planted in this browser by someone else never becomes the member's. None is
 * created if the password was replaced while it was compared, which has ended all sessions. Writes an audit entry,
 * unless there is one already.
 */
export async function startSession(
  service: Service,
  browser: Browser,
  member: Member,
  passwordHash: string,
  by: 'signIn' | 'setOwner' | null,
): Promise<SignedIn> {
  const session = randomBytes(32).toString('base64url')
  const now = service.clock()
  const userAgent = browser.userAgent?.slice(0, MAX_TEXT_CHARACTERS) ?? null
  await deleteExpiredSessions(service.pool, now)
  if (browser.session !== null) await signOut(service, browser.session)
  await transaction(service.pool, async (tx) => {
    const made = await insertSession(tx, {
      hash: hashOf(session),
      memberId: member.id,
      passwordHash,
      now,
      expiresAt: now + SESSION_SECONDS * 1000,
      userAgent,
    })
    if (!made)
      throw new TollgateError(
        'UNAUTHENTICATED',
        'The password has just been changed. Sign in with the new one.',
      )
    if (by === null) return
    await insertAuditEntry(tx, {
      memberEmail: member.email,
      source: browser.address,
      appId: null,
      operation: by,
      subjectKind: 'member',
      subjectId: String(member.id),
      before: null,
      after: { email: member.email, userAgent },
    })
  })
  return { member, session, device: await deviceToken(service, member.id) }
}

/** An email address in canonical form. */
export function checkedAddress(email: string): string {
  const account = normalised(email)
  checkEmail(account)
  return account
}

function normalised(email: string): string {
  checkText('email', email)
  return email.trim().toLowerCase()
}

export const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
