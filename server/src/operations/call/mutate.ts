import { TollgateError } from '../../domain/errors.ts'
import type { Json } from '../../domain/metadata.ts'
import type { Moment } from '../../store/apps/app-cache.ts'
import { bumpVersion, lockApp } from '../../store/apps/apps.ts'
import { type LoadedApp, loadApp } from '../../store/catalogue/catalogue.ts'
import { type Tx, transaction, withSavepoint } from '../../store/connection/database.ts'
import type { UserTx } from '../../store/connection/places.ts'
import { findMemberById } from '../../store/members/members.ts'
import { claimKey, readKeys, storeResults } from '../../store/usage/idempotency.ts'
import type { UserRow } from '../../store/users/users.ts'
import { MUTATIONS } from '../registry/registry.ts'
import { checkTakesNew } from './archived-app.ts'
import { audited } from './audited.ts'
import { type Call, type InstallationCall, momentOf } from './call.ts'
import type { KeptUnder } from './hot-paths.ts'
import { idempotencyKeyReused, type Outcome, resultOf } from './outcome.ts'
import { withLockedUser } from './require.ts'
import { checkRole } from './roles.ts'

/**
 * Runs a mutation in one transaction: at most once per Idempotency-Key and, for a member, only with the required role.
 * Writes an audit entry.
 *
 * The effect calls `moment` once it has its locks. If it never does, the API key is still checked afterwards.
 */
export async function mutate<T>(
  call: Call | InstallationCall,
  effect: (tx: Tx, moment: () => Promise<Moment>) => Promise<T>,
): Promise<T> {
  const { service, actor, appId, deadline } = call
  const idempotency = appId === null ? null : call.idempotency
  let checked = actor.kind !== 'app'
  const work = async (tx: Tx): Promise<Outcome<T>> => {
    // The current role: an earlier mutation of the same request may have changed it.
    if (actor.kind === 'member' && actor.mutation)
      checkRole(MUTATIONS[actor.mutation.name].role, await findMemberById(tx, actor.member.id))
    let runs = false
    const moment = async () => {
      if (appId === null) throw new Error('an operation without an app has no app clock')
      const now = await service.apps.at(tx, call)
      checked = true
      // A stored response is repeated even if the app was archived since.
      if (runs) checkTakesNew(actor, appId, now.app.archived)
      return now
    }
    const run = () => {
      runs = true
      return audited(tx, call, (locked) =>
        effect(tx, async () => {
          const now = await moment()
          await locked()
          return now
        }),
      )
    }
    const made =
      idempotency && appId !== null
        ? await once(tx, { ...idempotency, appId, scope: 'request' }, run)
        : { value: await run() }
    if (!checked) await moment()
    return made
  }
  try {
    return resultOf(await transaction(service.pool, work, deadline))
  } catch (error) {
    if (!checked && appId !== null && error instanceof TollgateError) await momentOf(call)
    throw error
  }
}

/** A mutation of one user, who is locked. */
export function mutateUser<T>(
  call: Call,
  userId: string,
  effect: (tx: UserTx, user: UserRow, moment: () => Promise<Moment>) => Promise<T>,
): Promise<T> {
  return mutate(call, (tx, moment) =>
    withLockedUser(tx, call.appId, userId, (users, user) => effect(users, user, moment)),
  )
}

/** The stored response of this Idempotency-Key, if any, for operations that call a provider before they write. */
export async function earlierAnswer<T>(call: Call): Promise<{ value: T } | null> {
  const { service, appId, idempotency } = call
  if (!idempotency) return null
  const { key, request, field } = idempotency
  const [claim] = await readKeys(service.pool, [{ appId, scope: 'request', key }])
  if (!claim) return null
  if (!claim.request.equals(request)) throw idempotencyKeyReused()
  return Object.hasOwn(claim.results, field) ? { value: resultOf(claim.results[field] as Outcome<T>) } : null
}

/** Runs the effect, unless this key has a stored response, which is then repeated. */
async function once<T>(tx: Tx, key: KeptUnder, effect: () => Promise<T>): Promise<Outcome<T>> {
  const { request, field } = key
  const claim = await claimKey(tx, key, request)
  // Nothing is stored for a deleted app; the effect throws the error.
  if (!claim) return { value: await effect() }
  if (!claim.request.equals(request)) throw idempotencyKeyReused()
  if (Object.hasOwn(claim.results, field)) return claim.results[field] as Outcome<T>
  const made = await attempt(tx, effect)
  await storeResults(tx, key, { ...claim.results, [field]: made as Json })
  return made
}

function attempt<T>(tx: Tx, effect: () => Promise<T>): Promise<Outcome<T>> {
  return withSavepoint<Outcome<T>>(
    tx,
    async () => ({ value: await effect() }),
    (error) => {
      // A transient error must not become the stored response of this key.
      if (!(error instanceof TollgateError) || error.retryAfter !== null) throw error
      const { code, message, type, field } = error
      return { error: { code, message, type, field } }
    },
  )
}

/** A mutation of the catalogue: serialised per app, and visible to every process. */
export function mutateCatalogue<T>(
  call: Call,
  effect: (tx: Tx, before: LoadedApp, now: number) => Promise<void>,
  result: (after: LoadedApp, tx: Tx) => T | Promise<T>,
): Promise<T> {
  return mutate(call, async (tx, moment) => {
    const { appId } = call
    const locked = await lockApp(tx, appId)
    const before = locked && (await loadApp(tx, appId))
    if (!before) throw new Error(`the app ${appId} no longer exists`)
    // Read before anything changes: it stays cached even if the transaction fails.
    if (call.actor.kind === 'app') await moment()
    await effect(tx, before, locked.now)
    await bumpVersion(tx, appId)
    const after = await loadApp(tx, appId)
    if (!after) throw new Error(`the app ${appId} no longer exists`)
    return result(after, tx)
  })
}
