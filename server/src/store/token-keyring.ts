import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../domain/clocks.ts'
import { unavailable } from '../domain/errors.ts'
import { MAX_CACHED_KEYS, USER_TOKEN_SECONDS } from '../domain/limits.ts'
import type { JsonObject } from '../domain/metadata.ts'
import type { Db } from './database.ts'
import type { Keyring } from './keyring.ts'
import { findSecret } from './secrets.ts'
import * as store from './token-keys.ts'

/** Both sign alike each time, so that an answer can be repeated without keeping the token. */
export const TOKEN_ALGORITHMS = ['HS256', 'EdDSA'] as const
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number]

/** What tokens without a key id are signed with: the one secret that all apps had before they had keys. */
export const LEGACY_KEY = 'legacy'

interface TokenKey {
  /** null: tokens do not name it */
  id: string | null
  algorithm: TokenAlgorithm
  sign: Uint8Array | KeyObject
  verify: Uint8Array | KeyObject
}

interface PublicKey {
  appId: string
  jwk: JsonObject
}

/** How long a key is taken as good after the database has last said so, where a request asks it nothing else. */
const CONFIRMED_MS = 1_000

/** The keys that user tokens are signed with: one at a time for each app, made when it is first needed. */
export class TokenKeys {
  readonly #db: Db
  readonly #keyring: Keyring
  readonly algorithm: TokenAlgorithm
  readonly #legacy: { value: Buffer; retiresAt: number | null } | null
  readonly #clocks: Clocks
  readonly #remembered = new LRUCache<string, { key: TokenKey; confirmedAt: number }>({
    max: MAX_CACHED_KEYS,
  })

  #public: { keys: Promise<PublicKey[]>; readAt: number } | null = null

  private constructor(
    db: Db,
    keyring: Keyring,
    algorithm: TokenAlgorithm,
    legacy: { value: Buffer; retiresAt: number | null } | null,
    clocks: Clocks,
  ) {
    this.#db = db
    this.#keyring = keyring
    this.algorithm = algorithm
    this.#legacy = legacy
    this.#clocks = clocks
  }

  static async open(db: Db, keyring: Keyring, algorithm: TokenAlgorithm, clocks: Clocks): Promise<TokenKeys> {
    await store.retireOtherAlgorithms(db, algorithm)
    return new TokenKeys(db, keyring, algorithm, await findSecret(db, keyring, 'user-token'), clocks)
  }

  /** Whether tokens without a key id are taken, and given to apps that have no key yet. */
  get legacyIsGood(): boolean {
    return this.#legacy !== null && this.#clocks.wall() < (this.#legacy.retiresAt ?? Infinity)
  }

  /** The id of the key to sign with now; null: the legacy one. Processes of the earlier version take no other. */
  async current(db: Db, appId: string): Promise<string | null> {
    const found = await store.currentTokenKey(db, appId)
    if (found !== null || this.#signsLegacy) return found
    return this.make(db, appId)
  }

  get #signsLegacy(): boolean {
    const until = (this.#legacy?.retiresAt ?? Infinity) - USER_TOKEN_SECONDS * 1000
    return this.#legacy !== null && this.#clocks.wall() < until
  }

  /** The id of a new key to sign with, or of the one that somebody else made at the same moment. */
  async make(db: Db, appId: string): Promise<string> {
    const id = randomBytes(12).toString('base64url')
    const { material, publicKey } = newMaterial(this.algorithm)
    const key = { id, algorithm: this.algorithm, material, publicKey }
    if (await store.insertTokenKey(db, this.#keyring, appId, key)) return id
    const theirs = await store.currentTokenKey(db, appId)
    if (theirs === null) throw unavailable('The keys of user tokens kept changing; try again')
    return theirs
  }

  /** One to sign with: whether what it signs is still taken does not matter to an answer that is repeated. */
  async signing(appId: string, id: string | null): Promise<TokenKey | null> {
    if (id === null) return this.#legacyKey()
    const row = await this.#find(appId, id)
    return row && keyOf(id, row)
  }

  /** One whose tokens are taken. */
  async verifying(appId: string, id: string | null): Promise<TokenKey | null> {
    if (id === null) return this.legacyIsGood ? this.#legacyKey() : null
    if (!/^[\w-]{16}$/.test(id)) return null
    const name = `${id} ${appId}`
    const known = this.#remembered.get(name)
    if (known && this.#clocks.monotonic() - known.confirmedAt < CONFIRMED_MS) return known.key
    const confirmedAt = this.#clocks.monotonic()
    const row = await this.#find(appId, id)
    const key = row?.good ? (known?.key ?? keyOf(id, row)) : null
    // What is made up is not worth remembering.
    if (key === null) this.#remembered.delete(name)
    else this.#remembered.set(name, { key, confirmedAt })
    return key
  }

  /** Of all apps, for whoever verifies tokens by himself. Read once a second at most, whoever asks. */
  publicKeys(): Promise<PublicKey[]> {
    if (!this.#public || this.#clocks.monotonic() - this.#public.readAt >= CONFIRMED_MS) {
      const keys = this.#readPublicKeys()
      this.#public = { keys, readAt: this.#clocks.monotonic() }
      // A failure is for those who wait on it, and not to be kept.
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

  #legacyKey(): TokenKey | null {
    const secret = this.#legacy?.value
    return secret ? { id: null, algorithm: 'HS256', sign: secret, verify: secret } : null
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
