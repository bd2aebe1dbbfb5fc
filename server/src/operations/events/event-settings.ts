import { badUserInput } from '../../domain/errors.ts'
import { MAX_EVENT_DAYS } from '../../domain/limits.ts'
import { type EventSettings, readEventSettings, writeEventSettings } from '../../store/apps/event-settings.ts'
import { requireApp } from '../apps/apps.ts'
import type { Call } from '../call/call.ts'
import { mutateCatalogue } from '../call/mutate.ts'

export async function eventSettings({
  service,
  appId,
}: Pick<Call, 'service' | 'appId'>): Promise<EventSettings> {
  await requireApp(service.pool, appId)
  return readEventSettings(service.pool, appId)
}

/** Null: unchanged. A shorter retention deletes older events within minutes. */
export async function updateEventSettings(
  call: Call,
  change: { usageRecorded: boolean | null; keptDays: number | null },
): Promise<EventSettings> {
  const { appId } = call
  const { keptDays } = change
  if (keptDays !== null && (keptDays < 1 || keptDays > MAX_EVENT_DAYS))
    throw badUserInput(`keptDays must be from 1 to ${MAX_EVENT_DAYS}`, 'keptDays')
  // Processes keep the setting with the catalogue.
  return mutateCatalogue(
    call,
    (tx) => writeEventSettings(tx, appId, change),
    (_, tx) => readEventSettings(tx, appId),
  )
}
