import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { checkText, isIdentifier } from '../../domain/identifier.ts'
import { MAX_API_KEYS, MAX_KEY_OVERLAP_HOURS } from '../../domain/limits.ts'
import * as store from '../../store/apps/api-keys.ts'
import { bumpVersion } from '../../store/apps/apps.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { Call, InstallationCall } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import { requireApp } from './apps.ts'

export async function apiKeys({ service, appId }: Call): Promise<store.ApiKeyRow[]> {
  await requireApp(service.pool, appId)
  return store.listApiKeys(service.pool, appId)
}

interface CreatedApiKey {
  id: string
  name: string
  prefix: string
  secret: string
  /** for a rotation: until when the old secret works */
  formerExpiresAt: number | null
}

/** The secret is shown only once: only its hash is stored. */
export async function createApiKey(call: Call, name: string): Promise<CreatedApiKey> {
  const { appId } = call
  checkText('name', name)
  return mutate(call, async (tx) => {
    const key = { id: `key_${randomUUID()}`, name, ...newSecret() }
    await store.insertApiKey(tx, appId, key)
    await bumpVersion(tx, appId)
    await checkRoom(tx, appId)
    return { ...key, formerExpiresAt: null }
  })
}

/** Replaces a key. The old one keeps working for some hours so that callers can switch. */
export async function rotateApiKey(call: Call, id: string, overlapHours: number): Promise<CreatedApiKey> {
  const { appId } = call
  if (overlapHours < 0 || overlapHours > MAX_KEY_OVERLAP_HOURS) {
    throw badUserInput(`overlapHours must be from 0 to ${MAX_KEY_OVERLAP_HOURS}`, 'overlapHours')
  }
  return mutateKeys(call, async (tx) => {
    const former = isIdentifier(id) ? await store.lockGoodApiKey(tx, appId, id) : null
    if (!former) throw apiKeyNotFound(id)
    const key = { id: `key_${randomUUID()}`, name: former.name, ...newSecret() }
    await store.insertApiKey(tx, appId, key)
    const formerExpiresAt = await store.expireApiKey(tx, appId, id, overlapHours)
    await bumpVersion(tx, appId)
    await checkRoom(tx, appId)
    return { ...key, formerExpiresAt }
  })
}

export async function revokeApiKey(call: Call, id: string): Promise<{ id: string }> {
  const { appId } = call
  return mutateKeys(call, async (tx) => {
    if (!isIdentifier(id) || !(await store.revokeApiKey(tx, appId, id))) throw apiKeyNotFound(id)
    await bumpVersion(tx, appId)
    return { id }
  })
}

/** A mutation that revokes API keys. This process rejects them as soon as it returns. */
export async function mutateKeys<T>(
  call: Call | InstallationCall,
  effect: (tx: Tx) => Promise<T>,
): Promise<T> {
  const result = await mutate(call, effect)
  call.service.apps.invalidateKeys()
  return result
}

/** Called with the app's row locked, so that two concurrent calls cannot both take the last slot. */
async function checkRoom(tx: Tx, appId: string): Promise<void> {
  if ((await store.countGoodApiKeys(tx, appId)) > MAX_API_KEYS)
    throw badUserInput(`An app can have at most ${MAX_API_KEYS} valid API keys. Revoke one first.`)
}

const apiKeyNotFound = (id: string) =>
  new TollgateError('API_KEY_NOT_FOUND', `API key not found: ${quote(id)}`)

const VISIBLE = 10

/** 256 random bits cannot be guessed, so a plain hash is enough. */
export function newSecret() {
  const secret = `tg_${randomBytes(32).toString('base64url')}`
  return { secret, ...keptOf(secret) }
}

/** The stored part of a secret: its hash, and a prefix to recognise it. */
export function keptOf(secret: string) {
  return {
    prefix: secret.slice(0, Math.min(VISIBLE, Math.floor(secret.length / 3))),
    hash: createHash('sha256').update(secret).digest(),
  }
}
