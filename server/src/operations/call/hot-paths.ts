import type { Standing } from '../../domain/standing.ts'
import type { RecordedUsage, UsageCall } from '../../domain/usage.ts'
import type { Caller } from '../../store/app-cache.ts'
import type { KeyName } from '../../store/idempotency.ts'
import type { Deadline } from './deadline.ts'

/** The two hot paths. Calls that arrive at the same time share their round trips. */
export interface HotPaths {
  /** How a user stands towards a feature. */
  read(question: StandingQuestion): Promise<FoundStanding>
  record(usage: PendingUsage): Promise<Recorded>
  /** How long the oldest call may have been waiting, in seconds. */
  oldestSeconds(): number
}

/** Who asks, and until when they wait; null: nobody does. */
export interface WaitingCaller extends Caller {
  deadline: Deadline | null
}

export interface StandingQuestion {
  caller: WaitingCaller
  userId: string
  featureId: string
}

/** How a user stands towards a feature at one moment, and what the counter said then. */
export interface FoundStanding {
  featureId: string
  standing: Standing
  used: number
  now: number
  uid: number | null
  /** where the counter's row is; null: nothing was counted in this period yet, so there is none */
  place: string | null
}

export interface UsageEvent extends UsageCall {
  userId: string
  featureId: string
}

export interface PendingUsage {
  caller: WaitingCaller
  event: UsageEvent
  key: KeptUnder | null
}

/** `claimed`: the key belongs to this very request, another mutation of which has answered already. */
export type Recorded = RecordedUsage | 'claimed'

/** The key under which an answer is kept, and the request and field that it stands for. */
export interface KeptUnder extends KeyName {
  request: Buffer
  field: string
}
