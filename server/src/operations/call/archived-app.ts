import { badUserInput, quote } from '../../domain/errors.ts'
import type { Call } from './call.ts'

/**
 * What an archived app refuses: everything that gives somebody something new, or changes what is on offer. Checks, records
 * and whatever ends or repairs something go on: a click in the dashboard must not break a running application.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'createUser',
  'subscribe',
  'startTrial',
  'changeSubscription',
  'setOverride',
  'generateSubscriptionLink',
  'createFeature',
  'updateFeature',
  'createPackage',
  'updatePackage',
  'editPackage',
  'publishPackage',
  'migrateSubscriptions',
  'copyCatalogue',
  'loadSample',
  'createPrice',
  'importPrice',
  'createBillingTemplate',
])

/** Refuses what would be new in an archived app. */
export function checkTakesNew(actor: Call['actor'], appId: string, archived: boolean): void {
  const name = actor.kind === 'user' ? null : actor.operation?.name
  if (archived && name && REFUSED.has(name)) {
    throw badUserInput(`The app ${quote(appId)} is archived. Restore it in the dashboard first.`)
  }
}
