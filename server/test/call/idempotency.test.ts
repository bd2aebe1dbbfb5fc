import { pino } from 'pino'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unavailable } from '../../src/domain/errors.ts'
import { mutate } from '../../src/operations/call/mutate.ts'
import type { Service } from '../../src/operations/call/service.ts'
import { ADMIN_MUTATIONS, type AdminMutation } from '../../src/operations/registry/registry.ts'
import { AppCache } from '../../src/store/apps/app-cache.ts'
import { openPool } from '../../src/store/connection/database.ts'
import type { Turn } from '../examples/example.ts'
import { MUTATION_EXAMPLES } from '../examples/examples.ts'
import { newTurn, readyCall } from '../examples/run.ts'
import { furnishWorld, type World } from '../examples/world.ts'
import { publishPackage, type TestApp } from '../harness/catalogue.ts'
import type { Client, Variables } from '../harness/client.ts'
import { monotonic } from '../harness/clocks.ts'
import { createApp, MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Invariants: with one key an effect happens once, and a repeated request gets the first answer, to the byte; with that
// key nothing else is ever done.

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))

async function textOf(client: Client, query: string, variables: Variables = {}): Promise<string> {
  return (await client.post(JSON.stringify({ query, variables }))).text()
}

describe('every mutation with an Idempotency-Key', () => {
  let world: World
  beforeAll(async () => {
    world = await furnishWorld(server, { ...server, id: 'default' })
  })

  let turns = 0
  /** The example of a mutation, which is sent under a key of its own. */
  async function ready(name: AdminMutation) {
    const turn = newTurn(world, `${name}-${++turns}`)
    const { document, variables } = await readyCall('admin', name, turn)
    const keyed = world.admin.with({ 'Idempotency-Key': turn.id })
    return { turn, keyed, send: () => textOf(keyed, document, variables) }
  }

  const createOther = ({ id }: Turn) => `mutation { createUser(input: { id: "other-${id}" }) { id } }`

  it.each(ADMIN_MUTATIONS)('gap: idempotency: %s is done once and answered alike', async (name) => {
    const { answered, meanwhile, effect, once } = MUTATION_EXAMPLES[name].repeated
    const { turn, send } = await ready(name)
    const first = await send()
    for (const part of answered) expect(first).toContain(part)
    await world.admin.data(`mutation { ${meanwhile(turn)} }`)
    expect(await send()).toBe(first)
    expect(await world.admin.data(`{ ${effect(turn)} }`)).toEqual(once)
  })

  it.each(
    ADMIN_MUTATIONS,
  )('gap: idempotency: a key that %s used is refused to another request', async (name) => {
    const { turn, keyed, send } = await ready(name)
    const first = await send()
    const { extensions } = await keyed.error(createOther(turn))
    expect(extensions).toEqual({ code: 'IDEMPOTENCY_KEY_REUSED', type: 'Error', status: 409 })
    const absent = await world.admin.error(`{ user(id: "other-${turn.id}") { id } }`)
    expect(absent.extensions.code).toBe('USER_NOT_FOUND')
    expect(await send()).toBe(first)
  })

  it.each(ADMIN_MUTATIONS)('gap: idempotency: %s with a key that was used is refused', async (name) => {
    const { turn, keyed, send } = await ready(name)
    await keyed.data(createOther(turn))
    const state = () =>
      world.admin.data(`{
        users { id name } features { name } packages { metadata } subscriptions { status cancelAt }
        canUseFeature(userId: "${turn.user}", featureId: "calls") { access consumption { used } }
      }`)
    const before = await state()
    expect(JSON.parse(await send()).errors[0].extensions.code).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await state()).toEqual(before)
  })
})

let app: TestApp
let apps = 0
async function newApp(): Promise<void> {
  const id = `app-${++apps}`
  app = { id, admin: await createApp(server, id), dashboard: server.dashboard.of(id) }
  await publishPackage(app, 'plan', { call: { limit: 10 } })
  await publishPackage(app, 'rival', { call: { limit: 10 } })
  await app.admin.data(`mutation {
    ann: createUser(input: { id: "ann" }) { id }
    bob: createUser(input: { id: "bob" }) { id }
    subscribe(userId: "ann", packageIds: ["plan"]) { id }
    recordUsage(input: { userId: "ann", featureId: "call", delta: 4 }) { recorded }
  }`)
}

const keyed = (key: string): Client => app.admin.with({ 'Idempotency-Key': key })

const USED = 'canUseFeature(userId: "ann", featureId: "call") { consumption { used } }'
const used = (count: number) => ({ canUseFeature: { consumption: { used: count } } })

async function cancelAll(): Promise<void> {
  const { subscriptions } = await app.admin.data('{ subscriptions { id } }')
  for (const { id } of subscriptions) {
    await app.dashboard.call('cancelSubscription', { id, atPeriodEnd: false })
  }
}

