import type { Catalogue } from '../../domain/catalogue.ts'
import { eventData, type NewEvent } from '../../domain/event.ts'

/** The event of a package, with what the package grants. It has that of the moment of its publication in the log. */
export function packageObject(event: NewEvent, catalogue: Catalogue): NewEvent {
  const { object, previous } = event.data
  const found = catalogue.packages.get(String(object.id))
  if (!found) return event
  const features = found.features.map(({ featureId, limit, resetPeriod, overageEnabled }) => ({
    featureId,
    limit,
    resetPeriod,
    overageEnabled,
  }))
  const { isAddon, metadata } = found
  return { ...event, data: eventData({ ...object, isAddon, metadata, features }, previous) }
}
