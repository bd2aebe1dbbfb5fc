import { userNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { lockApp } from '../../store/apps/apps.ts'
import type { Tx } from '../../store/connection/database.ts'
import { lockUserToErase } from '../../store/privacy/erase-user.ts'
import { lockErasures } from '../../store/privacy/erased-refs.ts'
import { requireApp } from '../apps/apps.ts'
import { type Call, momentOf } from '../call/call.ts'
import { earlierAnswer, mutate } from '../call/mutate.ts'
import { Overtaken, unlessOvertaken } from '../call/overtaken.ts'
import { requireUser } from '../call/require.ts'
import { endAtProviders, isCovered, type LiveBilling, liveBilling } from './end-what-is-live.ts'
import { eraseUser } from './erase-user.ts'

/**
 * Deletes a user permanently. Paid subscriptions are cancelled at the providers first: if that fails, nothing is
 * erased; if the process dies afterwards, the user is still there without a charge, and deleting them again does the
 * rest.
 *
 * The erasure reads whole tables, and continues if the caller stops waiting.
 */
export async function deleteUser(call: Call, id: string): Promise<{ id: string }> {
  const { service, appId } = call
  if (await earlierAnswer(call)) return { id }
  await requireApp(service.pool, appId)
  await momentOf(call)
  const withoutDeadline = { ...call, service: { ...service, pool: service.longQueries }, deadline: null }
  return unlessOvertaken(async () => {
    const { uid } = await requireUser(service.pool, appId, id)
    const ended = await liveBilling(service.pool, appId, uid)
    await endAtProviders(service, appId, ended)
    // The stored response does not contain the id, which a repeated request contains anyway.
    await mutate(withoutDeadline, (tx) => erase(tx, call, id, uid, ended))
    return { id }
  })
}

async function erase(
  tx: Tx,
  { appId, idempotency }: Call,
  id: string,
  uid: number,
  ended: LiveBilling,
): Promise<{ deleted: true }> {
  // The common lock order: members' changes, writers that lock no user, then the user.
  await lockApp(tx, appId)
  await lockErasures(tx, appId)
  if (!isIdentifier(id)) throw userNotFound(id)
  return tx.places.of(appId, id, async (users) => {
    const user = await lockUserToErase(users, appId, id)
    if (!user) throw userNotFound(id)
    // Another user may have taken the id meanwhile.
    if (user.uid !== uid || !isCovered(await liveBilling(tx, appId, uid), ended)) throw new Overtaken()
    await eraseUser(users, appId, user, idempotency?.key ?? null)
    return { deleted: true }
  })
}
