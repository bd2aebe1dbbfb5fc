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
  /** Made once for each user, outside of rendering: in a module, or kept in a state. */
  client: TollgateClient
  /** Everything that may ask. */
  children?: ReactNode
}

/** Lets everything below ask about the client's user. */
export function TollgateProvider({ client, children }: TollgateProviderProps): ReactNode {
  return createElement(Context.Provider, { value: client }, children)
}

/** The client that the provider was given, as for `refresh()` after something that counts. */
export function useTollgate(): TollgateClient {
  const client = useContext(Context)
  if (!client) throw new Error('Tollgate’s hooks need a <TollgateProvider client={…}> above them')
  return client
}

/** How things stand with a feature. */
export interface FeatureState {
  /** Null: not known yet, so that neither state may be shown. Where it cannot be known, see `error`, it is false. */
  access: boolean | null
  /** The whole answer; null where there is none. */
  check: CanUseFeatureData | null
  /** Why the service could not be asked the last time. The last answer holds through an outage. */
  error: CallError | null
}

/** Whether the user can use this much of the feature. `delta` is 1 unless given. */
export function useFeature(
  featureId: string,
  { delta = 1 }: { delta?: number | undefined } = {},
): FeatureState {
  const { data, error } = useKnown<CanUseFeatureData>(checkKey(featureId, delta))
  return { access: data ? data.access : error ? false : null, check: data ?? null, error }
}

/** How things stand with the usage of a feature. */
export interface UsageState {
  /** True: not known yet. */
  pending: boolean
  /** The current period; null where the feature is not counted for this user, and where it is not known. */
  usage: UsagePeriod | null
  /** What is left of the budget, at least 0; Infinity: unlimited; null where there is no `usage`. */
  remaining: number | null
  /** Why the service could not be asked the last time. The last answer holds through an outage. */
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
  /** How much the user means to use. @default 1 */
  delta?: number | undefined
  /** Shown to those who may not, and where it cannot be known. @default nothing */
  fallback?: ReactNode
  /** Shown until it is known. @default nothing */
  pending?: ReactNode
  /** Shown to those who can. */
  children?: ReactNode
}

/** Shows its children to a user who can use the feature. */
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
    // While a page that the server rendered wakes up, it has to show what the server did.
    () => client.initially<Data>(key),
  )
}
