import type { Logger } from 'pino'
import type { BillingSettings } from '../../billing/settings.ts'
import type { Monotonic } from '../../domain/clocks.ts'
import type { PasswordCost } from '../../domain/password.ts'
import type { ProviderRef } from '../../domain/provider-ref.ts'
import type { Calls } from '../../store/activity.ts'
import type { AppCache } from '../../store/app-cache.ts'
import type { Db, Pool } from '../../store/database.ts'
import type { Keyring } from '../../store/keyring.ts'
import type { ProviderSubscriptionRow } from '../../store/provider-subscriptions.ts'
import type { TokenKeys } from '../../store/token-keyring.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { OngoingWork } from '../upkeep/ongoing-work.ts'
import type { Outages } from '../upkeep/outages.ts'
import type { HotPaths } from './hot-paths.ts'

/** What all operations share: made once, at the start. It knows no operation. */
export interface Service {
  pool: Pool
  /** for statements that walk indexes, whose plans are made once */
  lookups: Pool
  /** for what goes through all users of an app: its statements may take long */
  patient: Pool
  apps: AppCache
  usage: HotPaths
  /** What is known of the subscriptions at providers; those that are asked about at once share a statement. */
  billings: { read(ref: ProviderRef): Promise<ProviderSubscriptionRow | null> }
  billing: BillingSettings
  /** real time, for what is not an app's business: tokens, sessions */
  clock: () => number
  monotonic: Monotonic
  /** what secrets are sealed with */
  keyring: Keyring
  tokenKeys: TokenKeys
  /** of the hashes of members' passwords */
  passwordCost: PasswordCost
  /** how long a caller waits for an answer */
  requestTimeoutMs: number
  metrics: Metrics
  /** what the home page shows of the hot paths */
  activity: { pending(appId: string): Calls; flush(db: Db): Promise<void> }
  ongoing: OngoingWork
  outages: Outages
  log: Logger
}
