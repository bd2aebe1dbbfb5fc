import { LRUCache } from 'lru-cache'
import {
  type ApiKeyScope,
  outOfScope,
  type RequiredScope,
  scopeIncludes,
} from '../../domain/api-key-scope.ts'
import type { Monotonic } from '../../domain/clocks.ts'
import { appNotFound, invalidToken, type TollgateError, unauthenticated } from '../../domain/errors.ts'
import { MAX_CACHED_APPS, MAX_CACHED_KEYS } from '../../domain/limits.ts'
import { type LoadedApp, type LoadedKey, loadApp } from '../catalogue/catalogue.ts'
import type { HomeDb } from '../connection/places.ts'
import { findAppByKey } from './api-keys.ts'
import { APP_NOW } from './apps.ts'

/** An app as last read. */
export interface CachedApp extends LoadedApp {
  /** when it was requested, by the monotonic clock: the remaining time of its keys counts from then */
  askedAt: number
}

/** An app at one moment. */
export interface Moment {
  app: CachedApp
  now: number
}

/** An application's backend, with one of its app's keys. */
export interface KeyHolder {
  kind: 'app'
  /** hash of the key in hex */
  keyHash: string
  /** as last read */
  scope: ApiKeyScope
  /** required scope of the operation; ANY until the operation is known */
  required: RequiredScope
}

/** The caller and the credential: an app by one of its keys, a user by a token that a key signed. */
export interface Caller {
  appId: string
  actor: KeyHolder | { kind: 'user'; tokenKey: string } | { kind: 'member' } | { kind: 'service' }
}

export interface AppCaller extends Caller {
  actor: KeyHolder
}

/** For a caller whose app is gone, or whose key or token is no longer valid. */
export function refusalOf(caller: Caller): TollgateError {
  switch (caller.actor.kind) {
    case 'app':
      return unauthenticated()
    case 'user':
      return invalidToken()
    default:
      return appNotFound(caller.appId)
  }
}

/** How long a key is trusted after the database confirmed it. */
export const KEY_CONFIRMED_MS = 1_000

/**
 * Catalogues and API keys, cached in memory. Every statement that uses them also reads the app's version, and a cached
 * entry is valid for exactly that version: no node responds with stale data, and no notification is needed. A later
 * version is not better than an earlier one, since the database may have gone back in time. Only a request without any
 * other query (introspection, a rejected document) relies on the time limit above and, in the process that revoked a
 * key, on `invalidateKeys`.
 */
