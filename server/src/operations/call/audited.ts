import { appNotFound } from '../../domain/errors.ts'
import { isIdentifier } from '../../domain/identifier.ts'
import type { JsonObject } from '../../domain/metadata.ts'
import { lockApp } from '../../store/apps/apps.ts'
import { insertAuditEntry, insertKeyEntry } from '../../store/audit/audit.ts'
import { snapshot } from '../../store/audit/snapshots.ts'
import type { Tx } from '../../store/connection/database.ts'
import { MUTATIONS } from '../registry/registry.ts'
import { checkTakesNew } from './archived-app.ts'
import type { AppActor, Call, InstallationCall, MemberActor, RunningMutation } from './call.ts'

/**
 * Makes a change and writes its audit entry, with the subject before and after, in one transaction. A call that changed
 * nothing has no entry.
 *
 * Members' changes to an app are serialised by its lock, so both states are accurate. An application's changes are not:
 * the state before is read as soon as the change has its own locks (`locked`).
 */
export function audited<T>(
  tx: Tx,
  call: Call | InstallationCall,
  change: (locked: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const { actor, appId } = call
  if (actor.kind === 'user') return change(nothing)
  const { mutation } = actor
  if (!mutation) throw new Error('a call that only reads must not change anything')
  if (actor.kind === 'member') return byMember(tx, actor, mutation, appId, () => change(nothing))
  if (appId === null) throw new Error('an API key belongs to an app')
  return byKey(tx, actor, mutation, appId, change)
}

const nothing = async () => {}

async function byMember<T>(
  tx: Tx,
  actor: MemberActor,
  { name, args }: RunningMutation,
  appId: string | null,
  change: () => Promise<T>,
): Promise<T> {
  if (appId !== null) {
    const app = isIdentifier(appId) ? await lockApp(tx, appId) : null
    if (!app) throw appNotFound(appId)
    checkTakesNew(actor, appId, app.archivedAt !== null)
  }
  const { subject } = MUTATIONS[name]
  if (!subject) return change()
  const look = (id: string | null) => snapshot(tx, subject.kind, appId ?? '', id)
  const before = subject.isNew ? null : await look(named(subject.id(args)))
  const result = await change()
  if (changedNothing(result)) return result
  const subjectId = named(subject.id(args, result))
  await insertAuditEntry(tx, {
    memberEmail: actor.member.email,
    appId,
    operation: name,
    subjectKind: subject.kind,
    subjectId,
    before,
    after: await look(subjectId),
  })
  return result
}

async function byKey<T>(
  tx: Tx,
  { keyHash }: AppActor,
  { name, args }: RunningMutation,
  appId: string,
  change: (locked: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const entry = MUTATIONS[name]
  if (!entry.subject || entry.auditedFor === 'MEMBERS') return change(nothing)
  const { subject } = entry
  let before: JsonObject | null | undefined = subject.isNew && null
  const locked = async () => {
    if (before === undefined) before = await snapshot(tx, subject.kind, appId, named(subject.id(args)))
  }
  const result = await change(locked)
  if (changedNothing(result)) return result
  await insertKeyEntry(tx, keyHash, {
    appId,
    operation: name,
    subjectKind: subject.kind,
    subjectId: named(subject.id(args, result)),
    before: before ?? null,
  })
  return result
}

/** Mutations return null or false if their subject did not exist, and `recorded: false` for rejected usage. */
const changedNothing = (result: unknown): boolean =>
  result === null ||
  result === false ||
  (Array.isArray(result) ? result.length > 0 && result.every(isRefusedUsage) : isRefusedUsage(result))

const isRefusedUsage = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'recorded' in result && result.recorded === false

/** The arguments may contain an id that cannot exist. */
const named = (id: string | null): string | null => (id !== null && isIdentifier(id) ? id : null)
