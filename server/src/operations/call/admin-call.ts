import { foundApp } from '../apps/apps.ts'
import type { Call } from './call.ts'
import { changeApp, type MemberCall } from './member-call.ts'

/** An operation of the Admin API, called by a member: its effect and the audit log's entry are one. */
export function adminCall(call: MemberCall, appId: string): Call {
  return { ...callOf(call, appId), transact: (work) => changeApp(call, appId, work) }
}

/** The same for one that only reads. */
export async function adminReader(call: MemberCall, appId: string): Promise<Call> {
  await foundApp(call.service.pool, appId)
  return callOf(call, appId)
}

const callOf = ({ service, deadline }: MemberCall, appId: string): Call => ({
  service,
  deadline,
  appId,
  keyHash: null,
  idempotency: null,
})
