import { appMutations, appQueries } from './apps.ts'
import { billingMutations, billingQueries } from './billing.ts'
import { catalogueMutations, catalogueQueries } from './catalogue.ts'
import { creditMutations, creditQueries } from './credits.ts'
import { eventMutations, eventQueries } from './events.ts'
import type { MutationExamples, QueryExamples } from './example.ts'
import { homeMutations, homeQueries } from './home.ts'
import { memberMutations, memberQueries } from './members.ts'
import { subscriptionMutations, subscriptionQueries } from './subscriptions.ts'
import { userMutations, userQueries } from './users.ts'
import { webhookMutations, webhookQueries } from './webhooks.ts'

// An operation of the registry without an example does not compile.

const QUERY_EXAMPLES: QueryExamples = {
  ...memberQueries,
  ...appQueries,
  ...catalogueQueries,
  ...homeQueries,
  ...userQueries,
  ...creditQueries,
  ...subscriptionQueries,
  ...billingQueries,
  ...webhookQueries,
  ...eventQueries,
}

export const MUTATION_EXAMPLES: MutationExamples = {
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

/** The example of every operation. */
export const EXAMPLES = { ...QUERY_EXAMPLES, ...MUTATION_EXAMPLES }
