import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type ApiKeyKind, apiKeySecret, keyLifetime, renewedExpiry } from '../../domain/api-key.ts'
import type { ApiKeyScope } from '../../domain/api-key-scope.ts'
import { badUserInput, quote, TollgateError } from '../../domain/errors.ts'
import { checkText, isIdentifier } from '../../domain/identifier.ts'
import { MAX_API_KEYS, MAX_KEY_OVERLAP_HOURS } from '../../domain/limits.ts'
import * as store from '../../store/apps/api-keys.ts'
import { type AppRow, bumpVersion } from '../../store/apps/apps.ts'
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
  scope: ApiKeyScope
  expiresAt: number | null
  secret: string
  /** for a rotation: until when the old secret works */
  formerExpiresAt: number | null
}

/** The owner's choices. */
export type NewApiKey = Pick<store.ApiKeyRow, 'name' | 'scope' | 'expiresAt'>

/** The secret is shown only once: only its hash is stored. */
export async function createApiKey(call: Call, wanted: NewApiKey): Promise<CreatedApiKey> {
  checkText('name', wanted.name)
  return mutate(call, async (tx) => {
    const lifetimeMs = keyLifetime(wanted.expiresAt, await store.realTime(tx))
    const key = await addKey(tx, call.appId, { ...wanted, lifetimeMs })
    return { ...key, formerExpiresAt: null }
  })
}

/**
 * Replaces a key by one with the same scope and, if it was to expire, the same lifetime. The old one keeps working for
 * some hours so that callers can switch.
 */
export async function rotateApiKey(call: Call, id: string, overlapHours: number): Promise<CreatedApiKey> {
  const { appId } = call
  if (overlapHours < 0 || overlapHours > MAX_KEY_OVERLAP_HOURS) {
    throw badUserInput(`overlapHours must be from 0 to ${MAX_KEY_OVERLAP_HOURS}`, 'overlapHours')
  }
  return mutateKeys(call, async (tx) => {
    const { name, scope, lifetimeMs } = await lockKey(tx, appId, id)
    const expiresAt = renewedExpiry(lifetimeMs, await store.realTime(tx))
    const formerExpiresAt = await store.expireApiKey(tx, appId, id, overlapHours)
    const key = await addKey(tx, appId, { name, scope, expiresAt, lifetimeMs })
    return { ...key, formerExpiresAt }
  })
}

/** Changes a working key. Every process applies the new scope and expiry from its next request on. */
export async function updateApiKey(
  call: Call,
  id: string,
  change: Partial<NewApiKey>,
): Promise<store.ApiKeyRow> {
  const { appId } = call
  if (change.name !== undefined) checkText('name', change.name)
  return mutateKeys(call, async (tx) => {
    const key = { ...(await lockKey(tx, appId, id)), ...change }
    if (change.expiresAt !== undefined)
      key.lifetimeMs = keyLifetime(change.expiresAt, await store.realTime(tx))
    await store.changeApiKey(tx, appId, key)
    await bumpVersion(tx, appId)
    return key
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

/** A key that works, locked. */
async function lockKey(tx: Tx, appId: string, id: string): Promise<store.ApiKeyRow> {
  const key = isIdentifier(id) ? await store.lockGoodApiKey(tx, appId, id) : null
  if (!key) throw apiKeyNotFound(id)
  return key
}

async function addKey(
  tx: Tx,
  appId: string,
  wanted: Pick<store.ApiKeyRow, 'name' | 'scope' | 'expiresAt' | 'lifetimeMs'>,
) {
  const key = { id: `key_${randomUUID()}`, ...wanted, ...newSecret(keyKind(await requireApp(tx, appId))) }
  await store.insertApiKey(tx, appId, key)
  await bumpVersion(tx, appId)
  await checkRoom(tx, appId)
  return key
}

/** Called with the app's row locked, so that two concurrent calls cannot both take the last slot. */
async function checkRoom(tx: Tx, appId: string): Promise<void> {
  if ((await store.countGoodApiKeys(tx, appId)) > MAX_API_KEYS)
    throw badUserInput(`An app can have at most ${MAX_API_KEYS} valid API keys. Revoke one first.`)
}

const apiKeyNotFound = (id: string) =>
  new TollgateError('API_KEY_NOT_FOUND', `API key not found: ${quote(id)}`)

const VISIBLE = 12

/** A key that may do everything and does not expire. */
export const UNLIMITED = { scope: 'ALL', expiresAt: null, lifetimeMs: null } as const

export const keyKind = ({ testClock }: Pick<AppRow, 'testClock'>): ApiKeyKind =>
  testClock === null ? 'live' : 'test'

/** 256 random bits cannot be guessed, so a plain hash is enough. */
export function newSecret(kind: ApiKeyKind) {
  const secret = apiKeySecret(kind, randomBytes(32))
  return { secret, ...storedSecret(secret) }
}

/** The stored part of a secret: its hash, and a prefix to recognise it. */
export function storedSecret(secret: string) {
  return {
    prefix: secret.slice(0, Math.min(VISIBLE, Math.floor(secret.length / 3))),
    hash: createHash('sha256').update(secret).digest(),
  }
}
