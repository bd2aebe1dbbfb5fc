import { badUserInput, quote } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { IDEMPOTENCY_KEPT_HOURS } from '../../domain/limits.ts'
import { bumpVersion } from '../../store/apps/apps.ts'
import * as store from '../../store/apps/token-keys.ts'
import type { Call } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireApp } from './apps.ts'

/** Longer than any stored response that refers to a key is repeated. */
const KEPT_HOURS = 3 * IDEMPOTENCY_KEPT_HOURS

/** The keys that sign the app's user tokens, the current one first. */
export async function tokenKeys({ service, appId }: Call): Promise<store.TokenKeyRow[]> {
  await requireApp(service.pool, appId)
  return store.listTokenKeys(service.pool, appId)
}

/** Creates a new signing key. Tokens signed with the old one are valid until they expire. */
export async function rotateTokenKey(call: Call): Promise<{ id: string }> {
  const { appId } = call
  return mutate(call, async (tx) => {
    await store.retireTokenKey(tx, appId)
    await store.forgetTokenKeys(tx, appId, KEPT_HOURS)
    return { id: await call.service.tokenKeys.make(tx, appId) }
  })
}

/** Tokens signed with the key are rejected. The next token creates a new key. */
export async function revokeTokenKey(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutate(call, async (tx) => {
    if (!isIdentifier(id) || !(await store.revokeTokenKey(tx, appId, id)))
      throw badUserInput(`Token key not found: ${quote(id)}`, 'id')
    // Every process sees the new version with its next statement.
    await bumpVersion(tx, appId)
    return { id }
  })
}
