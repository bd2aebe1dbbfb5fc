import { appNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import { type AppRow, lockApp } from '../../store/apps.ts'
import { insertAuditEntry } from '../../store/audit.ts'
import { type Tx, transaction } from '../../store/database.ts'
import type { Member } from '../../store/members.ts'
import { snapshot } from '../../store/snapshots.ts'
import type { Service } from './call.ts'
import type { Deadline } from './deadline.ts'
import { type Args, MUTATIONS } from './member-operations.ts'

/** One operation called by a person who has signed in to the dashboard. */
export interface MemberCall {
  service: Service
  member: Member
  deadline: Deadline | null
  /** what was called, for the audit log */
  operation: { name: string; args: Args }
}

/** Changes something of an app, one at a time with whatever else does; the audit log says who did. */
export function changeApp<T>(
  call: MemberCall,
  appId: string,
  change: (tx: Tx, app: AppRow) => Promise<T>,
): Promise<T> {
  const work = async (tx: Tx) => {
    const app = isIdentifier(appId) ? await lockApp(tx, appId) : null
    if (!app) throw appNotFound(appId)
    return noted(tx, call, appId, () => change(tx, app))
  }
  return transaction(call.service.pool, work, call.deadline)
}

/** The same for what belongs to no app. */
export function changeInstallation<T>(call: MemberCall, change: (tx: Tx) => Promise<T>): Promise<T> {
  return transaction(call.service.pool, (tx) => noted(tx, call, null, () => change(tx)), call.deadline)
}

/** Does it, and writes down in the same transaction what there was before and after. */
async function noted<T>(
  tx: Tx,
  { member, operation: { name, args } }: MemberCall,
  appId: string | null,
  change: () => Promise<T>,
): Promise<T> {
  const about = MUTATIONS[name]?.about
  if (!about) return change()
  const look = (id: string | null) => snapshot(tx, about.kind, appId ?? '', id)
  const before = await look(named(about.id(args)))
  const result = await change()
  const subjectId = named(about.id(args, result))
  await insertAuditEntry(tx, {
    memberEmail: member.email,
    appId,
    operation: name,
    subjectKind: about.kind,
    subjectId,
    before,
    after: await look(subjectId),
  })
  return result
}

/** What was called may have named nothing that there could be. */
const named = (id: string | null): string | null => (id !== null && isIdentifier(id) ? id : null)
