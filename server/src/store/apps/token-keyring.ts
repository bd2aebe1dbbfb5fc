import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../../domain/clocks.ts'
import { unavailable } from '../../domain/errors.ts'
import { MAX_CACHED_KEYS, USER_TOKEN_SECONDS } from '../../domain/limits.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import type { HomeDb } from '../connection/places.ts'
import type { Keyring } from '../secrets/keyring.ts'
import * as store from './token-keys.ts'

/** Both are deterministic, so that a response can be repeated without storing the token. */
export const TOKEN_ALGORITHMS = ['HS256', 'EdDSA'] as const
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number]

interface TokenKey {
  id: string
  algorithm: TokenAlgorithm
  sign: Uint8Array | KeyObject
  verify: Uint8Array | KeyObject
}

interface PublicKey {
  appId: string
  jwk: JsonObject
}

/** How long a key is cached. Whether it has been revoked is read with every request: see `findTokenUser`. */
const CONFIRMED_MS = 1_000

/** The keys that sign user tokens: one at a time per app, created when first needed. */
export class TokenKeys {
  readonly #db: HomeDb
  readonly #keyring: Keyring
  readonly algorithm: TokenAlgorithm
  readonly #clocks: Clocks
  readonly #remembered = new LRUCache<string, { key: TokenKey; confirmedAt: number }>({
    max: MAX_CACHED_KEYS,
  })

  #public: { keys: Promise<PublicKey[]>; readAt: number } | null = null

  private constructor(db: HomeDb, keyring: Keyring, algorithm: TokenAlgorithm, clocks: Clocks) {
    this.#db = db
    this.#keyring = keyring
    this.algorithm = algorithm
    this.#clocks = clocks
  }

  static async open(
    db: HomeDb,
    keyring: Keyring,
    algorithm: TokenAlgorithm,
    clocks: Clocks,
  ): Promise<TokenKeys> {
    await store.retireOtherAlgorithms(db, algorithm)
    return new TokenKeys(db, keyring, algorithm, clocks)
  }

  /** The id of the signing key. */
  async current(db: HomeDb, appId: string): Promise<string> {
    return (await store.currentTokenKey(db, appId)) ?? this.make(db, appId)
  }

  /** The id of a new signing key, or of one that another process created concurrently. */
  async make(db: HomeDb, appId: string): Promise<string> {
    const id = randomBytes(12).toString('base64url')
    const { material, publicKey } = newMaterial(this.algorithm)
    const key = { id, algorithm: this.algorithm, material, publicKey }
    if (await store.insertTokenKey(db, this.#keyring, appId, key)) return id
    const theirs = await store.currentTokenKey(db, appId)
    if (theirs === null) throw unavailable('The token keys changed too often during the call; retry.')
    return theirs
  }

  /** A key to sign with, even a revoked one, so that a repeated response stays the same. */
  async signing(appId: string, id: string): Promise<TokenKey | null> {
    const row = await this.#find(appId, id)
    return row && keyOf(id, row)
  }

  /** A key whose tokens are accepted. */
  async verifying(appId: string, id: string): Promise<TokenKey | null> {
    if (!/^[\w-]{16}$/.test(id)) return null
    const name = `${id} ${appId}`
    const known = this.#remembered.get(name)
    if (known && this.#clocks.monotonic() - known.confirmedAt < CONFIRMED_MS) return known.key
    const confirmedAt = this.#clocks.monotonic()
    const row = await this.#find(appId, id)
    const key = row?.good ? (known?.key ?? keyOf(id, row)) : null
    // Unknown ids are not worth caching.
    if (key === null) this.#remembered.delete(name)
    else this.#remembered.set(name, { key, confirmedAt })
    return key
  }

  /** Of all apps, for offline verification. Read at most once a second. */
  publicKeys(): Promise<PublicKey[]> {
    if (!this.#public || this.#clocks.monotonic() - this.#public.readAt >= CONFIRMED_MS) {
      const keys = this.#readPublicKeys()
      this.#public = { keys, readAt: this.#clocks.monotonic() }
      // A failure is not cached.
      keys.catch(() => {
        this.#public = null
      })
    }
    return this.#public.keys
  }

  async #readPublicKeys(): Promise<PublicKey[]> {
    const rows = await store.listPublicKeys(this.#db, USER_TOKEN_SECONDS)
    return rows.map(({ appId, id, algorithm, publicKey }) => ({
      appId,
      jwk: { ...publicKey, kid: id, alg: algorithm, use: 'sig' },
    }))
  }

  #find(appId: string, id: string) {
    return store.findTokenKey(this.#db, this.#keyring, appId, id, USER_TOKEN_SECONDS)
  }
}

function newMaterial(algorithm: TokenAlgorithm): { material: Buffer; publicKey: JsonObject | null } {
  if (algorithm === 'HS256') return { material: randomBytes(32), publicKey: null }
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    material: privateKey.export({ format: 'der', type: 'pkcs8' }),
    publicKey: publicKey.export({ format: 'jwk' }) as JsonObject,
  }
}

function keyOf(id: string, { algorithm, material }: { algorithm: string; material: Buffer }): TokenKey {
  if (algorithm === 'HS256') return { id, algorithm, sign: material, verify: material }
  if (algorithm !== 'EdDSA') throw new Error(`the token key ${id} has an unknown algorithm, ${algorithm}`)
  const sign = createPrivateKey({ key: material, format: 'der', type: 'pkcs8' })
  return { id, algorithm, sign, verify: createPublicKey(sign) }
}
