'use client'
import {
  createContext,
  createElement,
  type ReactNode,
  useCallback,
  useContext,
  useSyncExternalStore,
} from 'react'
import type { Known } from './browser/answers.ts'
import { checkKey, usageKey } from './browser/questions.ts'
import type { TollgateClient } from './browser.ts'
import type { CallError } from './errors.ts'
import type { CanUseFeatureData, UsagePeriod } from './types.ts'

const Context = createContext<TollgateClient | null>(null)

/** The props of `TollgateProvider`. */
export interface TollgateProviderProps {
  /** Created once per user, outside rendering: in a module, or kept in state. */
  client: TollgateClient
  /** The components that may use it. */
  children?: ReactNode
}

/** Provides the client to everything below. */
export function TollgateProvider({ client, children }: TollgateProviderProps): ReactNode {
  return createElement(Context.Provider, { value: client }, children)
}

/** The provider's client, for example to `refresh()` after usage. */
export function useTollgate(): TollgateClient {
  const client = useContext(Context)
  if (!client) throw new Error('Tollgate’s hooks need a <TollgateProvider client={…}> above them')
  return client
}

/** The state of a feature. */
export interface FeatureState {
  /** Null: not known yet, so show neither state. False if it cannot be known: see `error`. */
  access: boolean | null
  /** The whole answer; null where there is none. */
  check: CanUseFeatureData | null
  /** Why the last request failed. The last answer is kept during an outage. */
  error: CallError | null
}

/** Whether the user can use this much of the feature. `delta` is 1 by default. */
export function useFeature(
  featureId: string,
  { delta = 1 }: { delta?: number | undefined } = {},
): FeatureState {
  const { data, error } = useKnown<CanUseFeatureData>(checkKey(featureId, delta))
  return { access: data ? data.access : error ? false : null, check: data ?? null, error }
}

/** The usage of a feature. */
export interface UsageState {
  /** True: not known yet. */
  pending: boolean
  /** The current period; null where the feature is not counted for this user, and where it is not known. */
  usage: UsagePeriod | null
  /** The remaining budget, at least 0; Infinity: unlimited; null where there is no `usage`. */
  remaining: number | null
  /** Why the last request failed. The last answer is kept during an outage. */
  error: CallError | null
}

/** How much of the feature the user has used in the current period. */
export function useUsage(featureId: string): UsageState {
  const { data, error } = useKnown<UsagePeriod | null>(usageKey(featureId))
  return { pending: data === undefined && !error, usage: data ?? null, remaining: remainingOf(data), error }
}

function remainingOf(usage: UsagePeriod | null | undefined): number | null {
  if (!usage) return null
  const { budget, used } = usage.consumption
  return budget === null ? Number.POSITIVE_INFINITY : Math.max(0, budget - used)
}

/** The props of `Gate`. */
export interface GateProps {
  /** The feature's id. */
  feature: string
  /** How much the user wants to use. @default 1 */
  delta?: number | undefined
  /** Shown to users without access, and if access cannot be known. @default nothing */
  fallback?: ReactNode
  /** Shown until it is known. @default nothing */
  pending?: ReactNode
  /** Shown to users with access. */
  children?: ReactNode
}

/** Shows its children to a user with access to the feature. */
export function Gate({ feature, delta, fallback = null, pending = null, children }: GateProps): ReactNode {
  const { access } = useFeature(feature, { delta })
  if (access === null) return pending
  return access ? children : fallback
}

function useKnown<Data>(key: string): Known<Data> {
  const client = useTollgate()
  const watch = useCallback((onChange: () => void) => client.watch(key, onChange), [client, key])
  return useSyncExternalStore(
    watch,
    () => client.known<Data>(key),
    // During hydration it must show what the server rendered.
    () => client.initially<Data>(key),
  )
}
