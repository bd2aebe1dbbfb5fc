import { appNotFound, TollgateError } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { type AppRow, lockApp } from '../../store/apps.ts'
import { type Tx, transaction } from '../../store/database.ts'
import type { Member } from '../../store/members.ts'
import type { Service } from '../call.ts'

/** One operation called by a person who has signed in to the dashboard. */
export interface MemberCall {
  service: Service
  member: Member
}

export const notSignedIn = () => new TollgateError('UNAUTHENTICATED', 'Sign in to the dashboard first')

/** Changes something of an app, one at a time with whatever else does. */
export function changeApp<T>(
  { service }: MemberCall,
  appId: string,
  change: (tx: Tx, app: AppRow) => Promise<T>,
): Promise<T> {
  return transaction(service.pool, async (tx) => {
    const app = isIdentifier(appId) ? await lockApp(tx, appId) : null
    if (!app) throw appNotFound(appId)
    return change(tx, app)
  })
}
