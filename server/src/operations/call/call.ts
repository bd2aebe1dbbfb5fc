import type { Moment } from '../../store/app-cache.ts'
import type { Member } from '../../store/members.ts'
import type { WaitingCaller } from './hot-paths.ts'
import type { Args } from './member-operations.ts'
import type { Service } from './service.ts'

/** An application's backend, by one of its API keys (the hash in hex). */
export interface AppActor {
  kind: 'app'
  keyHash: string
}

/** One of the application's users, by a token; `tokenKey` signed it. */
export interface UserActor {
  kind: 'user'
  uid: number
  tokenKey: string
}

/** A person who has signed in to the dashboard, and what they do there. */
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
  /** set when the request carries an Idempotency-Key and this is one of its mutations */
  idempotency: { key: string; request: Buffer; field: string } | null
  /** what the caller takes the thing that is changed to be: see version.ts */
  expectedVersion?: string | null | undefined
}

/** One operation on what belongs to no app: members, their sessions, the list of apps. */
export interface InstallationCall extends Pick<Call<MemberActor>, 'service' | 'actor' | 'deadline'> {
  appId: null
}

/** The app as it is now, for an operation that only reads. */
export function momentOf(call: Call): Promise<Moment> {
  return call.service.apps.at(call.service.pool, call)
}
