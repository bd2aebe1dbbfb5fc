import type { Catalogue, CataloguedFeature } from '../../domain/catalogue.ts'
import {
  appNotFound,
  featureNotFound,
  packageNotFound,
  subscriptionNotFound,
  userNotFound,
} from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { Package } from '../../domain/package.ts'
import { loadApp } from '../../store/catalogue/catalogue.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { HomeDb, SessionPlaces, UserTx } from '../../store/connection/places.ts'
import { findSubscription, type SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { findUser, holdUser, lockUser, lockUserByUid, type UserRow } from '../../store/users/users.ts'

// Look up an object by id, or throw its not-found error. Invalid ids are not looked up: PostgreSQL rejects some of
// them.

export async function requireCatalogue(db: HomeDb, appId: string): Promise<Catalogue> {
  const app = isIdentifier(appId) ? await loadApp(db, appId) : null
  if (!app) throw appNotFound(appId)
  return app.catalogue
}

export function requireFeature(catalogue: Catalogue, id: string): CataloguedFeature {
  const feature = catalogue.features.get(id)
  if (!feature) throw featureNotFound(id)
  return feature
}

export function requirePackage(catalogue: Catalogue, id: string): Package {
  const found = catalogue.packages.get(id)
  if (!found) throw packageNotFound(id)
  return found
}

export async function requireUser(db: HomeDb, appId: string, id: string): Promise<UserRow> {
  const user = isIdentifier(id) ? await findUser(db, appId, id) : null
  if (!user) throw userNotFound(id)
  return user
}

/** The same; until the transaction ends the user is not deleted. */
export async function requireHeldUser(tx: Tx, appId: string, id: string): Promise<UserRow> {
  const user = isIdentifier(id) ? await holdUser(tx, appId, id) : null
  if (!user) throw userNotFound(id)
  return user
}

/** Locks the user until the transaction ends, so that changes of one user are serialised. */
export async function withLockedUser<T>(
  tx: { readonly places: SessionPlaces },
  appId: string,
  id: string,
  work: (tx: UserTx, user: UserRow) => Promise<T>,
): Promise<T> {
  if (!isIdentifier(id)) throw userNotFound(id)
  return tx.places.of(appId, id, async (db) => {
    const user = await lockUser(db, appId, id)
    if (!user) throw userNotFound(id)
    return work(db, user)
  })
}

/** The same for a user known by uid; null: the user was deleted. */
export function withLockedUid<T>(
  tx: { readonly places: SessionPlaces },
  appId: string,
  uid: number,
  work: (tx: UserTx) => Promise<T>,
): Promise<T | null> {
  return tx.places.ofUid(appId, uid, async (db) => ((await lockUserByUid(db, appId, uid)) ? work(db) : null))
}

export async function requireSubscription(
  db: HomeDb,
  appId: string,
  id: string,
  now: number,
): Promise<SubscriptionRow> {
  const subscription = isIdentifier(id) ? await findSubscription(db, appId, id, now) : null
  if (!subscription) throw subscriptionNotFound(id)
  return subscription
}