describe('an answer under an Idempotency-Key', () => {
  beforeEach(newApp)

  const REFUSALS = [
    {
      name: 'a taken id',
      operation: 'createUser(input: { id: "bob" }) { id }',
      refusal: 'already exists',
      meanwhile: () => app.admin.data('mutation { updateUser(id: "bob", input: { id: "rob" }) { id } }'),
    },
    {
      name: 'a second base plan',
      operation: 'subscribe(userId: "ann", packageIds: ["rival"]) { id }',
      refusal: 'Cannot subscribe to multiple tiers',
      meanwhile: cancelAll,
    },
    {
      name: 'an unknown user',
      operation: 'generateUserToken(userId: "eve") { token }',
      refusal: 'USER_NOT_FOUND',
      meanwhile: () => app.admin.data('mutation { createUser(input: { id: "eve" }) { id } }'),
    },
    {
      name: 'usage that does not fit',
      operation: 'recordUsage(input: { userId: "ann", featureId: "call", delta: 7 }) { recorded reason }',
      refusal: '"recorded":false',
      meanwhile: () =>
        app.admin.data(
          'mutation { recordUsage(input: { userId: "ann", featureId: "call", delta: -4 }) { recorded } }',
        ),
    },
    {
      name: 'usage without a subscription',
      operation: 'recordUsage(input: { userId: "bob", featureId: "call", delta: 1 }) { recorded reason }',
      refusal: '"recorded":false',
      meanwhile: () => app.admin.data('mutation { subscribe(userId: "bob", packageIds: ["plan"]) { id } }'),
    },
  ]
  it.each(
    REFUSALS,
  )('gap: idempotency: $name stays refused under its key, and passes under another', async (row) => {
    const first = await textOf(keyed('k'), `mutation { ${row.operation} }`)
    expect(first).toContain(row.refusal)
    await row.meanwhile()
    expect(await textOf(keyed('k'), `mutation { ${row.operation} }`)).toBe(first)
    expect(await textOf(keyed('new'), `mutation { ${row.operation} }`)).not.toContain(row.refusal)
  })

  it('gap: idempotency: the answers of several mutations in one request are all repeated', async () => {
    const operation = `mutation {
      a: createUser(input: { id: "eve" }) { id }
      b: createUser(input: { id: "eve" }) { id }
      c: recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { consumption { used } }
      __proto__: recordUsage(input: { userId: "ann", featureId: "call", delta: 1 }) { consumption { used } }
      d: recordUsages(inputs: { userId: "ann", featureId: "call", delta: 1 }) { consumption { used } }
    }`
    const first = await textOf(keyed('k'), operation)
    expect(first).toContain(
      '"c":{"consumption":{"used":5}},"__proto__":{"consumption":{"used":6}},"d":[{"consumption":{"used":7}}]',
    )
    expect(first).toContain('already exists')
    await app.admin.data('mutation { updateUser(id: "eve", input: { id: "eva" }) { id } }')
    expect(await textOf(keyed('k'), operation)).toBe(first)
    expect(await app.admin.data(`{ ${USED} }`)).toEqual(used(7))
  })
})

describe('an Idempotency-Key elsewhere', () => {
  beforeEach(newApp)

  it('gap: idempotency: queries neither use nor take a key', async () => {
    const read = () => keyed('k').data(`{ ${USED} }`)
    expect(await read()).toEqual(used(4))
    await app.admin.call('recordUsage', { input: { userId: 'ann', featureId: 'call', delta: 2 } })
    expect(await read()).toEqual(used(6))
    await keyed('k').data('mutation { createUser(input: { id: "eve" }) { id } }')
    expect(await read()).toEqual(used(6))
  })

  const LENGTHS = [
    { key: '', code: 'BAD_REQUEST' },
    { key: 'k', code: undefined },
    { key: 'k'.repeat(255), code: undefined },
    { key: 'k'.repeat(256), code: 'BAD_REQUEST' },
  ]
  it.each(LENGTHS)('gap: idempotency: a header of $key.length characters', async ({ key, code }) => {
    const { errors } = await keyed(key).ask('mutation { createUser(input: { id: "eve" }) { id } }')
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(code && [code])
    const { users } = await app.admin.data('{ users { id } }')
    expect(users).toHaveLength(code ? 2 : 3)
  })
})

describe('a call that may work a moment later', () => {
  beforeEach(newApp)

  it('gap: idempotency: is done when its key comes again', async () => {
    const pool = openPool({ connectionString: server.databaseUrl }, { max: 1 }, pino({ level: 'silent' }))
    const call = {
      service: { pool, apps: new AppCache(monotonic) } as Service,
      appId: app.id,
      actor: { kind: 'user' as const, uid: 0, userId: '', tokenKey: '' },
      deadline: null,
      idempotency: { key: 'later', request: Buffer.from('the same'), field: 'field' },
    }
    const busy = async () => {
      throw unavailable('busy')
    }
    try {
      await expect(mutate(call, busy)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      expect(await mutate(call, async () => 'done')).toBe('done')
      expect(await mutate(call, busy)).toBe('done')
    } finally {
      await pool.end()
    }
  })
})
