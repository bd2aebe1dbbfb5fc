import type { Logger } from 'pino'
import type { BillingSettings } from '../../billing/settings.ts'
import type { Monotonic } from '../../domain/clocks.ts'
import type { PasswordCost } from '../../domain/password.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { RecordedUsage } from '../../domain/usage.ts'
import type { AppCache } from '../../store/apps/app-cache.ts'
import type { TokenKeys } from '../../store/apps/token-keyring.ts'
import type { PriceRow } from '../../store/billing/prices.ts'
import type { ProviderSubscriptionRow } from '../../store/billing/provider-subscriptions.ts'
import type { Pool } from '../../store/connection/database.ts'
import type { HomeDb } from '../../store/connection/places.ts'
import type { Replica } from '../../store/connection/replica.ts'
import type { Keyring } from '../../store/secrets/keyring.ts'
import type { EndedPlan } from '../../store/subscriptions/replaced.ts'
import type { Calls } from '../../store/usage/activity.ts'
import type { Denial } from '../../store/usage/denials.ts'
import type { UsageStore } from '../../store/usage/usage-store.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { OngoingWork } from '../upkeep/ongoing-work.ts'
import type { Outages } from '../upkeep/outages.ts'
import type { WebhookSettings } from '../webhooks/settings.ts'
import type { FeatureTally, HotPaths } from './hot-paths.ts'

export interface MailMessage {
  to: string
  subject: string
  text: string
}

/** Sends e-mails. A failure or a timeout is thrown. */
export interface Mail {
  send(message: MailMessage): Promise<void>
}

/** Shared by all operations and created once at the start. It knows no operation. */
export interface Service {
  pool: Pool
  /** for index lookups with cached plans */
  lookups: Pool
  /** for long statements over all users of an app */
  longQueries: Pool
  /** for writes of a read operation: the primary, even if the pools above lead to a replica */
  primary: Pool
  /** for lists and figures; null: there is none */
  replica: Replica | null
  apps: AppCache
  usage: HotPaths
  /** statements of the hot paths, to record usage in a transaction */
  usageStore: UsageStore
  /** The known state of provider subscriptions. Concurrent reads share a statement. */
  billings: { read(ref: ProviderRef): Promise<ProviderSubscriptionRow | null> }
  /** Prices by their provider's id, also read together. */
  prices: { read(ref: ProviderRef): Promise<PriceRow | null> }
  /** Whether plans that ended were replaced by another one, also read together. */
  replaced: { read(ended: EndedPlan): Promise<boolean> }
  billing: BillingSettings
  webhooks: WebhookSettings
  /** real time, for everything that does not follow an app's clock: tokens, sessions */
  clock: () => number
  monotonic: Monotonic
  keyring: Keyring
  tokenKeys: TokenKeys
  passwordCost: PasswordCost
  /** null: no e-mails are sent */
  mail: Mail | null
  /** how long a caller waits for an answer */
  requestTimeoutMs: number
  metrics: Metrics
  /** call counts of the hot paths, for the home page and the feature pages */
  activity: {
    pending(appId: string): Calls
    count(kind: keyof Calls, items: readonly { caller: { appId: string } }[]): void
    recorded(appId: string, event: { userId: string; featureId: string }, answer?: RecordedUsage): void
    /** Notes who was denied what, for the page of the feature. */
    denied(denial: Omit<Denial, 'times'>): void
    features: FeatureTally
    flush(db: HomeDb): Promise<void>
  }
  ongoing: OngoingWork
  outages: Outages
  log: Logger
}
