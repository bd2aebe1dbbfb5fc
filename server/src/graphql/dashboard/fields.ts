import type { DashboardMutation, DashboardQuery } from '../../operations/registry/registry.ts'
import type { Builder } from '../types/builder.ts'
import type { DashboardContext } from './context.ts'

type DashboardBuilder = Builder<DashboardContext>
type QueryFields = Parameters<DashboardBuilder['queryFields']>[0]
type MutationFields = Parameters<DashboardBuilder['mutationFields']>[0]

/** Fields of which each is one of `Name`. For another, the compiler's message contains the text. */
type Only<Fields, Name> = Fields & { [Other in Exclude<keyof Fields, Name>]: 'not in the registry' }

/** Defines queries of the dashboard. One that the registry does not list does not compile. */
export function queryFields<Fields extends ReturnType<QueryFields>>(
  builder: DashboardBuilder,
  fields: (t: Parameters<QueryFields>[0]) => Only<Fields, DashboardQuery>,
): void {
  builder.queryFields(fields)
}

/** Defines mutations of the dashboard. One that the registry does not list does not compile. */
export function mutationFields<Fields extends ReturnType<MutationFields>>(
  builder: DashboardBuilder,
  fields: (t: Parameters<MutationFields>[0]) => Only<Fields, DashboardMutation>,
): void {
  builder.mutationFields(fields)
}
