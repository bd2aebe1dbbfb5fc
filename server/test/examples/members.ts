import { type Data, dashboardClient, signedIn } from '../harness/client.ts'
import { OWNER } from '../harness/server.ts'
import type { MutationExamples, QueryExamples, Turn } from './example.ts'

export const memberQueries = {
  me: { args: () => ({}) },
  hasOwner: { args: () => ({}) },
  sendsEmail: { args: () => ({}) },
  invitation: { args: () => ({ token: 'none' }), code: 'UNAUTHENTICATED' },
  passwordReset: { args: () => ({ token: 'none' }), code: 'UNAUTHENTICATED' },
  permissions: { args: () => ({}) },
  members: { args: () => ({}) },
  sessions: { args: () => ({}) },
  invitations: { args: () => ({}) },
  auditLog: { args: () => ({ first: 5 }) },
  auditOperations: { args: () => ({}) },
} satisfies Partial<QueryExamples>

const { password } = OWNER

/** Somebody who has accepted an invitation. */
async function newMember({ world, email }: Turn): Promise<string> {
  const inviteMember = await world.dashboard.call('inviteMember { url }', { email, role: 'VIEWER' })
  const acceptInvitation = await dashboardClient(world.server.url).call('acceptInvitation { id }', {
    token: new URLSearchParams(new URL(inviteMember.url).hash.slice(1)).get('token'),
    password,
  })
  return acceptInvitation.id
}

export const memberMutations = {
  inviteMember: {
    args: ({ email }) => ({ email, role: 'EDITOR' }),
    audit: ({ email }) => ({ appId: null, subjectKind: 'invitation', after: { email, role: 'EDITOR' } }),
  },
  revokeInvitation: {
    after: ['inviteMember'],
    args: ({ made }) => ({ id: made.inviteMember.id }),
    audit: ({ email }) => ({
      sentence: `revoked the invitation of ${email}`,
      subjectKind: 'invitation',
      before: { email },
      after: null,
    }),
  },
  changeRole: {
    args: async (turn) => ({ memberId: await newMember(turn), role: 'EDITOR' }),
    audit: { appId: null, subjectKind: 'member', before: { role: 'VIEWER' }, after: { role: 'EDITOR' } },
  },
  createPasswordReset: {
    args: async (turn) => ({ memberId: await newMember(turn) }),
    audit: ({ email }) => ({
      sentence: `created a password reset link for ${email}`,
      subjectKind: 'member',
      before: { email },
      after: { email },
    }),
  },
  removeMember: {
    args: async (turn) => ({ memberId: await newMember(turn) }),
    audit: ({ email }) => ({
      sentence: `removed the member ${email}`,
      subjectKind: 'member',
      before: { email },
      after: null,
    }),
  },
  changePassword: {
    args: () => ({ current: password, password }),
    audit: { subjectKind: 'member', after: { email: OWNER.email, role: 'OWNER' } },
  },
  signOutSession: {
    args: async ({ world }) => {
      await signedIn(world.server.url, OWNER)
      const { sessions } = await world.dashboard.data('{ sessions { id current } }')
      return { id: sessions.find(({ current }: Data) => !current).id }
    },
    audit: { subjectKind: 'session', before: null, after: null },
  },
  // Those without an audit entry here are run by visitors, or end the session of the other examples.
  setOwner: { args: () => ({ token: 'none', ...OWNER }), code: 'UNAUTHENTICATED', audit: null },
  acceptInvitation: { args: () => ({ token: 'none', password }), code: 'UNAUTHENTICATED', audit: null },
  requestPasswordReset: { args: ({ email }) => ({ email }), code: 'BAD_USER_INPUT', audit: null },
  resetPassword: { args: () => ({ token: 'none', password }), code: 'UNAUTHENTICATED', audit: null },
  signIn: { args: () => OWNER, audit: null },
  signOut: { args: () => ({}), audit: null },
  signOutEverywhere: { args: () => ({}), audit: null },
} satisfies Partial<MutationExamples>
