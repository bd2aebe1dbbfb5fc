import type { Moment } from '../../store/apps/app-cache.ts'
import type { Member } from '../../store/members/members.ts'
import type { Args } from '../registry/entry.ts'
import type { MutationName } from '../registry/registry.ts'
import type { WaitingCaller } from './hot-paths.ts'
import type { Service } from './service.ts'

/** The mutation that a call runs. */
export interface RunningMutation {
  name: MutationName
  args: Args
}

/** An application's backend, by one of its API keys (the hash in hex). */
export interface AppActor {
  kind: 'app'
  keyHash: string
  mutation?: RunningMutation | undefined
}

/** One of the application's users, by a token; `tokenKey` signed it. */
export interface UserActor {
  kind: 'user'
  uid: number
  /** when the request arrived; it may have changed since */
  userId: string
  tokenKey: string
}

/** A member who has signed in to the dashboard. */
export interface MemberActor {
  kind: 'member'
  member: Member
  /** null: the member only reads */
  mutation: RunningMutation | null
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
