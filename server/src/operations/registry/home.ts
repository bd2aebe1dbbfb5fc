import { type MutationEntry, none, type QueryEntry } from './entry.ts'

export const homeQueries = {
  checklist: { dashboard: true, role: 'VIEWER' },
  // These five first write the counts that this process has in memory.
  activity: { dashboard: true, role: 'VIEWER' },
  featureActivity: { dashboard: true, role: 'VIEWER' },
  featureTotals: { dashboard: true, role: 'VIEWER' },
  featureDenials: { dashboard: true, role: 'VIEWER' },
  latestEvents: { dashboard: true, role: 'VIEWER' },
  nearLimits: { dashboard: true, role: 'VIEWER' },
  creditFigures: { dashboard: true, role: 'VIEWER' },
} as const satisfies Record<string, QueryEntry>

export const homeMutations = {
  loadSample: {
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'sample', id: none },
    sentence: 'loaded the sample',
  },
  removeSample: {
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'sample', id: none },
    sentence: 'removed the sample',
  },
} as const satisfies Record<string, MutationEntry>
