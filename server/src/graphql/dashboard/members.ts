import { permissions } from '../../operations/call/roles.ts'
import {
  acceptInvitation,
  changeRole,
  invitation,
  invitations,
  inviteMember,
  members,
  type NewInvitation,
  removeMember,
  revokeInvitation,
} from '../../operations/members/members.ts'
import {
  createPasswordReset,
  type PasswordResetLink,
  passwordReset,
  resetPassword,
} from '../../operations/members/password-resets.ts'
import { requestPasswordReset } from '../../operations/members/request-password-reset.ts'
import {
  changePassword,
  type Session,
  sessions,
  signOutEverywhere,
  signOutSession,
} from '../../operations/members/sessions.ts'
import { hasOwner, type SignedIn, setOwner, signIn, signOut } from '../../operations/members/sign-in.ts'
import type { Invitation, Member } from '../../store/members/members.ts'
import type { Builder } from '../types/builder.ts'
import { isoTime } from '../types/time.ts'
import { type DashboardContext, installationCall } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'
import type { DashboardTypes } from './types.ts'

const EMAILED =
  'Whether the link was sent by email; false if that failed, null if the service does not send email.'

export function defineMembers(builder: Builder<DashboardContext>, types: DashboardTypes): void {
  const { member, role } = types
  const invitationType = builder.objectRef<Invitation>('Invitation').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      email: t.exposeString('email'),
      role: t.expose('role', { type: role }),
      invitedBy: t.exposeString('invitedBy'),
      createdAt: t.string({ resolve: (i) => isoTime(i.createdAt) }),
      expiresAt: t.string({ resolve: (i) => isoTime(i.expiresAt) }),
    }),
  })
  const newInvitation = builder.objectRef<NewInvitation>('NewInvitation').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      email: t.exposeString('email'),
      role: t.expose('role', { type: role }),
      expiresAt: t.string({ resolve: (i) => isoTime(i.expiresAt) }),
      url: t.string({
        description: 'Link to send to the member. It cannot be retrieved again.',
        resolve: ({ token }, _args, { publicUrl }) => `${publicUrl}/invite#token=${token}`,
      }),
      emailed: t.exposeBoolean('emailed', { nullable: true, description: EMAILED }),
    }),
  })
  const offer = builder.objectRef<Invitation>('InvitationOffer').implement({
    description: 'Details of an invitation link.',
    fields: (t) => ({ email: t.exposeString('email'), role: t.expose('role', { type: role }) }),
  })
  const resetLink = builder
    .objectRef<PasswordResetLink & { emailed: boolean | null }>('NewPasswordReset')
    .implement({
      fields: (t) => ({
        email: t.exposeString('email'),
        expiresAt: t.string({ resolve: (r) => isoTime(r.expiresAt) }),
        url: t.string({
          description: 'Link to send to the member. It cannot be retrieved again.',
          resolve: ({ token }, _args, { publicUrl }) => `${publicUrl}/reset#token=${token}`,
        }),
        emailed: t.exposeBoolean('emailed', { nullable: true, description: EMAILED }),
      }),
    })
  const resetOffer = builder.objectRef<{ email: string }>('PasswordResetOffer').implement({
    description: 'Details of a password reset link.',
    fields: (t) => ({ email: t.exposeString('email') }),
  })
  const session = builder.objectRef<Session>('Session').implement({
    fields: (t) => ({
      id: t.string({ resolve: (s) => String(s.id) }),
      current: t.exposeBoolean('current'),
      createdAt: t.string({ resolve: (s) => isoTime(s.createdAt) }),
      lastSeenAt: t.string({ resolve: (s) => isoTime(s.lastSeenAt) }),
      expiresAt: t.string({ resolve: (s) => isoTime(s.expiresAt) }),
      userAgent: t.exposeString('userAgent', { nullable: true }),
    }),
  })

  queryFields(builder, (t, { token }) => ({
    me: t.field({
      type: member,
      nullable: true,
      description: 'The signed-in member; null if nobody is signed in.',
      resolve: (_, _args, { member }) => member,
    }),
    hasOwner: t.boolean({
      description: 'Whether the first owner has been created.',
      resolve: (_, _args, { service }) => hasOwner(service),
    }),
    sendsEmail: t.boolean({
      description: 'Whether the service sends invitations and password resets by email.',
      resolve: (_, _args, { service }) => service.mail !== null,
    }),
    permissions: t.stringList({
      description: 'Mutations allowed by the role of the signed-in member.',
      resolve: (_, _args, context) => permissions(installationCall(context).actor.member),
    }),
    members: t.field({ type: [member], resolve: (_, _args, context) => members(installationCall(context)) }),
    invitations: t.field({
      type: [invitationType],
      resolve: (_, _args, context) => invitations(installationCall(context)),
    }),
    invitation: t.field({
      type: offer,
      description: 'Details of an invitation link, by its token.',
      args: { token },
      resolve: (_, { token }, { service }) => invitation(service, token),
    }),
    passwordReset: t.field({
      type: resetOffer,
      description: 'Details of a password reset link, by its token.',
      args: { token },
      resolve: (_, { token }, { service }) => passwordReset(service, token),
    }),
    sessions: t.field({
      type: [session],
      description: 'Sessions of the signed-in member.',
      resolve: (_, _args, context) => sessions(installationCall(context), context.session),
    }),
  }))

  mutationFields(builder, (t, { id, token, password, email }) => {
    const memberId = t.arg.string({ required: true })
    return {
      signIn: t.field({
        type: member,
        args: { email, password },
        resolve: async (_, { email, password }, context) =>
          enter(context, await signIn(context.service, context, email, password)),
      }),
      setOwner: t.field({
        type: member,
        description: 'Creates the first owner, with the token of the link printed at the first start.',
        args: { token, email, password },
        resolve: async (_, { token, email, password }, context) =>
          enter(context, await setOwner(context.service, context, token, email, password)),
      }),
      acceptInvitation: t.field({
        type: member,
        args: { token, password },
        resolve: async (_, { token, password }, context) =>
          enter(context, await acceptInvitation(context.service, context, token, password)),
      }),
      resetPassword: t.field({
        type: member,
        description:
          'Sets a new password with the single-use token of a reset link. Ends all sessions of the member.',
        args: { token, password },
        resolve: async (_, { token, password }, context) =>
          enter(context, await resetPassword(context.service, context, token, password)),
      }),
      requestPasswordReset: t.boolean({
        description:
          'Sends a password reset link to a member. The answer is the same for addresses without an account.',
        args: { email },
        resolve: (_, { email }, context) => requestPasswordReset(context.service, context, email),
      }),
      signOut: t.boolean({ resolve: (_, _args, context) => leave(context) }),
      signOutSession: t.boolean({
        args: { id },
        resolve: (_, { id }, context) => signOutSession(installationCall(context), id),
      }),
      signOutEverywhere: t.boolean({
        description: 'Ends all sessions of the signed-in member, including the current one.',
        resolve: async (_, _args, context) => {
          context.setSession(null)
          return signOutEverywhere(installationCall(context))
        },
      }),
      changePassword: t.boolean({
        description: 'Changes the password of the signed-in member and ends all their other sessions.',
        args: { current: t.arg.string({ required: true }), password },
        resolve: async (_, { current, password }, context) => {
          await changePassword(installationCall(context), context.session, current, password)
          return true
        },
      }),
      inviteMember: t.field({
        type: newInvitation,
        args: { email, role: t.arg({ type: role, required: true }) },
        resolve: (_, { email, role }, context) => inviteMember(installationCall(context), email, role),
      }),
      revokeInvitation: t.boolean({
        args: { id },
        resolve: (_, { id }, context) => revokeInvitation(installationCall(context), id),
      }),
      changeRole: t.field({
        type: member,
        args: { memberId, role: t.arg({ type: role, required: true }) },
        resolve: (_, { memberId, role }, context) => changeRole(installationCall(context), memberId, role),
      }),
      removeMember: t.boolean({
        description: 'Removes a member and ends their sessions. The last owner cannot be removed.',
        args: { memberId },
        resolve: (_, { memberId }, context) => removeMember(installationCall(context), memberId),
      }),
      createPasswordReset: t.field({
        type: resetLink,
        description:
          'Creates a single-use link with which a member can set a new password. The link expires after a day and replaces earlier ones.',
        args: { memberId },
        resolve: (_, { memberId }, context) => createPasswordReset(installationCall(context), memberId),
      }),
    }
  })
}

function enter(context: DashboardContext, { member, session, device }: SignedIn): Member {
  context.setSession(session)
  context.setDevice(member.id, device)
  return member
}

async function leave(context: DashboardContext): Promise<boolean> {
  if (context.session !== null) await signOut(context.service, context.session)
  context.setSession(null)
  return true
}
