import { StartError, TollgateError } from '../../domain/errors.ts'
import { findKeyByHash, hasApiKeys, insertApiKey, replaceApiKey } from '../../store/apps/api-keys.ts'
import { bumpVersion, insertApp, lockApp } from '../../store/apps/apps.ts'
import { transaction } from '../../store/connection/database.ts'
import { hasMembers } from '../../store/members/members.ts'
import type { Service } from '../call/service.ts'
import { createOwner, ownerToken } from '../members/sign-in.ts'
import { newSecret, storedSecret, UNLIMITED } from './api-keys.ts'

export const DEFAULT_APP = 'default'

/** Outcome of the owner in the settings; null: none is set. */
export type OwnerSetting = 'created' | 'ignored' | null

/**
 * Creates the default app, and the key and owner in the settings. Several processes may start at once. Secrets that are
 * shown only once are not created here, because the start may still fail.
 */
export async function prepare(
  service: Service,
  settings: { apiKey: string | null; owner: { email: string; password: string } | null },
): Promise<OwnerSetting> {
  const { apiKey, owner } = settings
  await transaction(service.pool, async (tx) => {
    await insertApp(tx, DEFAULT_APP, 'Default', false)
    if (apiKey === null) return
    await lockApp(tx, DEFAULT_APP)
    const key = { id: 'environment', name: 'TOLLGATE_API_KEY', ...storedSecret(apiKey) }
    const same = await findKeyByHash(tx, key.hash)
    if (same && (same.appId !== DEFAULT_APP || !same.isGood)) {
      throw new StartError(
        'TOLLGATE_API_KEY is revoked, expired, or belongs to another app. Choose a new key.',
      )
    }
    if (same) return
    await replaceApiKey(tx, DEFAULT_APP, key)
    await bumpVersion(tx, DEFAULT_APP)
  })
  if (owner === null) return null
  if (await hasMembers(service.pool)) return 'ignored'
  try {
    return (await createOwner(service, owner.email, owner.password)) ? 'created' : 'ignored'
  } catch (error) {
    if (!(error instanceof TollgateError)) throw error
    throw new StartError(`TOLLGATE_OWNER_EMAIL or TOLLGATE_OWNER_PASSWORD: ${error.message}.`)
  }
}

/** Printed for the operator; each only if new. */
export interface FirstStart {
  /** an Admin key just generated, never shown again */
  apiKey: string | null
  /** the token of the setup link, while there is no owner */
  ownerToken: string | null
}

/** The last step of a start, when nothing can prevent the output any more. */
export async function firstSecrets(service: Pick<Service, 'pool' | 'keyring'>): Promise<FirstStart> {
  const apiKey = await transaction(service.pool, async (tx) => {
    await lockApp(tx, DEFAULT_APP)
    if (await hasApiKeys(tx, DEFAULT_APP)) return null
    const { secret, ...kept } = newSecret('live')
    await insertApiKey(tx, DEFAULT_APP, { id: 'first', name: 'First key', ...UNLIMITED, ...kept })
    await bumpVersion(tx, DEFAULT_APP)
    return secret
  })
  return { apiKey, ownerToken: (await hasMembers(service.pool)) ? null : await ownerToken(service) }
}
