import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { quote, TollgateError } from '../../domain/errors.ts'
import { checkText, isIdentifier } from '../../domain/identifier.ts'
import * as store from '../../store/api-keys.ts'
import { bumpVersion } from '../../store/apps.ts'
import { foundApp } from './apps.ts'
import { changeApp, type MemberCall } from './member-call.ts'

export async function apiKeys({ service }: MemberCall, appId: string): Promise<store.ApiKeyRow[]> {
  await foundApp(service.pool, appId)
  return store.listApiKeys(service.pool, appId)
}

/** The secret is told this once: only its hash is kept. */
export async function createApiKey(
  call: MemberCall,
  appId: string,
  name: string,
): Promise<{ id: string; name: string; prefix: string; secret: string }> {
  checkText('name', name)
  return changeApp(call, appId, async (tx) => {
    const key = { id: `key_${randomUUID()}`, name, ...newSecret() }
    await store.insertApiKey(tx, appId, key)
    await bumpVersion(tx, appId)
    return key
  })
}

export async function revokeApiKey(call: MemberCall, appId: string, id: string): Promise<{ id: string }> {
  return changeApp(call, appId, async (tx) => {
    if (!isIdentifier(id) || !(await store.revokeApiKey(tx, appId, id))) {
      throw new TollgateError('API_KEY_NOT_FOUND', `API key not found: ${quote(id)}`)
    }
    await bumpVersion(tx, appId)
    return { id }
  })
}

const VISIBLE = 10

/** 256 random bits: too many to guess, so a plain hash of them is enough. */
export function newSecret() {
  const secret = `tg_${randomBytes(32).toString('base64url')}`
  return { secret, ...keptOf(secret) }
}

/** What is kept of a secret: its hash, and enough of it to tell it from others. */
export function keptOf(secret: string) {
  return {
    prefix: secret.slice(0, Math.min(VISIBLE, Math.floor(secret.length / 3))),
    hash: createHash('sha256').update(secret).digest(),
  }
}
