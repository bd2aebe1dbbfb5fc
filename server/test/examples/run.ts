import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import {
  type AdminMutation,
  type AdminQuery,
  type DashboardMutation,
  type DashboardQuery,
  MUTATIONS,
} from '../../src/operations/registry/registry.ts'
import type { Client, Data, Variables } from '../harness/client.ts'
import { argumentNames, wholeOperation } from '../harness/whole-operation.ts'
import type { Turn } from './example.ts'
import { EXAMPLES, MUTATION_EXAMPLES } from './examples.ts'
import type { World } from './world.ts'

type Api = 'admin' | 'dashboard'
type MutationName = AdminMutation | DashboardMutation
type OperationName = AdminQuery | DashboardQuery | MutationName

const SCHEMAS = { admin: adminSchema(), dashboard: dashboardSchema() }

export function newTurn(world: World, id: string, count = world.count): Turn {
  return {
    world,
    id,
    count,
    made: {},
    user: `user-${id}`,
    feature: `feature-${id}`,
    package: `package-${id}`,
    app: `app-${id}`,
    price: `price-${id}`,
    template: `template-${id}`,
    email: `${id}@example.com`.toLowerCase(),
  }
}

export interface ReadyCall {
  client: Client
  /** selects every field and takes every argument from a variable */
  document: string
  variables: Variables
}

/** Sets up what the example of an operation needs, and returns its call. */
export async function readyCall(api: Api, name: OperationName, turn: Turn): Promise<ReadyCall> {
  const root = name in MUTATIONS ? 'mutation' : 'query'
  const example = EXAMPLES[name]
  for (const earlier of example.after ?? []) if (!(earlier in turn.made)) await run(earlier, turn)
  const args = await example.args(turn)
  const known = Object.values(SCHEMAS).flatMap((schema) => argumentNames(schema, root, name))
  const unknown = Object.keys(args).filter((argument) => !known.includes(argument))
  if (unknown.length > 0) throw new Error(`${name} has no argument ${unknown}`)
  const schema = SCHEMAS[api]
  const given: Variables = { appId: turn.world.id, ...args }
  const taken = argumentNames(schema, root, name).filter((argument) => argument in given)
  return {
    client: turn.world[api],
    document: wholeOperation(schema, root, name),
    variables: Object.fromEntries(taken.map((argument) => [argument, given[argument]])),
  }
}

async function run(name: MutationName, turn: Turn): Promise<void> {
  const api = MUTATIONS[name].admin ? 'admin' : 'dashboard'
  const { client, document, variables } = await readyCall(api, name, turn)
  turn.made[name] = (await client.data(document, variables))[name]
}

/** What the audit log must say of the example of a mutation. */
export function auditEntry(name: MutationName, turn: Turn): Data {
  const { audit } = MUTATION_EXAMPLES[name]
  if (!audit) throw new Error(`the example of ${name} has no audit entry`)
  return typeof audit === 'function' ? audit(turn) : audit
}
