import type { Logger } from 'pino'
import type { Monotonic } from '../../domain/clocks.ts'
import { TollgateError } from '../../domain/errors.ts'
import type { Json } from '../../domain/metadata.ts'
import type { AppCache, Moment } from '../../store/app-cache.ts'
import { bumpVersion, lockApp } from '../../store/apps.ts'
import { type LoadedApp, loadApp } from '../../store/catalogue.ts'
import { type Pool, type Tx, transaction } from '../../store/database.ts'
import { claimKey, type KeyName, storeResults } from '../../store/idempotency.ts'
import type { Keyring } from '../../store/keyring.ts'
import type { TokenKeys } from '../apps/token-keys.ts'
import type { BillingSettings } from '../billing/provider-of.ts'
import type { PasswordCost } from '../members/password.ts'
import type { BillingReader } from '../subscriptions/subscription-billing.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { OngoingWork } from '../upkeep/ongoing-work.ts'
import type { Outages } from '../upkeep/outages.ts'
import type { Activity } from '../usage/activity.ts'
import type { StandingReader, UsageRecorder } from '../usage/hot-paths.ts'
import type { WaitingCaller } from './deadline.ts'

/** What all operations share: made once, at the start. */
export interface Service {
  pool: Pool
  /** for statements that walk indexes, whose plans are made once */
  lookups: Pool
  /** for what goes through all users of an app: its statements may take long */
  patient: Pool
  apps: AppCache
  standings: StandingReader
  usage: UsageRecorder
  billings: BillingReader
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
  activity: Activity
  ongoing: OngoingWork
  outages: Outages
  log: Logger
}

/** One operation called by an app. */
export interface Call extends WaitingCaller {
  service: Service
  /** set when the request carries an Idempotency-Key and this is one of its mutations */
  idempotency: { key: string; request: Buffer; field: string } | null
  /** the transaction that its effect is to be part of; absent: one of its own */
  transact?: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
}

/** The app as it is now, for an operation that only reads. */
export function momentOf(call: Call): Promise<Moment> {
  return call.service.apps.at(call.service.pool, call)
}

/**
 * Runs a mutation in one transaction, and at most once for each Idempotency-Key. The effect asks for the moment
 * when it has the locks it needs; one that does not ask gets its key checked all the same, whatever it comes to.
 */
export async function mutate<T>(
  call: Call,
  effect: (tx: Tx, moment: () => Promise<Moment>) => Promise<T>,
): Promise<T> {
  const { service, idempotency } = call
  const transact = call.transact ?? ((work) => transaction(service.pool, work, call.deadline))
  let checked = false
  try {
    const outcome = await transact(async (tx): Promise<Outcome<T>> => {
      const moment = async () => {
        const now = await service.apps.at(tx, call)
        checked = true
        return now
      }
      const made = idempotency
        ? await once(tx, { ...idempotency, appId: call.appId, scope: 'request' }, () => effect(tx, moment))
        : { value: await effect(tx, moment) }
      if (!checked) await moment()
      return made
    })
    return resultOf(outcome)
  } catch (error) {
    if (!checked && call.keyHash !== null && error instanceof TollgateError) await momentOf(call)
    throw error
  }
}

/** The key under which an answer is kept, and the request and field that it stands for. */
export interface KeptUnder extends KeyName {
  request: Buffer
  field: string
}

/** Does it, unless this key has done it: then what it came to is told again. */
async function once<T>(tx: Tx, key: KeptUnder, effect: () => Promise<T>): Promise<Outcome<T>> {
  const { request, field } = key
  const claim = await claimKey(tx, key, request)
  if (!claim.request.equals(request)) throw idempotencyKeyReused()
  if (Object.hasOwn(claim.results, field)) return claim.results[field] as Outcome<T>
  const made = await settle(tx, effect)
  await storeResults(tx, key, { ...claim.results, [field]: made as Json })
  return made
}

/** A mutation of the catalogue: one at a time for each app, and every process is told. */
export function mutateCatalogue<T>(
  call: Call,
  effect: (tx: Tx, before: LoadedApp, now: number) => Promise<void>,
  result: (after: LoadedApp) => T,
): Promise<T> {
  return mutate(call, (tx, moment) => {
    // Asked for before anything changes: what is read here stays in memory, whatever becomes of the transaction.
    const checked = async (tx: Tx, before: LoadedApp, now: number) => {
      await moment()
      await effect(tx, before, now)
    }
    return changeCatalogue(tx, call.appId, checked, result)
  })
}

export async function changeCatalogue<T>(
  tx: Tx,
  appId: string,
  effect: (tx: Tx, before: LoadedApp, now: number) => Promise<void>,
  result: (after: LoadedApp) => T,
): Promise<T> {
  const locked = await lockApp(tx, appId)
  const before = locked && (await loadApp(tx, appId))
  if (!before) throw new Error(`the app ${appId} vanished`)
  await effect(tx, before, locked.now)
  await bumpVersion(tx, appId)
  const after = await loadApp(tx, appId)
  if (!after) throw new Error(`the app ${appId} vanished`)
  return result(after)
}

export const idempotencyKeyReused = () =>
  new TollgateError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used for another request; use a new one',
  )

/** What a mutation came to, as it is stored: a refusal is an answer too. */
export type Outcome<T> = { value: T } | { error: Refusal }

type Refusal = Pick<TollgateError, 'code' | 'message' | 'type' | 'field'>

export function resultOf<T>(outcome: Outcome<T>): T {
  if (!('error' in outcome)) return outcome.value
  const { code, message, type, field } = outcome.error
  throw new TollgateError(code, message, type, field)
}

async function settle<T>(tx: Tx, effect: () => Promise<T>): Promise<Outcome<T>> {
  await tx.query('savepoint effect')
  try {
    const value = await effect()
    // An effect may settle others inside it: a savepoint left behind would hide the one around it.
    await tx.query('release savepoint effect')
    return { value }
  } catch (error) {
    // What will be fine a little later is not what the same key is to be answered then.
    if (!(error instanceof TollgateError) || error.retryAfter !== null) throw error
    await tx.query('rollback to savepoint effect; release savepoint effect')
    const { code, message, type, field } = error
    return { error: { code, message, type, field } }
  }
}
