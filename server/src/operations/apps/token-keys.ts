import { badUserInput, quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { IDEMPOTENCY_KEPT_HOURS } from '../../domain/limits.ts'
import { bumpVersion } from '../../store/apps.ts'
import { LEGACY_KEY } from '../../store/token-keyring.ts'
import * as store from '../../store/token-keys.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { foundApp } from './apps.ts'

/** Longer than any answer that names a key is repeated. */
const KEPT_HOURS = 3 * IDEMPOTENCY_KEPT_HOURS

/** The keys that the app's user tokens are signed with, the present one first. */
export async function tokenKeys({ service, appId }: Call): Promise<store.TokenKeyRow[]> {
  const { createdAt } = await foundApp(service.pool, appId)
  const keys = await store.listTokenKeys(service.pool, appId)
  if (!service.tokenKeys.legacyIsGood || keys.some(({ id }) => id === LEGACY_KEY)) return keys
  // The secret that all apps share until it retires; one key of the app's own is enough to sign no more with it.
  const retiredAt = keys.at(-1)?.createdAt ?? null
  return [...keys, { id: LEGACY_KEY, algorithm: 'HS256', createdAt, retiredAt, revokedAt: null }]
}

/** Tokens are signed with a new key from now on. Those that the former one signed are good until they expire. */
export async function rotateTokenKey(call: Call): Promise<{ id: string }> {
  const { appId } = call
  return mutate(call, async (tx) => {
    await store.retireTokenKey(tx, appId)
    await store.forgetTokenKeys(tx, appId, KEPT_HOURS)
    return { id: await call.service.tokenKeys.make(tx, appId) }
  })
}

/** No token that the key has signed gets in any more; another key is made with the next token. */
export async function revokeTokenKey(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutate(call, async (tx) => {
    if (id === LEGACY_KEY && call.service.tokenKeys.legacyIsGood) {
      // Or the next token would be signed with it again.
      if ((await store.currentTokenKey(tx, appId)) === null) await call.service.tokenKeys.make(tx, appId)
      await store.insertRevokedKey(tx, appId, LEGACY_KEY, 'HS256')
    } else if (!isIdentifier(id) || !(await store.revokeTokenKey(tx, appId, id))) {
      throw badUserInput(`Token key not found: ${quote(id)}`, 'id')
    }
    // Every process learns of it with the next statement that reads the version.
    await bumpVersion(tx, appId)
    return { id }
  })
}
