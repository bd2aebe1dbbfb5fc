import { by, type MutationEntry, type QueryEntry } from './entry.ts'

export const eventQueries = {
  events: { admin: true, role: 'VIEWER', scope: 'READ', errors: ['EVENTS_EXPIRED'], replica: true },
  userEvents: { dashboard: true, role: 'VIEWER', replica: true },
  eventSettings: { dashboard: true, role: 'VIEWER' },
} as const satisfies Record<string, QueryEntry>

export const eventMutations = {
  updateEventSettings: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'app', id: by('appId') },
    sentence: 'changed the event settings',
  },
} as const satisfies Record<string, MutationEntry>
