import { TollgateError } from '../../domain/errors.ts'
import { isAtLeast, type Role } from '../../domain/role.ts'
import type { SubjectKind } from '../../store/audit/snapshots.ts'
import type { Member } from '../../store/members/members.ts'

/** The raw arguments of a mutation. */
export type Args = Record<string, unknown>

interface MemberOperation {
  /** the lowest role allowed; null: no sign-in needed */
  least: Role | null
  /** what it changes, for the audit log; null: not logged */
  about: Subject | null
}

interface Subject {
  kind: SubjectKind
  /** The id of the subject: from the arguments or, for a generated one, from the result. */
  id(args: Args, result?: unknown): string | null
  /** There is nothing to look at before it. */
  isNew?: true
}

/**
 * Every mutation of the dashboard: who may run it, and what the audit log shows of it. One missing here is for owners
 * only, and a test fails.
 */
export const MUTATIONS: Record<string, MemberOperation> = {
  signIn: { least: null, about: null },
  signOut: { least: null, about: null },
  setOwner: { least: null, about: null },
  acceptInvitation: { least: null, about: null },
  resetPassword: { least: null, about: null },

  changePassword: { least: 'VIEWER', about: { kind: 'member', id: byResult } },
  signOutSession: { least: 'VIEWER', about: { kind: 'session', id: byId } },
  signOutEverywhere: { least: 'VIEWER', about: { kind: 'session', id: none } },

  inviteMember: { least: 'OWNER', about: { kind: 'invitation', id: byResult } },
  revokeInvitation: { least: 'OWNER', about: { kind: 'invitation', id: byId } },
  changeRole: { least: 'OWNER', about: { kind: 'member', id: by('memberId') } },
  removeMember: { least: 'OWNER', about: { kind: 'member', id: by('memberId') } },
  createPasswordReset: { least: 'OWNER', about: { kind: 'member', id: by('memberId') } },

  createApp: { least: 'OWNER', about: { kind: 'app', id: byId } },
  renameApp: { least: 'OWNER', about: { kind: 'app', id: by('appId') } },
  setOrigins: { least: 'OWNER', about: { kind: 'app', id: by('appId') } },
  archiveApp: { least: 'OWNER', about: { kind: 'app', id: by('appId') } },
  deleteApp: { least: 'OWNER', about: { kind: 'app', id: by('appId') } },
  advanceClock: { least: 'EDITOR', about: { kind: 'app', id: by('appId') } },
  createApiKey: { least: 'OWNER', about: { kind: 'apiKey', id: byResult } },
  rotateApiKey: { least: 'OWNER', about: { kind: 'apiKey', id: byId } },
  revokeApiKey: { least: 'OWNER', about: { kind: 'apiKey', id: byId } },

  rotateTokenKey: { least: 'OWNER', about: { kind: 'tokenKey', id: byResult } },
  revokeTokenKey: { least: 'OWNER', about: { kind: 'tokenKey', id: byId } },

  createFeature: { least: 'EDITOR', about: { kind: 'feature', id: byInput, isNew: true } },
  updateFeature: { least: 'EDITOR', about: { kind: 'feature', id: byId } },
  createPackage: { least: 'EDITOR', about: { kind: 'package', id: byInput, isNew: true } },
  updatePackage: { least: 'EDITOR', about: { kind: 'package', id: byId } },
  editPackage: { least: 'EDITOR', about: { kind: 'package', id: byId } },
  publishPackage: { least: 'EDITOR', about: { kind: 'package', id: byId } },
  archiveFeature: { least: 'EDITOR', about: { kind: 'feature', id: byId } },
  deleteFeature: { least: 'EDITOR', about: { kind: 'feature', id: byId } },
  archivePackage: { least: 'EDITOR', about: { kind: 'package', id: byId } },
  deletePackage: { least: 'EDITOR', about: { kind: 'package', id: byId } },
  discardPackageDraft: { least: 'EDITOR', about: { kind: 'package', id: byId } },
  migrateSubscriptions: { least: 'EDITOR', about: { kind: 'migration', id: byResult } },
  undoMigration: { least: 'EDITOR', about: { kind: 'migration', id: byId } },
  copyCatalogue: { least: 'EDITOR', about: { kind: 'catalogue', id: by('fromAppId') } },
  loadSample: { least: 'EDITOR', about: { kind: 'sample', id: none } },
  removeSample: { least: 'EDITOR', about: { kind: 'sample', id: none } },

  createUser: { least: 'EDITOR', about: { kind: 'user', id: byInput, isNew: true } },
  updateUser: { least: 'EDITOR', about: { kind: 'user', id: byPresentId } },
  // Of whom the log does not say: that is what was deleted.
  deleteUser: { least: 'EDITOR', about: { kind: 'user', id: none } },
  subscribe: { least: 'EDITOR', about: { kind: 'subscriptions', id: by('userId') } },
  cancelSubscription: { least: 'EDITOR', about: { kind: 'subscription', id: byId } },
  keepSubscription: { least: 'EDITOR', about: { kind: 'subscription', id: byId } },
  setOverride: { least: 'EDITOR', about: { kind: 'overrides', id: byInputOf('userId') } },
  removeOverride: { least: 'EDITOR', about: { kind: 'overrides', id: by('userId') } },
  changeSubscription: { least: 'EDITOR', about: { kind: 'subscriptions', id: by('userId') } },
  cancelScheduledChange: { least: 'EDITOR', about: { kind: 'subscriptions', id: by('userId') } },
  startTrial: { least: 'EDITOR', about: { kind: 'subscriptions', id: by('userId') } },
  extendTrial: { least: 'EDITOR', about: { kind: 'subscription', id: byId } },
  recordUsage: { least: 'EDITOR', about: { kind: 'usage', id: byInputOf('userId') } },
  generateUserToken: { least: 'EDITOR', about: { kind: 'token', id: by('userId') } },
  importUsers: { least: 'EDITOR', about: { kind: 'import', id: byId } },
  applyUserImport: { least: 'EDITOR', about: { kind: 'import', id: byId } },
  undoUserImport: { least: 'EDITOR', about: { kind: 'import', id: byId } },

  createPrice: { least: 'EDITOR', about: { kind: 'price', id: byResult } },
  importPrice: { least: 'EDITOR', about: { kind: 'price', id: byId } },
  archivePrice: { least: 'EDITOR', about: { kind: 'price', id: byId } },
  createBillingTemplate: { least: 'EDITOR', about: { kind: 'billingTemplate', id: byInput, isNew: true } },
  archiveBillingTemplate: { least: 'EDITOR', about: { kind: 'billingTemplate', id: byId } },
  deleteBillingTemplate: { least: 'EDITOR', about: { kind: 'billingTemplate', id: byId } },
  setProviderAccount: { least: 'OWNER', about: { kind: 'providerAccount', id: by('provider') } },
  removeProviderAccount: { least: 'OWNER', about: { kind: 'providerAccount', id: by('provider') } },
  testProviderAccount: { least: 'OWNER', about: null },
  setGraceDays: { least: 'EDITOR', about: { kind: 'app', id: by('appId') } },
  setAccessAfterRefund: { least: 'EDITOR', about: { kind: 'app', id: by('appId') } },
  reverseSandboxPayment: { least: 'EDITOR', about: { kind: 'subscription', id: by('subscriptionId') } },
  replayNotice: { least: 'EDITOR', about: { kind: 'notice', id: byId } },
  replayFailedNotices: { least: 'EDITOR', about: { kind: 'notice', id: none } },
  reconcileBilling: { least: 'EDITOR', about: { kind: 'notice', id: none } },
  exportAuditLog: { least: 'VIEWER', about: { kind: 'auditLog', id: none } },
  generateSubscriptionLink: { least: 'EDITOR', about: { kind: 'billingTemplate', id: by('templateId') } },
}

