import { appMutations, appQueries } from './apps.ts'
import { billingEvents, billingMutations, billingQueries } from './billing.ts'
import { catalogueEvents, catalogueMutations, catalogueQueries } from './catalogue.ts'
import { creditMutations, creditQueries } from './credits.ts'
import type { AuditSentence, ForKeys, MutationEntry, QueryEntry } from './entry.ts'
import { eventMutations, eventQueries } from './events.ts'
import { homeMutations, homeQueries } from './home.ts'
import { memberEvents, memberMutations, memberQueries } from './members.ts'
import { subscriptionMutations, subscriptionQueries } from './subscriptions.ts'
import { userMutations, userQueries } from './users.ts'
import { webhookEvents, webhookMutations, webhookQueries } from './webhooks.ts'

const queries = {
  ...memberQueries,
  ...appQueries,
  ...catalogueQueries,
  ...homeQueries,
  ...userQueries,
  ...creditQueries,
  ...subscriptionQueries,
  ...billingQueries,
  ...eventQueries,
  ...webhookQueries,
}

const mutations = {
  ...memberMutations,
  ...appMutations,
  ...catalogueMutations,
  ...homeMutations,
  ...userMutations,
  ...creditMutations,
  ...subscriptionMutations,
  ...billingMutations,
  ...eventMutations,
  ...webhookMutations,
}

type QueryName = keyof typeof queries
export type MutationName = keyof typeof mutations

/** Every query of the Admin API and of the dashboard. */
export const QUERIES: Readonly<Record<QueryName, QueryEntry>> = queries

/** Every mutation of the Admin API and of the dashboard. */
export const MUTATIONS: Readonly<Record<MutationName, MutationEntry>> = mutations

/** The operations whose entry has these values. */
type NamesWith<Entries, Values> = {
  [Name in keyof Entries]: Entries[Name] extends Values ? Name : never
}[keyof Entries]

export type AdminQuery = NamesWith<typeof queries, { admin: true }>
export type AdminMutation = NamesWith<typeof mutations, { admin: true }>
export type DashboardQuery = NamesWith<typeof queries, { dashboard: true }>
export type DashboardMutation = NamesWith<typeof mutations, { dashboard: true }>
export type DashboardFile = NamesWith<typeof mutations, { dashboard: 'FILE' }>

/** The scope and the errors of each operation of the Admin API. */
export const FOR_KEYS: Readonly<Record<AdminQuery | AdminMutation, ForKeys>> = { ...queries, ...mutations }

const namesOf = <Name extends string>(entries: Record<Name, unknown>) => Object.keys(entries) as Name[]

const queryNames = namesOf(queries)
export const MUTATION_NAMES = namesOf(mutations)

export const ADMIN_QUERIES = queryNames.filter((name): name is AdminQuery => QUERIES[name].admin === true)
export const ADMIN_MUTATIONS = MUTATION_NAMES.filter(
  (name): name is AdminMutation => MUTATIONS[name].admin === true,
)
export const DASHBOARD_QUERIES = queryNames.filter(
  (name): name is DashboardQuery => QUERIES[name].dashboard === true,
)
export const DASHBOARD_MUTATIONS = MUTATION_NAMES.filter(
  (name): name is DashboardMutation => MUTATIONS[name].dashboard === true,
)

/** The sentence of each mutation, and of each event not caused by one. */
export const SENTENCES: ReadonlyMap<string, AuditSentence> = new Map<string, AuditSentence>([
  ...MUTATION_NAMES.flatMap((name) => {
    const { sentence } = MUTATIONS[name]
    return sentence === undefined ? [] : [[name, sentence] as const]
  }),
  ...Object.entries({ ...memberEvents, ...catalogueEvents, ...billingEvents, ...webhookEvents }),
])
