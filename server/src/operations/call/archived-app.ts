import { badUserInput, quote } from '../../domain/errors.ts'
import { MUTATIONS } from '../registry/registry.ts'
import type { Call } from './call.ts'

/**
 * Rejects mutations that add something new to an archived app. Checks, usage recording and everything that ends or
 * repairs something still work: a click in the dashboard must not break a running application.
 */
export function checkTakesNew(actor: Call['actor'], appId: string, archived: boolean): void {
  const mutation = actor.kind === 'user' ? null : actor.mutation
  if (archived && mutation && MUTATIONS[mutation.name].archived === 'REFUSED') {
    throw appIsArchived(appId)
  }
}

export const appIsArchived = (appId: string) =>
  badUserInput(`The app ${quote(appId)} is archived. Restore it in the dashboard first.`)