/**
 * Mutations of the Admin API of which the audit log has no entry. Usage has a ledger of its own, and a token for a page
 * changes nothing.
 */
export const UNAUDITED_BY_KEY: ReadonlySet<string> = new Set([
  'recordUsage',
  'recordUsages',
  'generateUserToken',
])

/** Queries are open to all members, except these. */
const QUERIES: Record<string, Role | null> = {
  me: null,
  hasOwner: null,
  invitation: null,
  passwordReset: null,
  invitations: 'OWNER',
}

export const notSignedIn = () => new TollgateError('UNAUTHENTICATED', 'Sign in to the dashboard first')

/** Whether it needs no sign-in. */
export const isForVisitors = (kind: 'query' | 'mutation', name: string): boolean =>
  leastRole(kind, name) === null

/** Mutations that hash a password, which is expensive: an operation may contain one of them. */
export const WITH_PASSWORD: ReadonlySet<string> = new Set([
  'signIn',
  'setOwner',
  'acceptInvitation',
  'resetPassword',
  'changePassword',
])

/** Refuses a member without the required role. */
export function checkMay(kind: 'query' | 'mutation', name: string, member: Member | null): void {
  const least = leastRole(kind, name)
  if (least === null) return
  if (!member) throw notSignedIn()
  if (!isAtLeast(member.role, least)) {
    const owed = least === 'OWNER' ? 'owner' : 'editor or owner'
    throw new TollgateError(
      'FORBIDDEN',
      `This operation requires the ${owed} role; you have the ${member.role.toLowerCase()} role`,
    )
  }
}

function leastRole(kind: 'query' | 'mutation', name: string): Role | null {
  if (kind === 'query') return Object.hasOwn(QUERIES, name) ? (QUERIES[name] ?? null) : 'VIEWER'
  const row = Object.hasOwn(MUTATIONS, name) ? MUTATIONS[name] : undefined
  return row ? row.least : 'OWNER'
}

/** The mutations a member may run; pages hide the others. */
export function permissions(member: Member): string[] {
  return Object.entries(MUTATIONS)
    .filter(([, { least }]) => least === null || isAtLeast(member.role, least))
    .map(([name]) => name)
}

function by(name: string) {
  return (args: Args): string | null => textOf(args[name])
}

function byInputOf(name: string) {
  return ({ input }: Args): string | null => textOf((input as Args | undefined)?.[name])
}

function byId({ id }: Args): string | null {
  return textOf(id)
}

function byInput({ input }: Args): string | null {
  return textOf((input as Args | undefined)?.id)
}

function byResult(_args: Args, result?: unknown): string | null {
  return textOf((result as Args | null | undefined)?.id)
}

/** For a subject whose id may change: the old id before the change, the new one after. */
function byPresentId(args: Args, result?: unknown): string | null {
  return (result === undefined ? null : byInput(args)) ?? byId(args)
}

function none(): null {
  return null
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null
