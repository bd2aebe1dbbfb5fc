import type { CataloguedFeature } from '../../domain/catalogue.ts'
import { badUserInput, quote, type TollgateError } from '../../domain/errors.ts'
import type { ResetPeriod } from '../../domain/period.ts'
import { NO_SPENDING, type Purse, purseOf, type Spending, spendable } from '../../domain/purse.ts'
import type { Burn } from '../../domain/reservation-calls.ts'
import type { Part } from '../../domain/split.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import { bumpVersion, lockApp } from '../../store/apps/apps.ts'
import { setSpends } from '../../store/catalogue/features.ts'
import { TryAgain, type Tx } from '../../store/connection/database.ts'
import type { UserTx } from '../../store/connection/places.ts'
import { heldCredits } from '../../store/credits/credits.ts'
import { enrolSpender, lockSpender, storeOwed } from '../../store/credits/spenders.ts'
import type { LedgerKey, ReservationWrite } from '../../store/usage/spending-move.ts'
import { holdCounters, usedIn } from '../../store/usage/usage.ts'
import { findUserByUid, type UserRow } from '../../store/users/users.ts'
import type { Call } from '../call/call.ts'
import type { EntitlementState, WaitingCaller } from '../call/hot-paths.ts'
import { mutate } from '../call/mutate.ts'
import { requireFeature, withLockedUid, withLockedUser } from '../call/require.ts'
import type { Service } from '../call/service.ts'
import { poolFrom } from '../usage/entitlement-state.ts'
import { readEntitlements } from '../usage/read-entitlements.ts'
import { isOvertaken } from '../usage/record-failures.ts'
import {
  addBurn,
  addCounter,
  type CounterRow,
  changesNothing,
  emptyMove,
  planKey,
  poolChange,
} from '../usage/spend.ts'
import { owedBefore } from './owed-before.ts'

/** A call of an application or a member, or the service itself. */
type SpenderCall = WaitingCaller & Pick<Call, 'service'>

/** A user whose credits, reservations and caps of one feature nobody else changes until the transaction ends. */
export interface Spender {
  call: SpenderCall
  tx: UserTx
  user: UserRow
  feature: CataloguedFeature
  now: number
  spending: Spending
  /** of the spender's row */
  version: number
  state: EntitlementState
}

/**
 * A mutation of the credits, reservations or caps of a user and feature. The first one enrols the user. `locksApp`: it
 * changes the app too.
 */
export function mutateSpender<T>(
  call: Call,
  userId: string,
  featureId: string,
  effect: (spender: Spender) => Promise<T>,
  { entities = [], locksApp = false }: { entities?: readonly string[]; locksApp?: boolean } = {},
): Promise<T> {
  const { appId } = call
  return mutate(call, async (tx, moment) => {
    if (locksApp) await lockApp(tx, appId)
    else await lockToEnrol(call, tx, featureId)
    return withLockedUser(tx, appId, userId, async (users, user) =>
      effect(await enrolled(await openSpender(call, users, user, featureId, moment, { entities }))),
    )
  })
}

/** To lock an app and a user, the app is locked first. It changes with the first spender of a feature. */
async function lockToEnrol({ service, appId }: SpenderCall, tx: Tx, featureId: string): Promise<void> {
  const known = service.apps.known(appId)?.catalogue.features.get(featureId)
  if (!known?.spends) await lockApp(tx, appId)
}

/** The same by the service itself, for a provider's report; null: the user was deleted. */
export async function withSpender<T>(
  service: Service,
  tx: Tx,
  { appId, uid, featureId }: { appId: string; uid: number; featureId: string },
  effect: (spender: Spender) => Promise<T>,
): Promise<T | null> {
  const call: SpenderCall = { service, appId, actor: { kind: 'service' }, deadline: null }
  await lockToEnrol(call, tx, featureId)
  return withLockedUid(tx, appId, uid, async (users) => {
    const user = await findUserByUid(users, appId, uid)
    if (!user) throw new Error('a locked user no longer exists')
    const moment = () => service.apps.at(users, call)
    return effect(await enrolled(await openSpender(call, users, user, featureId, moment)))
  })
}

