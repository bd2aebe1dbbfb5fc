import type { Catalogue } from '../../domain/catalogue.ts'
import { eventData, type NewEvent } from '../../domain/event.ts'
import { entitlementOf } from '../../domain/package.ts'

/** The event of a package, with the grants of the package at the time when the event is published in the log. */
export function packageObject(event: NewEvent, catalogue: Catalogue): NewEvent {
  const { object, previous } = event.data
  const found = catalogue.packages.get(String(object.id))
  if (!found) return event
  const features = found.features.map(entitlementOf)
  const { isAddon, metadata } = found
  return { ...event, data: eventData({ ...object, isAddon, metadata, features }, previous) }
}
