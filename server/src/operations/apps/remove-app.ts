import { counted, deletionRefusal } from '../../domain/deletion.ts'
import { badUserInput, quote } from '../../domain/errors.ts'
import { type AppRow, bumpVersion, lockApp } from '../../store/apps/apps.ts'
import * as store from '../../store/apps/remove-app.ts'
import { transaction } from '../../store/connection/database.ts'
import { addJob } from '../../store/jobs/jobs.ts'
import type { Call, InstallationCall } from '../call/call.ts'
import { mutate } from '../call/mutate.ts'
import type { Service } from '../call/service.ts'
import { lookingUp } from '../catalogue/reach.ts'
import { mutateKeys } from './api-keys.ts'
import { requireApp } from './apps.ts'
import { DEFAULT_APP } from './first-start.ts'

/** Archives or restores an app. At least one app stays in use. */
export function archiveApp(call: Call, archived: boolean): Promise<AppRow> {
  const { appId } = call
  return mutate(call, async (tx) => {
    await store.lockAppRemoval(tx)
    if (archived && !(await store.isAnotherInUse(tx, appId))) {
      throw badUserInput(`${quote(appId)} is the only active app. Create or restore another app first.`)
    }
    await store.archiveApp(tx, appId, archived)
    await bumpVersion(tx, appId)
    return requireApp(tx, appId)
  })
}

/** The data that would be deleted with an app, and whether it can be deleted. */
export interface AppUse extends store.AppContent, store.StillPaid {
  /** reason why it cannot be deleted; null: it can */
  refusal: string | null
}

export async function appUse(call: Call): Promise<AppUse> {
  const app = await requireApp(call.service.pool, call.appId)
  return lookingUp(call, async (tx) => {
    const paying = await store.stillPaid(tx, app.id, null)
    return { ...(await store.countAppContent(tx, app.id)), ...paying, refusal: keptBecause(app, paying) }
  })
}

/**
 * Deleting an app cannot be undone, so its id must be typed as a confirmation. Its rows are deleted in the background.
 */
export function deleteApp(call: InstallationCall, appId: string, confirmed: string): Promise<{ id: string }> {
  return mutateKeys(call, async (tx) => {
    await store.lockAppRemoval(tx)
    await requireApp(tx, appId)
    const app = await lockApp(tx, appId)
    if (!app) throw new Error(`the app ${appId} no longer exists`)
    if (confirmed !== appId)
      throw badUserInput(`confirm must be the ID of the app: ${quote(appId)}`, 'confirm')
    const refusal = keptBecause(app, await store.stillPaid(tx, appId, null))
    if (refusal !== null) throw badUserInput(refusal, 'appId')
    await store.beginAppDeletion(tx, appId)
    await addJob(tx, 'delete-app', { appId }, jobKey(appId))
    return { id: appId }
  })
}

function keptBecause({ id, archivedAt }: AppRow, { paid, openLinks }: store.StillPaid): string | null {
  if (id === DEFAULT_APP)
    return `The app ${quote(id)} is created at every start and cannot be deleted. Archive it instead.`
  const reasons = [
    counted('has', paid, 'paid subscription', 'paid subscriptions'),
    counted('has', openLinks, 'open payment link', 'open payment links'),
  ]
  const paying = deletionRefusal(
    'app',
    id,
    reasons,
    'Cancel the subscriptions, and wait for the payment links to expire.',
  )
  if (paying !== null) return paying
  return archivedAt === null ? `The app ${quote(id)} is not archived. Archive it first.` : null
}

const jobKey = (appId: string) => `delete-app:${appId}`

/** Takes a fraction of a second. */
const BATCH_SIZE = 10_000

/** Deletes the next rows of an app. Each batch is a job, so that a large app delays neither locks nor a shutdown. */
export async function deleteAppRows({ longQueries }: Service, appId: string): Promise<void> {
  await transaction(longQueries, async (tx) => {
    const more = await store.deleteAppBatch(tx, appId, BATCH_SIZE)
    if (more) await addJob(tx, 'delete-app', { appId }, jobKey(appId))
  })
}

/** Resumes deletions whose job failed for good, for example after a day without a database. */
export async function resumeAppDeletions({ pool }: Service): Promise<void> {
  for (const appId of await store.appsBeingDeleted(pool)) {
    await addJob(pool, 'delete-app', { appId }, jobKey(appId))
  }
}