/** The same; null, and nobody is enrolled, if the user has none of these. */
export function mutateEnrolled<T>(
  call: Call,
  userId: string,
  featureId: string,
  effect: (spender: Spender) => Promise<T | null>,
): Promise<T | null> {
  return mutate(call, (tx, moment) =>
    withLockedUser(tx, call.appId, userId, async (users, user) => {
      const { spender, version: ofAll } = await openSpender(call, users, user, featureId, moment)
      // Enrolled for the feature, perhaps not yet for its pool.
      const version = ofAll ?? spender.state.spending?.version ?? null
      return version === null ? null : effect({ ...spender, version })
    }),
  )
}

/** The same for something that belongs to a user and feature. */
export function mutateOwned<Row extends { userUid: number; featureId: string }, T>(
  call: Call,
  find: (tx: Pick<UserTx, 'query' | 'places'>) => Promise<Row | null>,
  notFound: () => TollgateError,
  effect: (spender: Spender, row: Row) => Promise<T>,
  reachOf: (row: Row) => Reach = () => ({}),
): Promise<T> {
  const { appId } = call
  return mutate(call, async (tx, moment) => {
    const found = await find(tx)
    const owner = found && (await findUserByUid(tx, appId, found.userUid))
    if (!owner) throw notFound()
    return withLockedUser(tx, appId, owner.id, async (users, user) => {
      if (user.uid !== owner.uid) throw new TryAgain()
      const reach = reachOf(found)
      const spender = await enrolled(await openSpender(call, users, user, found.featureId, moment, reach))
      const row = await find(users)
      if (!row) throw notFound()
      if (reachOf(row).drawnFrom !== reach.drawnFrom) throw new TryAgain()
      return effect(spender, row)
    })
  })
}

/** Data that a decision needs in addition to the feature. */
interface Reach {
  /** the pool that it draws on; null: none, or that of the feature */
  drawnFrom?: string | null
  /** whose caps count it; absent: none */
  entities?: readonly string[]
}

interface OpenSpender {
  spender: Omit<Spender, 'version'>
  /** null: not enrolled for all of these features */
  version: number | null
  featureIds: readonly string[]
}

/** Locks the spender's row, if there is one, and reads what a decision needs. */
export async function openSpender(
  call: SpenderCall,
  tx: UserTx,
  user: UserRow,
  featureId: string,
  moment: () => Promise<Moment>,
  { drawnFrom = null, entities = [] }: Reach = {},
): Promise<OpenSpender> {
  const { appId, service } = call
  const { app } = await moment()
  const feature = requireFeature(app.catalogue, featureId)
  if (feature.type === 'BINARY') {
    throw badUserInput(
      `Feature ${quote(featureId)} is BINARY and cannot have credits, reservations or caps`,
      'featureId',
    )
  }
  if (service.usageStore.queueOf(app.layout, appId, user.id) !== null) {
    throw badUserInput('Users on another database server cannot have credits, reservations or caps', 'userId')
  }
  const pool = drawnFrom ?? feature.pool?.featureId
  const featureIds = pool === undefined ? [featureId] : [featureId, pool].sort()
  const locked = feature.spends ? await lockSpender(tx, appId, user.uid, featureIds) : null
  const asked = { caller: call, userId: user.id, featureId, entities }
  const question = { ...asked, ...(drawnFrom !== null && { drawnFrom }) }
  const [found] = await readEntitlements(service.usageStore, service.apps, tx, [question], {
    inTransaction: true,
  })
  if (!found || 'error' in found) throw found?.error ?? new Error('a question was not answered')
  const state = found.value
  const { now } = state
  const spender = {
    call,
    tx,
    user,
    feature,
    now,
    state,
    spending: state.spending ?? { ...NO_SPENDING, entities },
  }
  return { spender, version: locked, featureIds }
}

async function enrolled({ spender, version: locked, featureIds }: OpenSpender): Promise<Spender> {
  if (locked !== null) return { ...spender, version: locked }
  const { call, tx, user, feature, state } = spender
  const { appId } = call
  const featureId = feature.id
  if (!feature.spends) {
    await setSpends(tx, appId, [featureId])
    await bumpVersion(tx, appId)
  }
  const version = await enrolSpender(tx, appId, user.uid, featureIds)
  // Calls that were decided before do not find the counters.
  const entitlements = new Map([[featureId, state.entitlement]])
  if (state.pool) entitlements.set(state.pool.featureId, state.pool.entitlement)
  for (const id of featureIds) {
    const entitlement = entitlements.get(id)
    if (entitlement?.kind !== 'metered') continue
    const { allowance, period } = entitlement
    const { resetPeriod } = allowance
    const counter = { uid: user.uid, featureId: id, resetPeriod, periodStart: period.start }
    await holdCounters(tx, appId, [counter])
  }
  const owed = await owedBefore(tx, { appId, uid: user.uid, now: spender.now }, state)
  if (!owed) return { ...spender, version }
  await storeOwed(tx, appId, user.uid, featureId, owed)
  return { ...spender, version, spending: { ...spender.spending, owed } }
}

