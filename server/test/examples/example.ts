import type {
  AdminMutation,
  AdminQuery,
  DashboardMutation,
  DashboardQuery,
} from '../../src/operations/registry/registry.ts'
import type { Data, Variables } from '../harness/client.ts'
import type { World } from './world.ts'

/** One run of an example, with ids of its own: many runs share a world. */
export interface Turn {
  world: World
  id: string
  /** how many of whatever an operation takes or shows several of; 1 or `world.count` */
  count: number
  /** the answers of the mutations that ran before it in this turn */
  made: Data
  /** the ids of what it creates */
  user: string
  feature: string
  package: string
  app: string
  price: string
  template: string
  email: string
}

/** A call of an operation as an application or a page makes it. Arguments of the other API only are left out. */
interface Example {
  /** mutations whose examples run first, in the same turn */
  after?: readonly (AdminMutation | DashboardMutation)[]
  /** The app of the world is added as `appId`. May first set up what no other example does. */
  args(turn: Turn): Variables | Promise<Variables>
  /** the error that it rightly fails with */
  code?: string
}

/** How many statements it takes, the same for one and for many unless `forMany` is given. */
interface Counted {
  statements: number
  forMany?: number
}

interface AdminQueryExample extends Example, Counted {}

interface MutationExample extends Example {
  /** the entry in the audit log; null: it has none, or a test of its own */
  audit: Data | ((turn: Turn) => Data) | null
}

interface AdminMutationExample extends MutationExample, Counted {
  /** statements of a call with an Idempotency-Key, and of its repetition */
  keyed: [first: number, again: number]
  repeated: Repetition
  /** an app does not look different afterwards */
  changesNothing?: true
}

/** What shows that a repeated request is answered as before and has no effect. */
interface Repetition {
  /** parts of the first answer, and so of all */
  answered: string[]
  /** a mutation of the same object between the two requests */
  meanwhile(turn: Turn): string
  /** a query of the object afterwards, and its answer if the request took effect once */
  effect(turn: Turn): string
  once: Data
}

export type QueryExamples = Record<AdminQuery, AdminQueryExample> &
  Record<Exclude<DashboardQuery, AdminQuery>, Example>

export type MutationExamples = Record<AdminMutation, AdminMutationExample> &
  Record<Exclude<DashboardMutation, AdminMutation>, MutationExample>

/** The start of today's test run, so that an example and what it is compared with name the same time. */
const TODAY = Date.now()
export const inDays = (days: number): string => new Date(TODAY + days * 86_400_000).toISOString()
