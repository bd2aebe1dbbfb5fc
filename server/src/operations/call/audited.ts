import { appNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { lockApp } from '../../store/apps.ts'
import { insertAuditEntry } from '../../store/audit.ts'
import type { Tx } from '../../store/database.ts'
import { snapshot } from '../../store/snapshots.ts'
import type { Call, InstallationCall } from './call.ts'
import { MUTATIONS } from './member-operations.ts'

/**
 * Makes a change; if a member makes it, the audit log gets the subject before and after, in the same transaction.
 * Members' changes to an app are serialised by its lock, so that both are accurate.
 */
export async function audited<T>(
  tx: Tx,
  { actor, appId }: Call | InstallationCall,
  change: () => Promise<T>,
): Promise<T> {
  if (actor.kind !== 'member') return change()
  if (appId !== null && !(isIdentifier(appId) && (await lockApp(tx, appId)))) throw appNotFound(appId)
  const { name, args } = actor.operation
  const about = MUTATIONS[name]?.about
  if (!about) return change()
  const look = (id: string | null) => snapshot(tx, about.kind, appId ?? '', id)
  const before = await look(named(about.id(args)))
  const result = await change()
  const subjectId = named(about.id(args, result))
  await insertAuditEntry(tx, {
    memberEmail: actor.member.email,
    appId,
    operation: name,
    subjectKind: about.kind,
    subjectId,
    before,
    after: await look(subjectId),
  })
  return result
}

/** The arguments may contain an id that cannot exist. */
const named = (id: string | null): string | null => (id !== null && isIdentifier(id) ? id : null)
