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
import { readInCellOf } from '../../store/cells/read-in-cell.ts'
import type { Db } from '../../store/connection/database.ts'
import { findSubscription, type SubscriptionRow } from '../../store/subscriptions/subscriptions.ts'
import { findUser, lockUser, type UserRow } from '../../store/users/users.ts'

// Look up an object by id, or throw its not-found error. An id that cannot exist is not even looked up: PostgreSQL
// would choke on some of them.

export async function foundCatalogue(db: Db, appId: string): Promise<Catalogue> {
  const app = isIdentifier(appId) ? await loadApp(db, appId) : null
  if (!app) throw appNotFound(appId)
  return app.catalogue
}

export function foundFeature(catalogue: Catalogue, id: string): CataloguedFeature {
  const feature = catalogue.features.get(id)
  if (!feature) throw featureNotFound(id)
  return feature
}

export function foundPackage(catalogue: Catalogue, id: string): Package {
  const found = catalogue.packages.get(id)
  if (!found) throw packageNotFound(id)
  return found
}

/** On a connection that has entered no cell. */
export async function foundUser(db: Db, appId: string, id: string): Promise<UserRow> {
  const find = () => readInCellOf(db, appId, id, (cell, nameOf) => findUser(cell, appId, id, nameOf('users')))
  const user = isIdentifier(id) ? await find() : null
  if (!user) throw userNotFound(id)
  return user
}

export async function lockedUser(db: Db, appId: string, id: string): Promise<UserRow> {
  const user = isIdentifier(id) ? await lockUser(db, appId, id) : null
  if (!user) throw userNotFound(id)
  return user
}

export async function foundSubscription(
  db: Db,
  appId: string,
  id: string,
  now: number,
): Promise<SubscriptionRow> {
  const subscription = isIdentifier(id) ? await findSubscription(db, appId, id, now) : null
  if (!subscription) throw subscriptionNotFound(id)
  return subscription
}
