import type { ProviderRef } from '../../domain/provider-ref.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { snapshot } from '../../store/audit/snapshots.ts'
import type { Tx } from '../../store/connection/database.ts'
import { findUserByUid } from '../../store/users/users.ts'

/** Writes a provider's report about a locked user, with an audit entry if it changes their subscriptions. */
export async function auditedReport(
  tx: Tx,
  { appId, provider }: ProviderRef,
  uid: number,
  write: () => Promise<void>,
): Promise<void> {
  const user = await findUserByUid(tx, appId, uid)
  if (!user) throw new Error('a locked user no longer exists')
  const before = await snapshot(tx, 'subscriptions', appId, user.id)
  await write()
  const after = await snapshot(tx, 'subscriptions', appId, user.id)
  if (JSON.stringify(before) === JSON.stringify(after)) return
  await insertAuditEntry(tx, {
    actorKind: 'PROVIDER',
    memberEmail: provider,
    appId,
    operation: 'syncSubscription',
    subjectKind: 'subscriptions',
    subjectId: user.id,
    before,
    after,
  })
}
