import type { DashboardMutation, DashboardQuery } from '../../operations/registry/registry.ts'
import type { Builder } from '../types/builder.ts'
import type { DashboardContext } from './context.ts'

/** Description of `userName`. */
export const USER_NAME = 'Name of the user, or the email of a user without a name.'

type DashboardBuilder = Builder<DashboardContext>
type QueryFields = Parameters<DashboardBuilder['queryFields']>[0]
type MutationFields = Parameters<DashboardBuilder['mutationFields']>[0]

/** `Fields`, all of whose names are in `Name`. For any other name, the compiler's message contains the text. */
type Only<Fields, Name> = Fields & { [Other in Exclude<keyof Fields, Name>]: 'not in the registry' }

/** Required text arguments, by name. */
const requiredArgs = ({ arg }: Pick<Parameters<QueryFields>[0], 'arg'>) => ({
  appId: arg.string({ required: true }),
  id: arg.string({ required: true }),
  userId: arg.string({ required: true }),
  packageId: arg.string({ required: true }),
  featureId: arg.string({ required: true }),
  provider: arg.string({ required: true }),
  name: arg.string({ required: true }),
  token: arg.string({ required: true }),
  password: arg.string({ required: true }),
  email: arg.string({ required: true }),
})

/** Defines queries of the dashboard. A query that is not in the registry does not compile. */
export function queryFields<Fields extends ReturnType<QueryFields>>(
  builder: DashboardBuilder,
  fields: (
    t: Parameters<QueryFields>[0],
    args: ReturnType<typeof requiredArgs>,
  ) => Only<Fields, DashboardQuery>,
): void {
  builder.queryFields((t) => fields(t, requiredArgs(t)))
}

/** Defines mutations of the dashboard. A mutation that is not in the registry does not compile. */
export function mutationFields<Fields extends ReturnType<MutationFields>>(
  builder: DashboardBuilder,
  fields: (
    t: Parameters<MutationFields>[0],
    args: ReturnType<typeof requiredArgs>,
  ) => Only<Fields, DashboardMutation>,
): void {
  builder.mutationFields((t) => fields(t, requiredArgs(t)))
}
