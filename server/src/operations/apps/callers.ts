import type { AppCaller } from '../../store/apps/app-cache.ts'
import * as store from '../../store/apps/apps.ts'
import type { Service } from '../call/service.ts'

/** The app that an API key authenticates, by its hash in hex; null: none. */
export function callerWithKey({ apps, pool }: Service, keyHash: string): Promise<AppCaller | null> {
  return apps.authenticate(pool, keyHash)
}

/** Reads the current scope of the caller's key, which may have been changed since, and throws if it does not suffice. */
export async function confirmScope({ apps, pool }: Service, caller: AppCaller): Promise<void> {
  await apps.at(pool, caller)
}

/** Whether pages of this origin may use the client API of some app. */
export function isOriginOfAnyApp({ pool }: Service, origin: string): Promise<boolean> {
  return store.isOriginOfAnyApp(pool, origin)
}
