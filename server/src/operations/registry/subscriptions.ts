import { by, byId, type MutationEntry, none, type QueryEntry } from './entry.ts'

export const subscriptionQueries = {
  subscription: { admin: true, scope: 'READ', dashboard: true, role: 'VIEWER' },
  subscriptions: { admin: true, scope: 'READ', dashboard: true, role: 'VIEWER', replica: true },
  subscriptionHistory: { dashboard: true, role: 'VIEWER' },
  changePreview: { dashboard: true, role: 'VIEWER' },
} as const satisfies Record<string, QueryEntry>

export const subscriptionMutations = {
  exportSubscriptions: {
    dashboard: 'FILE',
    role: 'VIEWER',
    subject: { kind: 'export', id: none },
    sentence: 'exported the list of subscriptions',
  },
  subscribe: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'subscriptions', id: by('userId') },
    sentence: 'subscribed the user {user}',
  },
  cancelSubscription: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'subscription', id: byId },
    sentence: 'cancelled the subscription of {user} to {package}',
  },
  keepSubscription: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'subscription', id: byId },
    sentence: 'reverted the cancellation of the subscription of {user} to {package}',
  },
  changeSubscription: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'subscriptions', id: by('userId') },
    sentence: 'changed the plan of the user {user}',
  },
  cancelScheduledChange: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'subscriptions', id: by('userId') },
    sentence: 'cancelled the scheduled change of the user {user}',
  },
  startTrial: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    archived: 'REFUSED',
    subject: { kind: 'subscriptions', id: by('userId') },
    sentence: 'started a trial for the user {user}',
  },
  extendTrial: {
    admin: true,
    scope: 'ALL',
    dashboard: true,
    role: 'EDITOR',
    subject: { kind: 'subscription', id: byId },
    sentence: 'extended the trial of {package} for {user}',
  },
} as const satisfies Record<string, MutationEntry>