export class AppCache {
  readonly #apps = new LRUCache<string, CachedApp>({ max: MAX_CACHED_APPS })
  /** Per key: other valid keys of the app say nothing about this one. */
  readonly #keys = new LRUCache<string, { caller: AppCaller; confirmedAt: number; generation: number }>({
    max: MAX_CACHED_KEYS,
  })
  readonly #monotonic: Monotonic
  /** incremented by `invalidateKeys`: keys cached before that are looked up again */
  #generation = 0
  #useTakenAt = Number.NEGATIVE_INFINITY

  constructor(monotonic: Monotonic) {
    this.#monotonic = monotonic
  }

  /** The app that the key authenticates, or null. */
  async authenticate(db: HomeDb, keyHash: string): Promise<AppCaller | null> {
    const known = this.recognise(keyHash)
    if (known) return known
    const confirmedAt = this.#monotonic()
    const generation = this.#generation
    const found = await findAppByKey(db, Buffer.from(keyHash, 'hex'))
    if (!found) {
      this.#keys.delete(keyHash)
      return null
    }
    const caller = keyHolder(found.appId, keyHash, found.scope)
    this.#keys.set(keyHash, { caller, confirmedAt, generation })
    return caller
  }

  /** The same from memory, while that is trusted. */
  recognise(keyHash: string): AppCaller | null {
    const known = this.#keys.get(keyHash)
    if (!known || known.generation !== this.#generation) return null
    return this.#monotonic() - known.confirmedAt < KEY_CONFIRMED_MS ? known.caller : null
  }

  /** After the commit of a revocation: the next use of any key looks it up again. */
  invalidateKeys(): void {
    this.#generation++
  }

  /** The caller's app now. Rejects a key that has been revoked since, or whose scope no longer includes the operation. */
  async at(db: HomeDb, caller: Caller): Promise<Moment> {
    const { rows } = await db.query<{ version: number; now: number }>({
      name: 'app-moment',
      text: `select version, ${APP_NOW} as now from app where id = $1`,
      values: [caller.appId],
    })
    const [row] = rows
    const app = row && (this.kept(caller.appId, row.version) ?? (await this.reload(db, caller.appId)))
    if (!app) throw refusalOf(caller)
    return { app: this.admit(caller, app), now: row.now }
  }

  /** The cached app, if it has exactly the version that a statement has just read. */
  kept(appId: string, version: number): CachedApp | null {
    const app = this.#apps.get(appId)
    return app?.version === version ? app : null
  }

  /** Reloads the app, for a caller that found another version. Null: it is gone. */
  async reload(db: HomeDb, appId: string): Promise<CachedApp | null> {
    const askedAt = this.#monotonic()
    const loaded = await loadApp(db, appId)
    if (!loaded) {
      this.#apps.delete(appId)
      return null
    }
    // Two loads may overlap and the older one finish last: the next statement sees the difference.
    const app = this.kept(appId, loaded.version) ?? { ...loaded, askedAt }
    this.#apps.set(appId, app)
    return app
  }

  /** The cached app, possibly stale: a guess to be confirmed. */
  known(appId: string): CachedApp | undefined {
    return this.#apps.get(appId)
  }

  /** The keys used since the last call, with how long ago. */
  takeUse(): { appId: string; hash: string; msAgo: number }[] {
    const now = this.#monotonic()
    const since = this.#useTakenAt
    this.#useTakenAt = now
    return [...this.#keys.entries()]
      .filter(([, { confirmedAt }]) => confirmedAt > since)
      .map(([hash, { caller, confirmedAt }]) => ({ appId: caller.appId, hash, msAgo: now - confirmedAt }))
  }

  /** Rejects a key that is not a valid one of the app or lacks the scope, and a token whose key was revoked. */
  admit(caller: Caller, app: CachedApp): CachedApp {
    const { appId, actor } = caller
    if (actor.kind === 'app') this.#admitKey(appId, actor, app)
    else if (!this.admits(caller, app)) throw refusalOf(caller)
    return app
  }

  #admitKey(appId: string, actor: KeyHolder, app: CachedApp): void {
    const { keyHash, required } = actor
    const key = this.#validKey(actor, app)
    if (!key) {
      this.#keys.delete(keyHash)
      throw unauthenticated()
    }
    const known = this.#keys.get(keyHash)
    if (known) {
      // The scope was changed: the next request starts from the new one.
      if (key.scope !== actor.scope) known.caller = keyHolder(appId, keyHash, key.scope)
      known.confirmedAt = this.#monotonic()
    }
    if (!scopeIncludes(key.scope, required)) throw outOfScope(key.scope, required)
  }

  /** Whether the caller's key or token is valid for the call, if the app is still as it was read. */
  admits({ actor }: Caller, app: CachedApp): boolean {
    if (actor.kind === 'user') return !app.revokedTokenKeys.has(actor.tokenKey)
    if (actor.kind !== 'app') return true
    const key = this.#validKey(actor, app)
    return key !== null && scopeIncludes(key.scope, actor.required)
  }

  #validKey({ keyHash }: KeyHolder, app: CachedApp): LoadedKey | null {
    const key = app.keys.get(keyHash)
    return key && this.#monotonic() < app.askedAt + key.left ? key : null
  }

  /** Notes that the database has just confirmed the app by which the caller was admitted. */
  confirm({ actor }: Caller): void {
    const known = actor.kind === 'app' && this.#keys.get(actor.keyHash)
    if (known) known.confirmedAt = this.#monotonic()
  }
}

const keyHolder = (appId: string, keyHash: string, scope: ApiKeyScope): AppCaller => ({
  appId,
  actor: { kind: 'app', keyHash, scope, required: 'ANY' },
})
