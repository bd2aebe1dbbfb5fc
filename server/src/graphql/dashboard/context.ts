import type { Call, InstallationCall, MemberActor } from '../../operations/call/call.ts'
import { notSignedIn } from '../../operations/call/roles.ts'
import type { Service } from '../../operations/call/service.ts'
import type { Browser } from '../../operations/members/sign-in.ts'
import type { Member } from '../../store/members/members.ts'

/** A request from a browser, signed in or not. */
export interface DashboardContext extends Browser {
  service: Service
  member: Member | null
  /** the base of links */
  publicUrl: string
  /** Sets the session cookie; null removes it. */
  setSession(session: string | null): void
  /** Sets the cookie that marks this browser as known to the account. */
  setDevice(memberId: number, token: string): void
  /** null: a query; the guard sets it before any resolver runs */
  mutation?: MemberActor['mutation']
}

/** A member's call on an app. */
export function appCall(
  context: DashboardContext,
  appId: string,
  expectedVersion?: string | null,
): Call<MemberActor> {
  return { ...installationCall(context), appId, idempotency: null, expectedVersion }
}

/** A member's call outside any app. */
export function installationCall({
  service,
  member,
  deadline,
  mutation,
}: DashboardContext): InstallationCall {
  if (!member) throw notSignedIn()
  if (mutation === undefined) throw new Error('an operation of the dashboard bypassed its guard')
  return { service, actor: { kind: 'member', member, mutation }, appId: null, deadline }
}
