import type { KeyHolder, Moment } from '../../store/apps/app-cache.ts'
import type { Member } from '../../store/members/members.ts'
import type { Args } from '../registry/entry.ts'
import type { MutationName } from '../registry/registry.ts'
import type { WaitingCaller } from './hot-paths.ts'
import type { Service } from './service.ts'

/** The mutation of a call. */
export interface RunningMutation {
  name: MutationName
  args: Args
}

/** An application's backend, authenticated by an API key. */
export interface AppActor extends KeyHolder {
  mutation?: RunningMutation | undefined
}

/** An end user, authenticated by a token signed with `tokenKey`. */
export interface UserActor {
  kind: 'user'
  uid: number
  /** when the request arrived; it may have changed since */
  userId: string
  tokenKey: string
}

/** A signed-in member of the dashboard. */
export interface MemberActor {
  kind: 'member'
  member: Member
  /** null: a query */
  mutation: RunningMutation | null
}

type Actor = AppActor | UserActor | MemberActor

/** An operation on an app. */
export interface Call<By extends Actor = Actor> extends WaitingCaller {
  service: Service
  actor: By
  /** set for a mutation of a request with an Idempotency-Key */
  idempotency: { key: string; request: Buffer; field: string } | null
  /** the version of the subject that the caller has seen; see version.ts */
  expectedVersion?: string | null | undefined
}

/** An operation outside any app: members, their sessions, the list of apps. */
export interface InstallationCall extends Pick<Call<MemberActor>, 'service' | 'actor' | 'deadline'> {
  appId: null
}

/** The app and time for an operation that only reads. */
export function momentOf(call: Call): Promise<Moment> {
  return call.service.apps.at(call.service.pool, call)
}
