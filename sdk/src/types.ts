/** The public vocabulary: what the operations take and answer, by noun. */
export type * from './types/catalogue.ts'
export type * from './types/events.ts'
export type * from './types/credits.ts'
export type * from './types/overrides.ts'
export type * from './types/result.ts'
export type * from './types/subscriptions.ts'
export type * from './types/usage.ts'
export type * from './types/users.ts'
