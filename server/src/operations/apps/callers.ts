import type { AppCaller } from '../../store/apps/app-cache.ts'
import * as store from '../../store/apps/apps.ts'
import type { Service } from '../call/service.ts'

/** The app that an API key authenticates, by its hash in hex; null: none. */
export function callerWithKey({ apps, pool }: Service, keyHash: string): Promise<AppCaller | null> {
  return apps.authenticate(pool, keyHash)
}

/** Whether pages of this origin may use the client API of some app. */
export function isOriginOfAnyApp({ pool }: Service, origin: string): Promise<boolean> {
  return store.isOriginOfAnyApp(pool, origin)
}
