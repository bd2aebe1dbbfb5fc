import { type Catalogue, checkRoomInHistory } from '../../domain/catalogue.ts'
import { badUserInput } from '../../domain/errors.ts'
import { checkText } from '../../domain/identifier.ts'
import type { Package, PackageEdit } from '../../domain/package.ts'
import { publicationTime, type Reach } from '../../domain/publication.ts'
import { setSpends } from '../../store/catalogue/features.ts'
import { type Authorship, addToHistory } from '../../store/catalogue/package-history.ts'
import {
  applyPackageEdit,
  publishPackage as markPublished,
  setScheduled,
} from '../../store/catalogue/packages.ts'
import type { Tx } from '../../store/connection/database.ts'
import type { Call } from '../call/call.ts'
import { mutatePackage } from './mutate-package.ts'

interface PublishInput {
  reach: Reach
  note: string | null
  /** null: now */
  at: string | null
}

/**
 * Publishes a package, or its draft as the next version: for all subscriptions, only for new ones, or for each at the
 * end of its period. Publishing again without a draft changes nothing. With a time, it is published then
 * (publish-scheduled.ts); a scheduled publication is replaced.
 */
export function publishPackage(call: Call, id: string, { reach, note, at }: PublishInput): Promise<Package> {
  if (note !== null) checkText('note', note)
  return mutatePackage(call, id, async (tx, found, { catalogue }, now) => {
    if (at !== null)
      return schedule(tx, call, found, catalogue, { reach, note, at: publicationTime(at, now) })
    await publish(tx, call.appId, found, catalogue, reach, { author: authorOf(call), note }, now)
  })
}

/** The email address of the member who makes a version; null: another caller. */
export const authorOf = ({ actor }: Call): string | null =>
  actor.kind === 'member' ? actor.member.email : null

/** Ends the wait for a publication; its draft stays. Without one, nothing changes. */
export function cancelScheduledPublication(call: Call, id: string): Promise<Package> {
  return mutatePackage(call, id, async (tx, { scheduled }) => {
    if (scheduled) await setScheduled(tx, call.appId, id, null)
  })
}

async function schedule(
  tx: Tx,
  { appId, actor }: Call,
  found: Package,
  catalogue: Catalogue,
  input: { reach: Reach; note: string | null; at: number },
): Promise<void> {
  if (actor.kind !== 'member') throw new Error('only a member schedules a publication')
  if (found.status === 'PUBLISHED' && !found.draft)
    throw badUserInput('The package has no unpublished edits to schedule', 'at')
  if (found.draft && input.reach !== 'ALL') checkRoomInHistory(catalogue, found.id)
  const { id: memberId, email: author } = actor.member
  await setScheduled(tx, appId, found.id, { ...input, memberId, author, problem: null })
}

/** Publishes the package now, in this transaction, and ends the wait for a scheduled publication. The app is locked. */
export async function publish(
  tx: Tx,
  appId: string,
  found: Package,
  catalogue: Catalogue,
  reach: Reach,
  { author, note }: Authorship,
  now: number,
): Promise<void> {
  const { id } = found
  await flagCapped(tx, appId, found.draft ?? found)
  if (found.scheduled) await setScheduled(tx, appId, id, null)
  if (found.status === 'DRAFT') await markPublished(tx, appId, id, now, { author, note })
  if (!found.draft) return
  if (reach !== 'ALL') checkRoomInHistory(catalogue, id)
  await addToHistory(tx, appId, id, {
    position: found.history + 1,
    kind: 'PUBLISHED',
    from: found.version,
    to: found.version + 1,
    reach,
    at: now,
    features: found.features,
    id: null,
    author,
    note,
  })
  await applyPackageEdit(tx, appId, id, found.draft, now)
}

/** Makes checks and records of features with caps read the counts of those. The app is locked. */
async function flagCapped(tx: Tx, appId: string, { features }: Pick<PackageEdit, 'features'>): Promise<void> {
  const capped = features.filter(({ caps }) => caps)
  if (capped.length > 0)
    await setSpends(
      tx,
      appId,
      capped.map(({ featureId }) => featureId),
    )
}