/** The sources of a spender as they are with this spending; null: the feature is not granted, and no credit can be used. */
export async function purseWith(spender: Spender, spending: Spending): Promise<Purse | null> {
  const { state, now } = spender
  const basis = spendable(state.entitlement, spending, now, state.pool?.open)
  return basis && purseIn(spender, basis, spending)
}

/** `drawn`: the spending on the pool, if it is not as it was read. */
export async function purseIn(
  spender: Spender,
  basis: Pick<Purse, 'allowance' | 'period'>,
  spending: Spending,
  drawn?: Spending,
): Promise<Purse> {
  const { state, feature, now } = spender
  const used = (await counterOf(spender, planKey(feature.id, basis))) ?? 0
  if (!state.pool) return purseOf(basis, used, spending, now)
  const { featureId, basis: ofPool } = state.pool
  const pool = { ...state.pool, used: (await counterOf(spender, planKey(featureId, ofPool))) ?? 0 }
  return purseOf(basis, used, spending, now, poolFrom(pool, drawn ?? pool.spending, now))
}

/** With the credits of these parts that have ended. */
export async function withCredits(
  { tx, call }: Spender,
  spending: Spending,
  parts: readonly Pick<Part, 'credit'>[],
): Promise<Spending> {
  const known = new Set(spending.credits.map(({ id }) => id))
  const ended = parts.flatMap(({ credit }) => (credit !== null && !known.has(credit) ? [credit] : []))
  if (ended.length === 0) return spending
  const more = await heldCredits(tx, call.appId, [...new Set(ended)])
  return { ...spending, credits: [...spending.credits, ...more] }
}

function counterKeyOf(featureId: string, period: string): LedgerKey {
  const [resetPeriod, start] = period.split(' ') as [ResetPeriod, string]
  return { featureId, resetPeriod, periodStart: Number(start) }
}

const counterOf = ({ tx, call, user }: Spender, key: LedgerKey): Promise<number | null> =>
  usedIn(tx, call.appId, user.uid, key)

/**
 * Writes what was taken, if anything, and what a reservation is afterwards. Raises the version of the spender's row in any
 * case.
 */
export async function writeBurn(
  spender: Spender,
  burn: Burn | null,
  reservation: ReservationWrite | null = null,
): Promise<void> {
  const { call, user, version, now, state, feature } = spender
  if (!state.holder) throw new Error('a spender is no user')
  const of = { appId: call.appId, userUid: user.uid, userId: user.id }
  const move = emptyMove({ ...of, version, at: now, basis: null, ref: state.holder.ref })
  if (reservation) move.reservations.push(reservation)
  if (burn) {
    for (const { period, amount, pool } of burn.earlier ?? []) {
      const key = counterKeyOf(pool?.featureId ?? feature.id, period ?? '')
      addCounter(move, key, { ref: null, used: await counterOf(spender, key) }, amount, 'ADD')
    }
    const rows = new Map<string, CounterRow>()
    const own = { featureId: feature.id, after: burn.after }
    const pool = poolChange(burn)
    for (const { featureId, after } of changesNothing(burn) ? [] : pool ? [own, pool] : [own])
      rows.set(featureId, { ref: null, used: await counterOf(spender, planKey(featureId, after)) })
    const rowOf = (id: string) => rows.get(id) ?? { ref: null, used: null }
    addBurn(call.service.apps, move, feature.id, state, burn, rowOf)
  }
  const made = await call.service.usageStore
    .spend(spender.tx, [move], { inTransaction: true })
    .catch((error: unknown) => {
      throw isOvertaken(error) ? new TryAgain() : error
    })
  if (!made.has(move)) throw new TryAgain()
}
