import type { QueryEntry } from './entry.ts'

export const eventQueries = {
  events: { admin: true, role: 'VIEWER', scope: 'READ', replica: true },
} as const satisfies Record<string, QueryEntry>
