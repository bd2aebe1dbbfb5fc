import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { badUserInput, TollgateError } from '../../domain/errors.ts'
import { checkText } from '../../domain/identifier.ts'
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS, SESSION_SECONDS } from '../../domain/limits.ts'
import { transaction } from '../../store/database.ts'
import {
  deleteExpiredSessions,
  deleteSession,
  findMember,
  findSession,
  insertFirstMember,
  insertSession,
  type Member,
} from '../../store/members.ts'
import { secretNamed } from '../../store/secrets.ts'
import type { Service } from '../call.ts'

export interface SignedIn {
  member: Member
  /** what the cookie holds; only its hash is kept */
  session: string
}

export async function signIn(service: Service, email: string, password: string): Promise<SignedIn> {
  const account = normalised(email)
  if (!service.signInAttempts.allow(account, service.clock())) {
    throw new TollgateError('RATE_LIMITED', 'Too many attempts for this account; try again in a few minutes')
  }
  const member = await findMember(service.pool, account)
  // An unknown address costs as much time as a wrong password, and gets the same answer.
  const right = await matches(password, member?.passwordHash ?? NOBODY)
  if (!member || !right) {
    throw new TollgateError('UNAUTHENTICATED', 'Email or password is wrong')
  }
  service.signInAttempts.clear(account)
  return startSession(service, { id: member.id, email: member.email })
}

export async function signOut(service: Service, session: string): Promise<void> {
  await deleteSession(service.pool, hashOf(session))
}

export function memberOfSession(service: Service, session: string): Promise<Member | null> {
  return findSession(service.pool, hashOf(session), service.clock())
}

/** The first member of all. The link that the start printed carries the token, and works until there is one. */
export async function setOwner(
  service: Service,
  token: string,
  email: string,
  password: string,
): Promise<SignedIn> {
  const expected = await ownerToken(service)
  if (!timingSafeEqual(hashOf(token), hashOf(expected))) {
    throw new TollgateError('UNAUTHENTICATED', 'This link is not valid; use the one that the service printed')
  }
  const owner = await createOwner(service, email, password)
  if (!owner) throw new TollgateError('UNAUTHENTICATED', 'This link was used already; sign in instead')
  return startSession(service, owner)
}

/** Null when there is a member already. */
export async function createOwner(service: Service, email: string, password: string): Promise<Member | null> {
  const account = normalised(email)
  if (!/^\S+@\S+$/.test(account)) throw badUserInput('email must be an email address')
  if (password.length < MIN_PASSWORD_CHARACTERS || password.length > MAX_PASSWORD_CHARACTERS) {
    throw badUserInput(
      `password must be ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters long`,
    )
  }
  const hash = await hashPassword(password)
  return transaction(service.pool, (tx) => insertFirstMember(tx, account, hash))
}

export async function ownerToken(service: Service): Promise<string> {
  return (await secretNamed(service.pool, 'owner-link')).toString('base64url')
}

async function startSession(service: Service, member: Member): Promise<SignedIn> {
  const session = randomBytes(32).toString('base64url')
  const now = service.clock()
  await deleteExpiredSessions(service.pool, now)
  await insertSession(service.pool, hashOf(session), member.id, now + SESSION_SECONDS * 1000)
  return { member, session }
}

function normalised(email: string): string {
  checkText('email', email)
  return email.trim().toLowerCase()
}

const derive = promisify<string, Buffer, number, Buffer>(scrypt)
const NOBODY = `${'00'.repeat(16)}:${'00'.repeat(64)}`

async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt, 64)).toString('hex')}`
}

async function matches(password: string, stored: string): Promise<boolean> {
  const [salt = '', hash = ''] = stored.split(':')
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'hex'), 64), Buffer.from(hash, 'hex'))
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()
