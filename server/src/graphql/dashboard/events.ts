import { eventSettings, updateEventSettings } from '../../operations/events/event-settings.ts'
import { userEvents } from '../../operations/events/user-events.ts'
import type { EventSettings } from '../../store/apps/event-settings.ts'
import type { EventRow } from '../../store/events/event-log.ts'
import type { Builder } from '../types/builder.ts'
import { EVENT_TYPE_NAMES } from '../types/event-types.ts'
import { definePage } from '../types/page-type.ts'
import { isoTime } from '../types/time.ts'
import { appCall, type DashboardContext } from './context.ts'
import { mutationFields, queryFields } from './fields.ts'

/** The event log, and its settings. */
export function defineEvents(builder: Builder<DashboardContext>): void {
  const event = builder.objectRef<EventRow>('UserEvent').implement({
    fields: (t) => ({
      id: t.exposeString('id'),
      type: t.exposeString('type'),
      at: t.string({
        description: "Time of the event, by the app's clock.",
        resolve: ({ at }) => isoTime(at),
      }),
      sequence: t.expose('sequence', { type: 'SafeInt' }),
      data: t.expose('data', { type: 'JSON' }),
    }),
  })
  const userPage = definePage<EventRow>(builder, 'UserEventPage', event)
  const settings = builder.objectRef<EventSettings>('EventSettings').implement({
    fields: (t) => ({
      usageRecorded: t.exposeBoolean('usageRecorded', {
        description: 'Whether each recorded call is an event (`usage.recorded`).',
      }),
      keptDays: t.exposeInt('keptDays', { description: 'Number of days that events are kept.' }),
    }),
  })
  queryFields(builder, (t, { appId, userId }) => ({
    userEvents: t.field({
      type: userPage,
      description: 'Events of a user, newest first.',
      args: {
        appId,
        userId,
        types: t.arg.stringList({ description: EVENT_TYPE_NAMES }),
        first: t.arg.int({ defaultValue: 50 }),
        after: t.arg.string(),
      },
      resolve: (_, { appId, userId, ...query }, context) =>
        userEvents(appCall(context, appId), userId, query),
    }),
    eventSettings: t.field({
      type: settings,
      args: { appId },
      resolve: (_, { appId }, context) => eventSettings(appCall(context, appId)),
    }),
  }))
  mutationFields(builder, (t, { appId }) => ({
    updateEventSettings: t.field({
      type: settings,
      description: 'Changes the settings of events. Omitted values are not changed.',
      args: { appId, usageRecorded: t.arg.boolean(), keptDays: t.arg.int() },
      resolve: (_, { appId, usageRecorded, keptDays }, context) =>
        updateEventSettings(appCall(context, appId), {
          usageRecorded: usageRecorded ?? null,
          keptDays: keptDays ?? null,
        }),
    }),
  }))
}
