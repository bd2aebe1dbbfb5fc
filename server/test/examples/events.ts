import type { QueryExamples } from './example.ts'

export const eventQueries = {
  events: { args: ({ count }) => ({ first: count, userId: 'ann', types: ['user.created'] }), statements: 5 },
} satisfies Partial<QueryExamples>
