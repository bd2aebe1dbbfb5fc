import { randomUUID } from 'node:crypto'
import { quote, StartError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { insertApiKey } from '../../store/apps/api-keys.ts'
import { bumpVersion, listApps, lockApp } from '../../store/apps/apps.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { type SubjectKind, snapshot } from '../../store/audit/snapshots.ts'
import { transaction } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import { listMembers, lockMembers, type Member } from '../../store/members/members.ts'
import type { Service } from '../call/service.ts'
import { newPasswordReset, type PasswordResetLink } from '../members/password-resets.ts'
import { keyKind, newSecret, UNLIMITED } from './api-keys.ts'
import { DEFAULT_APP, type FirstStart, firstSecrets } from './first-start.ts'

/** Options of the command line for operators who lost a key or a password. */
export interface RecoveryOptions {
  /** the app to create an Admin key for */
  newKeyOf: string | null
  /** the owner to create a password reset link for; '': the first one */
  resetOwner: string | null
}

export const NO_RECOVERY: RecoveryOptions = { newKeyOf: null, resetOwner: null }

/** All secrets that are printed once. */
export interface Secrets extends FirstStart {
  newKey?: { appId: string; secret: string }
  reset?: PasswordResetLink
}

/** The actor in the audit log, where members have their email address. */
const BY_COMMAND = 'the command line'

/** Needs no check: an operator who can start the service has its database and settings. */
export async function secretsFor(
  service: Pick<Service, 'pool' | 'keyring' | 'clock'>,
  { newKeyOf, resetOwner }: RecoveryOptions,
): Promise<Secrets> {
  const secrets: Secrets = await firstSecrets(service)
  // The key of a first start is already new.
  if (newKeyOf !== null && !(newKeyOf === DEFAULT_APP && secrets.apiKey !== null)) {
    secrets.newKey = await transaction(service.pool, (tx) => newKey(tx, newKeyOf))
  }
  // Without an owner there is a setup link instead.
  if (resetOwner !== null && secrets.ownerToken === null) {
    secrets.reset = await transaction(service.pool, (tx) => newReset(tx, resetOwner, service.clock()))
  }
  return secrets
}

async function newKey(tx: HomeDb, appId: string): Promise<{ appId: string; secret: string }> {
  const app = isIdentifier(appId) ? await lockApp(tx, appId) : null
  if (!app) {
    const known = (await listApps(tx)).slice(0, 20).map(({ id }) => id)
    throw new StartError(`The app ${quote(appId)} does not exist. Existing apps: ${known.join(', ')}.`)
  }
  const { secret, ...kept } = newSecret(keyKind(app))
  const key = { id: `key_${randomUUID()}`, name: 'From the command line', ...UNLIMITED, ...kept }
  await insertApiKey(tx, appId, key)
  await bumpVersion(tx, appId)
  await note(tx, appId, 'createApiKey', 'apiKey', key.id)
  return { appId, secret }
}

async function newReset(tx: HomeDb, email: string, now: number): Promise<PasswordResetLink> {
  await lockMembers(tx)
  const owners = (await listMembers(tx)).filter(({ role }) => role === 'OWNER')
  const owner = email === '' ? owners[0] : owners.find((member) => member.email === email.toLowerCase())
  if (!owner) throw noSuchOwner(email, owners)
  await note(tx, null, 'createPasswordReset', 'member', String(owner.id))
  return newPasswordReset(tx, owner, null, now)
}

function noSuchOwner(email: string, owners: readonly Member[]): StartError {
  const known = owners.slice(0, 20).map((owner) => owner.email)
  return new StartError(`${quote(email)} is not an owner. Owners: ${known.join(', ')}.`)
}

async function note(
  tx: HomeDb,
  appId: string | null,
  operation: string,
  subjectKind: SubjectKind,
  subjectId: string,
): Promise<void> {
  await insertAuditEntry(tx, {
    memberEmail: BY_COMMAND,
    appId,
    operation,
    subjectKind,
    subjectId,
    before: null,
    after: await snapshot(tx, subjectKind, appId ?? '', subjectId),
  })
}
