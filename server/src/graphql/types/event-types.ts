import { cursorOf, EVENT_TYPES } from '../../domain/event.ts'
import type { EventPage } from '../../operations/events/events.ts'
import type { EventRow } from '../../store/events/event-log.ts'
import type { Builder } from './builder.ts'
import { isoTime } from './time.ts'

export const EVENTS = `Events of the app, in the order of their publication. Store \`next\` and pass it as \`after\` to continue: no event is skipped or returned twice. Without \`after\`, the result starts with the oldest event that is kept.`

export const EVENT_TYPE_NAMES = `Types of the events to return: ${EVENT_TYPES.join(', ')}. Default: all.`

export function defineEventTypes<Context extends object>(builder: Builder<Context>) {
  const event = builder.objectRef<EventRow>('Event').implement({
    description: 'Something that happened in the app.',
    fields: (t) => ({
      id: t.exposeString('id', { description: 'Unique ID of the event.' }),
      type: t.exposeString('type', { description: 'Type of the event, such as `subscription.created`.' }),
      at: t.string({
        description: "Time of the event (ISO 8601), by the app's clock.",
        resolve: ({ at }) => isoTime(at),
      }),
      userId: t.exposeString('userId', {
        nullable: true,
        description:
          'ID of the user at that time; null if the event is about no user, or the user was deleted.',
      }),
      sequence: t.expose('sequence', {
        type: 'SafeInt',
        description: 'Position of the event. An event with a higher sequence was published later.',
      }),
      cursor: t.string({
        description: 'Cursor of the event: pass it as `after` to continue after this event.',
        resolve: ({ sequence }) => cursorOf(sequence),
      }),
      data: t.expose('data', {
        type: 'JSON',
        description:
          'Payload: `object` is the state after the event, `previous` the earlier values of changed fields.',
      }),
    }),
  })
  return builder.objectRef<EventPage>('EventPage').implement({
    fields: (t) => ({
      nodes: t.field({ type: [event], resolve: ({ nodes }) => nodes }),
      next: t.exposeString('next', {
        description: 'Cursor to continue from, also if there are no further events yet.',
      }),
    }),
  })
}
