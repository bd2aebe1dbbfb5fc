import { buildSchema, type GraphQLResolveInfo, parse } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { adminSchema } from '../../src/graphql/admin/schema.ts'
import { clientSchema } from '../../src/graphql/client/schema.ts'
import { dashboardSchema } from '../../src/graphql/dashboard/schema.ts'
import { Executable } from '../../src/graphql/engine/executable.ts'
import {
  ADMIN_MUTATIONS,
  ADMIN_QUERIES,
  DASHBOARD_MUTATIONS,
  DASHBOARD_QUERIES,
} from '../../src/operations/registry/registry.ts'
import { serverWithStripe } from '../billing/server-with-stripe.ts'
import { EXAMPLES } from '../examples/examples.ts'
import { newTurn, type ReadyCall, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { Client, type Variables } from '../harness/client.ts'
import { COMPILED_USE, expectAlike, isCompiled } from '../harness/differential.ts'
import { holdJobs } from '../harness/hold-jobs.ts'
import { operationNames, wholeOperation } from '../harness/whole-operation.ts'

// Compiled or not, a document has the same answer: same data, same order of fields, same errors. graphql-js executes the
// first two uses of a document, compiled code the later ones: the second and the third answer are compared.

const client = clientSchema()

const { server, stripe } = serverWithStripe()
let world: World
let user: Client
beforeAll(async () => {
  // What a job does meanwhile would make two answers differ.
  await holdJobs(server.databaseUrl)
  world = await furnishWorld(server, { ...server, id: 'default' }, { stripe })
  const generateUserToken = await server.admin.call('generateUserToken { token }', { userId: 'ann' })
  user = new Client(`${server.url}/client/graphql`, { Authorization: generateUserToken.token })
})

describe('an executable document', () => {
  const schema = buildSchema('type Query { how(text: String): String }')
  const how = schema.getQueryType()?.getFields().how
  if (!how) throw new Error('no field')
  // Only graphql-js includes the type of each step in a path.
  how.resolve = (_root, _args, _context, { path }: GraphQLResolveInfo) =>
    path.typename === undefined ? 'compiled' : 'interpreted'
  const usesOf = async (query: string, names: (string | null)[]) => {
    const executable = new Executable(schema, parse(query))
    const uses: unknown[] = []
    for (const name of names) uses.push((await executable.run({}, {}, name)).data?.how)
    return uses
  }

  const SOLE = ['interpreted', 'interpreted', 'compiled', 'compiled']
  const NEVER = ['interpreted', 'interpreted', 'interpreted', 'interpreted']
  const DOCUMENTS = [
    { query: '{ how }', name: null, uses: SOLE },
    { query: 'query ($text: String) { how(text: $text) }', name: null, uses: SOLE },
    { query: 'query A { how }', name: 'A', uses: SOLE },
    { query: 'query A { how } query B { how }', name: 'A', uses: NEVER },
    { query: '{ how(text: "written out") }', name: null, uses: NEVER },
  ]
  it.each(DOCUMENTS)('is compiled at its third use, if ever: $query', async ({ query, name, uses }) => {
    expect(await usesOf(query, [name, name, name, name])).toEqual(uses)
  })
})

/** They end the session that the other calls need. */
const LAST = ['signIn', 'signOut', 'signOutEverywhere']
const DASHBOARD = [...DASHBOARD_QUERIES, ...DASHBOARD_MUTATIONS].toSorted(
  (a, b) => LAST.indexOf(a) - LAST.indexOf(b),
)
/** What it fails with when the session has ended. */
const ENDED: Record<string, string> = { signOutEverywhere: 'UNAUTHENTICATED' }

describe.each([
  { api: 'admin' as const, schema: adminSchema(), names: [...ADMIN_QUERIES, ...ADMIN_MUTATIONS] },
  { api: 'dashboard' as const, schema: dashboardSchema(), names: DASHBOARD },
])('every operation of the $api API, with every field', ({ api, schema, names }) => {
  it.each(names)('spec §4: %s is compiled and answered as before', async (name) => {
    const calls: ReadyCall[] = []
    for (let turn = 1; turn <= COMPILED_USE; turn++) {
      calls.push(await readyCall(api, name, newTurn(world, `${api}-${name}-turn${turn}`)))
    }
    const { client, document } = calls[0] as ReadyCall
    expect(isCompiled(schema, document)).toBe(true)
    const { errors } = await expectAlike(client, document, (turn) => calls[turn - 1]?.variables ?? {})
    const code = ENDED[name] ?? EXAMPLES[name].code
    expect(errors?.map((error) => error.extensions.code)).toEqual(code && [code])
  })
})

const CLIENT_QUERIES: Record<string, Variables> = {
  me: {},
  canUseFeature: { featureId: 'calls', delta: 3 },
  canUseFeatures: { featureIds: ['calls', 'none'] },
  showUsage: { featureId: 'calls' },
  package: { id: 'plan' },
  packages: {},
  subscriptions: {},
}

describe('every operation of the client API, with every field', () => {
  it('spec §4: has a row here', () => {
    expect(Object.keys(CLIENT_QUERIES).sort()).toEqual(operationNames(client, 'query').sort())
  })

  it.each(Object.keys(CLIENT_QUERIES))('spec §4: %s is compiled and answered as before', async (name) => {
    const query = wholeOperation(client, 'query', name)
    expect(isCompiled(client, query)).toBe(true)
    const { errors } = await expectAlike(user, query, () => CLIENT_QUERIES[name] ?? {})
    expect(errors).toBeUndefined()
  })
})
