import type { Moment } from '../../store/apps/app-cache.ts'
import type { Member } from '../../store/members/members.ts'
import type { WaitingCaller } from './hot-paths.ts'
import type { Args } from './member-operations.ts'
import type { Service } from './service.ts'

/** An application's backend, by one of its API keys (the hash in hex). */
export interface AppActor {
  kind: 'app'
  keyHash: string
  /** the mutation that they run, if the audit log has an entry for it */
  operation?: MemberActor['operation'] | undefined
}

/** One of the application's users, by a token; `tokenKey` signed it. */
export interface UserActor {
  kind: 'user'
  uid: number
  /** when the request arrived; it may have changed since */
  userId: string
  tokenKey: string
}

/** A member who has signed in to the dashboard, and the operation they run. */
export interface MemberActor {
  kind: 'member'
  member: Member
  operation: { name: string; args: Args }
}

type Actor = AppActor | UserActor | MemberActor

/** One operation on an app. */
export interface Call<By extends Actor = Actor> extends WaitingCaller {
  service: Service
  actor: By
  /** set for a mutation of a request with an Idempotency-Key */
  idempotency: { key: string; request: Buffer; field: string } | null
  /** the version of the subject that the caller has seen: see version.ts */
  expectedVersion?: string | null | undefined
}

/** One operation outside any app: members, their sessions, the list of apps. */
export interface InstallationCall extends Pick<Call<MemberActor>, 'service' | 'actor' | 'deadline'> {
  appId: null
}

/** The app as it is now, for an operation that only reads. */
export function momentOf(call: Call): Promise<Moment> {
  return call.service.apps.at(call.service.pool, call)
}
