import type { MutationExamples, QueryExamples } from './example.ts'

export const eventQueries = {
  events: { args: ({ count }) => ({ first: count, userId: 'ann', types: ['user.created'] }), statements: 5 },
  userEvents: { args: () => ({ userId: 'ann', first: 2, types: ['user.created'] }) },
  eventSettings: { args: () => ({}) },
} satisfies Partial<QueryExamples>

export const eventMutations = {
  updateEventSettings: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app, usageRecorded: true, keptDays: 7 }),
    audit: {
      sentence: 'changed the event settings',
      subjectKind: 'app',
      before: { usageRecorded: false, eventDays: 30 },
      after: { usageRecorded: true, eventDays: 7 },
    },
  },
} satisfies Partial<MutationExamples>
