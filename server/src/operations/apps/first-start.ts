import { StartError, TollgateError } from '../../domain/errors.ts'
import { findKeyByHash, hasApiKeys, insertApiKey, upsertApiKey } from '../../store/api-keys.ts'
import { bumpVersion, insertApp, lockApp } from '../../store/apps.ts'
import { transaction } from '../../store/database.ts'
import { hasMembers } from '../../store/members.ts'
import type { Service } from '../call/service.ts'
import { createOwner, ownerToken } from '../members/sign-in.ts'
import { keptOf, newSecret } from './api-keys.ts'

export const DEFAULT_APP = 'default'

/** Printed for the operator, each only when new. */
export interface FirstStart {
  /** an Admin key just generated, never shown again */
  apiKey: string | null
  /** the token of the setup link, while there is no owner */
  ownerToken: string | null
}

/** Creates the default app, its key and the owner if missing. Several processes may start at once. */
export async function prepare(
  service: Service,
  settings: { apiKey: string | null; owner: { email: string; password: string } | null },
): Promise<FirstStart> {
  const apiKey = await transaction(service.pool, async (tx) => {
    await insertApp(tx, DEFAULT_APP, 'Default', false)
    await lockApp(tx, DEFAULT_APP)
    if (settings.apiKey !== null) {
      const key = { id: 'environment', name: 'TOLLGATE_API_KEY', ...keptOf(settings.apiKey) }
      const same = await findKeyByHash(tx, key.hash)
      if (same && same.id !== key.id && (same.appId !== DEFAULT_APP || same.revokedAt !== null)) {
        throw new StartError('TOLLGATE_API_KEY is a revoked key or the key of another app: choose a new one.')
      }
      if (same === null || same.id === key.id) {
        if (await upsertApiKey(tx, DEFAULT_APP, key)) await bumpVersion(tx, DEFAULT_APP)
      }
      return null
    }
    if (await hasApiKeys(tx, DEFAULT_APP)) return null
    const { secret, ...kept } = newSecret()
    await insertApiKey(tx, DEFAULT_APP, { id: 'first', name: 'First key', ...kept })
    await bumpVersion(tx, DEFAULT_APP)
    return secret
  })
  if (settings.owner && !(await hasMembers(service.pool))) {
    try {
      await createOwner(service, settings.owner.email, settings.owner.password)
    } catch (error) {
      if (!(error instanceof TollgateError)) throw error
      throw new StartError(`TOLLGATE_OWNER_EMAIL or TOLLGATE_OWNER_PASSWORD: ${error.message}.`)
    }
  }
  return { apiKey, ownerToken: (await hasMembers(service.pool)) ? null : await ownerToken(service) }
}
