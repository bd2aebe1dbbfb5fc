import type { DashboardMutation, DashboardQuery } from '../../operations/registry/registry.ts'
import type { Builder } from '../types/builder.ts'
import type { DashboardContext } from './context.ts'

type DashboardBuilder = Builder<DashboardContext>
type QueryFields = Parameters<DashboardBuilder['queryFields']>[0]
type MutationFields = Parameters<DashboardBuilder['mutationFields']>[0]

/** `Fields`, all of whose names are in `Name`. For any other name, the compiler's message contains the text. */
type Only<Fields, Name> = Fields & { [Other in Exclude<keyof Fields, Name>]: 'not in the registry' }

/** Defines queries of the dashboard. A query that is not in the registry does not compile. */
export function queryFields<Fields extends ReturnType<QueryFields>>(
  builder: DashboardBuilder,
  fields: (t: Parameters<QueryFields>[0]) => Only<Fields, DashboardQuery>,
): void {
  builder.queryFields(fields)
}

/** Defines mutations of the dashboard. A mutation that is not in the registry does not compile. */
export function mutationFields<Fields extends ReturnType<MutationFields>>(
  builder: DashboardBuilder,
  fields: (t: Parameters<MutationFields>[0]) => Only<Fields, DashboardMutation>,
): void {
  builder.mutationFields(fields)
}
