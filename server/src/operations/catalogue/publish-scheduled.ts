import { TollgateError } from '../../domain/errors.ts'
import type { ScheduledPublication } from '../../domain/publication.ts'
import { isAtLeast } from '../../domain/role.ts'
import { bumpVersion, lockApp } from '../../store/apps/apps.ts'
import { insertAuditEntry } from '../../store/audit/audit.ts'
import { snapshot } from '../../store/audit/snapshots.ts'
import { loadApp } from '../../store/catalogue/catalogue.ts'
import { setScheduled } from '../../store/catalogue/packages.ts'
import { type Tx, transaction, withSavepoint } from '../../store/connection/database.ts'
import { duePublications } from '../../store/jobs/due-publications.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import { findMemberById } from '../../store/members/members.ts'
import type { Service } from '../call/service.ts'
import { MUTATIONS } from '../registry/registry.ts'
import { publish } from './publish-package.ts'

/** Packages of one job, each in a transaction of its own. */
const PACKAGES_PER_JOB = 50

/**
 * Publishes packages whose time has come. The end of the wait is part of the same transaction as the publication, under
 * the app's lock: of jobs that a crash repeats, or that run in two processes, one publishes.
 */
export async function publishScheduled(service: Service): Promise<void> {
  const due = await duePublications(service.pool, PACKAGES_PER_JOB)
  const failed: unknown[] = []
  for (const { appId, packageId } of due) {
    // One package does not hold up the others.
    await transaction(service.pool, (tx) => publishOne(tx, appId, packageId)).catch((error) =>
      failed.push(error),
    )
  }
  if (failed.length > 0) throw failed[0]
  if (due.length === PACKAGES_PER_JOB)
    await addJob(service.pool, 'publish-scheduled', {}, 'publish-scheduled')
}

async function publishOne(tx: Tx, appId: string, packageId: string): Promise<void> {
  const app = await lockApp(tx, appId)
  const loaded = app && app.archivedAt === null && (await loadApp(tx, appId))
  const found = loaded ? loaded.catalogue.packages.get(packageId) : undefined
  const scheduled = found?.scheduled
  if (!loaded || !found || !scheduled || scheduled.problem !== null || scheduled.at > app.now) return
  const { author, note, reach } = scheduled
  const fail = (problem: string) => setScheduled(tx, appId, packageId, { ...scheduled, problem })
  const obstacle = await obstacleOf(tx, scheduled)
  if (obstacle !== null) {
    await fail(obstacle)
  } else {
    const before = await snapshot(tx, 'package', appId, packageId)
    const problem = await withSavepoint<string | null>(
      tx,
      async () => {
        await publish(tx, appId, found, loaded.catalogue, reach, { author, note }, app.now)
        await insertAuditEntry(tx, {
          memberEmail: author,
          appId,
          operation: 'scheduledPublication',
          subjectKind: 'package',
          subjectId: packageId,
          before,
          after: await snapshot(tx, 'package', appId, packageId),
        })
        return null
      },
      (error) => {
        if (!(error instanceof TollgateError) || error.retryAfter !== null) throw error
        return error.message
      },
    )
    if (problem !== null) await fail(problem)
  }
  await bumpVersion(tx, appId)
}

/** Why it cannot be published in the name of the member who scheduled it; null: it can. */
async function obstacleOf(tx: Tx, { memberId, author }: ScheduledPublication): Promise<string | null> {
  const member = await findMemberById(tx, memberId)
  if (!member) return `${author} was removed. Another member can publish it.`
  const { role } = MUTATIONS.publishPackage
  return role !== 'VISITOR' && isAtLeast(member.role, role)
    ? null
    : `${author} is a ${member.role.toLowerCase()} now. Another member can publish it.`
}
