import type { Logger } from 'pino'
import type { BillingSettings } from '../../billing/settings.ts'
import type { Monotonic } from '../../domain/clocks.ts'
import type { PasswordCost } from '../../domain/password.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { RecordedUsage } from '../../domain/usage.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { TokenKeys } from '../../store/apps/token-keyring.ts'
import type { ProviderSubscriptionRow } from '../../store/billing/provider-subscriptions.ts'
import type { Pool } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { Replica } from '../../store/connection/replica.ts'
import type { Keyring } from '../../store/secrets/keyring.ts'
import type { Calls } from '../../store/usage/activity.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { OngoingWork } from '../upkeep/ongoing-work.ts'
import type { Outages } from '../upkeep/outages.ts'
import type { FeatureTally, HotPaths } from './hot-paths.ts'

/** What all operations share, created once at the start. It knows no operation. */
export interface Service {
  pool: Pool
  /** for index lookups, whose plans are kept */
  lookups: Pool
  /** for long statements over all users of an app */
  patient: Pool
  /** for what a read keeps: the primary, also where the pools above lead to a replica */
  primary: Pool
  /** for lists and figures; null: there is none */
  replica: Replica | null
  apps: AppCache
  usage: HotPaths
  /** the statements of the hot paths, for what records usage in a transaction */
  usageStore: UsageStore
  /** The known state of provider subscriptions; those requested together share a statement. */
  billings: { read(ref: ProviderRef): Promise<ProviderSubscriptionRow | null> }
  billing: BillingSettings
  /** real time, for what does not follow an app's clock: tokens, sessions */
  clock: () => number
  monotonic: Monotonic
  /** seals secrets */
  keyring: Keyring
  tokenKeys: TokenKeys
  /** of members' password hashes */
  passwordCost: PasswordCost
  /** how long a caller waits for an answer */
  requestTimeoutMs: number
  metrics: Metrics
  /** counts of the hot paths, for the home page and the features' pages */
  activity: {
    pending(appId: string): Calls
    count(kind: keyof Calls, items: readonly { caller: { appId: string } }[]): void
    recorded(appId: string, event: { userId: string; featureId: string }, answer?: RecordedUsage): void
    features: FeatureTally
    flush(db: HomeDb): Promise<void>
  }
  ongoing: OngoingWork
  outages: Outages
  log: Logger
}
