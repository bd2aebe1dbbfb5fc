import type { MutationExamples, QueryExamples } from './example.ts'

const day = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', interval: 'HOUR' }

export const homeQueries = {
  checklist: { args: () => ({}) },
  activity: { args: () => day },
  featureActivity: { args: () => ({ id: 'calls', ...day }) },
  featureTotals: { args: () => ({}) },
  featureDenials: { args: () => ({ id: 'calls' }) },
  latestEvents: { args: () => ({ first: 5 }) },
  nearLimits: { args: () => ({ first: 5 }) },
  creditFigures: { args: () => ({}) },
} satisfies Partial<QueryExamples>

export const homeMutations = {
  loadSample: {
    after: ['createApp'],
    args: ({ app }) => ({ appId: app }),
    audit: { subjectKind: 'sample' },
  },
  removeSample: {
    after: ['loadSample'],
    args: ({ app }) => ({ appId: app }),
    audit: { subjectKind: 'sample' },
  },
} satisfies Partial<MutationExamples>
