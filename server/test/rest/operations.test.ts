import { beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_MUTATIONS, ADMIN_QUERIES } from '../../src/operations/registry/registry.ts'
import { serverWithStripe } from '../billing/server-with-stripe.ts'
import { EXAMPLES, MUTATION_EXAMPLES } from '../examples/examples.ts'
import { newTurn, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { madeAlike } from '../harness/differential.ts'
import { holdJobs } from '../harness/hold-jobs.ts'
import { operationNamed, type RestClient, restClient, restRequest } from '../harness/rest.ts'
import { API_KEY } from '../harness/server.ts'
import { answerChecker } from './answers.ts'

// Every operation of the Admin API, by its example: REST answers what GraphQL does, and as the OpenAPI document says.

const { server, stripe } = serverWithStripe()
const check = answerChecker()
let world: World
let rest: RestClient
beforeAll(async () => {
  // What a job does meanwhile would make two answers differ.
  await holdJobs(server.databaseUrl)
  world = await furnishWorld(server, { ...server, id: 'default' }, { stripe })
  rest = restClient(server.url, API_KEY)
})

const NAMES = [...ADMIN_QUERIES, ...ADMIN_MUTATIONS]

/** The result of an operation in GraphQL, in the form in which REST answers it. */
async function byGraphql(name: (typeof NAMES)[number], turn: string): Promise<unknown> {
  const { variables } = await readyCall('admin', name, newTurn(world, `${name}-${turn}`))
  const operation = operationNamed(name)
  const asked = Object.fromEntries(
    Object.entries(variables).filter(([argument]) => !operation.route.without?.includes(argument)),
  )
  const result = (await world.admin.data(operation.document, asked))[name]
  const { page } = operation.route
  if (page !== undefined) {
    const { [page]: data, ...rest } = result as Record<string, unknown>
    return { data, ...rest }
  }
  if (operation.result === 'ONE') return result
  return operation.result === 'LIST' ? { data: result } : { data: result, next: null }
}

describe('every operation', () => {
  it.each(NAMES)('gap: REST: %s answers what GraphQL answers', async (name) => {
    const operation = operationNamed(name)
    const { variables } = await readyCall('admin', name, newTurn(world, `${name}-turn1`))
    // Those that the other turn creates must not be on the page.
    const request = restRequest(operation, { ...variables })
    const answer = await rest.send(request)
    check(operation, answer)
    expect(answer.status).toBe(operation.status(variables))
    const { next, ...body } = answer.body ?? {}
    const expected = (await byGraphql(name, 'turn2')) as { next?: unknown }
    const { next: _, ...rows } = expected ?? {}
    expect(madeAlike(JSON.stringify(operation.result === 'PAGE' ? body : answer.body, null, 1))).toBe(
      madeAlike(JSON.stringify(operation.result === 'PAGE' ? rows : expected, null, 1)),
    )
    if (operation.result === 'PAGE') expect([null, expect.any(String)]).toContainEqual(next)
    expect(EXAMPLES[name].code).toBeUndefined()
  })

  it.each(ADMIN_MUTATIONS)('gap: REST: %s with an Idempotency-Key is done once', async (name) => {
    const turn = newTurn(world, `${name}-keyed`)
    const { variables } = await readyCall('admin', name, turn)
    const { meanwhile, effect, once } = MUTATION_EXAMPLES[name].repeated
    const operation = operationNamed(name)
    const keyed = rest.with({ 'Idempotency-Key': turn.id })
    const request = restRequest(operation, variables)
    const first = await keyed.send(request)
    expect(first.status).toBe(operation.status(variables))
    await world.admin.data(`mutation { ${meanwhile(turn)} }`)
    const second = await keyed.send(request)
    expect(second).toMatchObject({ status: first.status, text: first.text })
    expect(await world.admin.data(`{ ${effect(turn)} }`)).toEqual(once)
    // The same body at another path is another request.
    const other = await keyed.post('/v1/users', { id: `other-${turn.id}` })
    expect(other).toMatchObject({ status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    check(operationNamed('createUser'), other)
  })
})
