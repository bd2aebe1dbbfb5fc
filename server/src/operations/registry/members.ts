import { number } from '../../domain/sentence.ts'
import { type AuditSentence, by, byId, byResult, type MutationEntry, none, type QueryEntry } from './entry.ts'

export const memberQueries = {
  me: { dashboard: true, role: 'VISITOR' },
  sendsEmail: { dashboard: true, role: 'VISITOR' },
  hasOwner: { dashboard: true, role: 'VISITOR' },
  invitation: { dashboard: true, role: 'VISITOR' },
  passwordReset: { dashboard: true, role: 'VISITOR' },
  permissions: { dashboard: true, role: 'VIEWER' },
  members: { dashboard: true, role: 'VIEWER' },
  sessions: { dashboard: true, role: 'VIEWER' },
  invitations: { dashboard: true, role: 'OWNER' },
  auditLog: { dashboard: true, role: 'VIEWER', replica: true },
  auditOperations: { dashboard: true, role: 'VIEWER' },
} as const satisfies Record<string, QueryEntry>

export const memberMutations = {
  signIn: { dashboard: true, role: 'VISITOR', password: true, subject: null, sentence: 'signed in' },
  signOut: { dashboard: true, role: 'VISITOR', subject: null },
  setOwner: {
    dashboard: true,
    role: 'VISITOR',
    password: true,
    subject: null,
    sentence: 'set up this installation as its owner',
  },
  acceptInvitation: {
    dashboard: true,
    role: 'VISITOR',
    password: true,
    subject: null,
    sentence: 'accepted the invitation',
  },
  resetPassword: {
    dashboard: true,
    role: 'VISITOR',
    password: true,
    subject: null,
    sentence: 'set a new password with a reset link',
  },
  requestPasswordReset: {
    dashboard: true,
    role: 'VISITOR',
    subject: null,
    sentence: 'requested a password reset link',
  },
  changePassword: {
    dashboard: true,
    role: 'VIEWER',
    password: true,
    subject: { kind: 'member', id: byResult },
    sentence: 'changed the password',
  },
  signOutSession: {
    dashboard: true,
    role: 'VIEWER',
    subject: { kind: 'session', id: byId },
    sentence: 'signed out of a browser',
  },
  signOutEverywhere: {
    dashboard: true,
    role: 'VIEWER',
    subject: { kind: 'session', id: none },
    sentence: 'signed out everywhere',
  },
  inviteMember: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'invitation', id: byResult },
    sentence: 'invited {email}',
  },
  revokeInvitation: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'invitation', id: byId },
    sentence: 'revoked the invitation of {email}',
  },
  changeRole: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'member', id: by('memberId') },
    sentence: 'changed the role of {member}{changes}',
  },
  removeMember: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'member', id: by('memberId') },
    sentence: 'removed the member {member}',
  },
  createPasswordReset: {
    dashboard: true,
    role: 'OWNER',
    subject: { kind: 'member', id: by('memberId') },
    sentence: 'created a password reset link for {member}',
  },
  exportAuditLog: {
    dashboard: 'FILE',
    role: 'VIEWER',
    subject: { kind: 'auditLog', id: none },
    sentence: 'exported the audit log',
  },
} as const satisfies Record<string, MutationEntry>

export const memberEvents = {
  signInFailed: ({ after }) =>
    `failed to sign in ${after?.email ? 'as {email}' : 'with an unknown email'}, ${tries(after?.attempts)}`,
} as const satisfies Record<string, AuditSentence>

const tries = (count: unknown): string => (count === 1 ? 'once' : `${number(Number(count))} times`)
