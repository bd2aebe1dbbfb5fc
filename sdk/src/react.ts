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

/** Props of `TollgateProvider`. */
export interface TollgateProviderProps {
  /** Client, created once per user outside of rendering, in a module or in state. */
  client: TollgateClient
  /** Components that use the client. */
  children?: ReactNode
}

/** Provides the client to all components below it. */
export function TollgateProvider({ client, children }: TollgateProviderProps): ReactNode {
  return createElement(Context.Provider, { value: client }, children)
}

/** Returns the client of the provider, for example to call `refresh()` after usage. */
export function useTollgate(): TollgateClient {
  const client = useContext(Context)
  if (!client) throw new Error('Tollgate hooks must be used inside <TollgateProvider client={…}>')
  return client
}

/** State of a feature. */
export interface FeatureState {
  /** Whether the user has access; null while loading. False if the check failed, see `error`. */
  access: boolean | null
  /** Full result of the check; null if there is none. */
  check: CanUseFeatureData | null
  /** Error of the last request. The last result is kept during an outage. */
  error: CallError | null
}

/** Checks whether the user can use a feature. `delta` defaults to 1. */
export function useFeature(
  featureId: string,
  { delta = 1 }: { delta?: number | undefined } = {},
): FeatureState {
  const { data, error } = useKnown<CanUseFeatureData>(checkKey(featureId, delta))
  return { access: data ? data.access : error ? false : null, check: data ?? null, error }
}

/** Usage of a feature. */
export interface UsageState {
  /** Whether the usage is still loading. */
  pending: boolean
  /** Current period; null if the feature is not metered for this user, and while the usage is not known. */
  usage: UsagePeriod | null
  /** Remaining budget, at least 0. Infinity if unlimited; null without `usage`. */
  remaining: number | null
  /** Error of the last request. The last result is kept during an outage. */
  error: CallError | null
}

/** Returns the usage of a feature in the current period. */
export function useUsage(featureId: string): UsageState {
  const { data, error } = useKnown<UsagePeriod | null>(usageKey(featureId))
  return { pending: data === undefined && !error, usage: data ?? null, remaining: remainingOf(data), error }
}

function remainingOf(usage: UsagePeriod | null | undefined): number | null {
  if (!usage) return null
  const { budget, used } = usage.consumption
  return budget === null ? Number.POSITIVE_INFINITY : Math.max(0, budget - used)
}

/** Props of `Gate`. */
export interface GateProps {
  /** ID of the feature. */
  feature: string
  /** Number of units to check for. @default 1 */
  delta?: number | undefined
  /** Rendered for users without access, and if the check failed. @default nothing */
  fallback?: ReactNode
  /** Rendered while loading. @default nothing */
  pending?: ReactNode
  /** Rendered for users with access. */
  children?: ReactNode
}

/** Renders its children if the user has access to the feature. */
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
