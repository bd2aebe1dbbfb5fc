import { readFileSync } from 'node:fs'
import { buildSchema, isInputObjectType, isRequiredInputField } from 'graphql'
import { describe, expect, it } from 'vitest'
import { REQUIRED_FIELDS } from '../src/arguments.ts'
import { TollgateClient } from '../src/browser.ts'
import { DOCUMENTS } from '../src/documents.ts'
import { type CallError, Tollgate } from '../src/node.ts'

const told: CallError[] = []
const onError = (error: CallError) => told.push(error)
const unreached: typeof fetch = () => Promise.reject(new Error('nothing may be sent'))
const tollgate = new Tollgate({ apiKey: 'k', fetch: unreached, onError, queue: {}, cache: {} })
const page = new TollgateClient({ baseUrl: 'http://a.example', token: 'a.b.c', fetch: unreached, onError })

/** As a program without types may call. */
type Untyped<Client> = {
  [Name in keyof Client]: (...args: unknown[]) => Promise<{ data: unknown; error: CallError | null }>
}
const t = tollgate as unknown as Untyped<Tollgate>
const p = page as unknown as Untyped<TollgateClient>

type Row = [call: string, answer: ReturnType<typeof t.user>, field: string | null, message: RegExp]
const CALL = { userId: 'ann', featureId: 'calls' }

const ROWS: (() => Row)[] = [
  () => ['feature()', t.feature(), null, /^The arguments of feature must be an object, not undefined$/],
  () => ['features(null)', t.features(null), null, /must be an object, not null/],
  () => ['features({ first })', t.features({ first: 1.5 }), 'first', /^first must be an integer, not 1.5$/],
  () => ['canUseFeature()', t.canUseFeature(), null, /must be an object/],
  () => ['canUseFeature({})', t.canUseFeature({}), 'userId', /^userId must be a string, not undefined$/],
  () => ['delta NaN', t.canUseFeature({ ...CALL, delta: Number.NaN }), 'delta', /not NaN/],
  () => ['canUseFeatures()', t.canUseFeatures({ userId: 'ann' }), 'featureIds', /must be a list/],
  () => ['featureIds[1]', t.canUseFeatures({ userId: 'ann', featureIds: ['a', 1] }), 'featureIds', /\[1\]/],
  () => ['showUsage', t.showUsage({ userId: 7, featureId: 'calls' }), 'userId', /must be a string, not 7/],
  () => ['package()', t.package(), null, /must be an object/],
  () => ['package', t.package({ id: 'a', includeFeatures: 1 }), 'includeFeatures', /true or false, not 1/],
  () => ['packages', t.packages('DRAFT'), null, /must be an object, not "DRAFT"/],
  () => ['user', t.user({ id: ['ann'] }), 'id', /must be a string, not a list/],
  () => ['users', t.users({ after: {} }), 'after', /must be a string, not an object/],
  () => ['subscription', t.subscription({ id: () => 'x' }), 'id', /not a function/],
  () => ['subscriptions', t.subscriptions({ userId: 1n }), 'userId', /not a bigint/],
  () => ['createFeature()', t.createFeature(), 'input', /^input must be an object, not undefined$/],
  () => ['createFeature', t.createFeature({ id: 'f', name: 'F' }), 'type', /^input.type must be a string/],
  () => ['updateFeature', t.updateFeature({ id: 'f' }), 'input', /must be an object/],
  () => ['createPackage', t.createPackage({ id: 'p' }), 'name', /input.name/],
  () => ['updatePackage', t.updatePackage({ input: {} }), 'id', /must be a string/],
  () => ['createUser', t.createUser(null), 'input', /not null/],
  () => ['updateUser()', t.updateUser(), null, /must be an object/],
  () => ['deleteUser()', t.deleteUser(), null, /must be an object/],
  () => ['exportUser', t.exportUser({ id: 'ann', after: 1 }), 'after', /must be a string, not 1/],
  () => [
    'usageSeries',
    t.usageSeries({ featureId: 'calls', from: 7, to: '2027-01-01T00:00:00Z', bucket: 'DAY' }),
    'from',
    /must be a string, not 7/,
  ],
  () => ['events', t.events({ types: 'user.created' }), 'types', /a list, not "user.created"/],
  () => ['subscribe', t.subscribe({ userId: 'ann', packageIds: 'plan' }), 'packageIds', /a list, not "plan"/],
  () => ['subscribe()', t.subscribe(), null, /must be an object/],
  () => [
    'cancelSubscription',
    t.cancelSubscription({ id: 's', atPeriodEnd: 'now' }),
    'atPeriodEnd',
    /true or false, not "now"/,
  ],
  () => ['keepSubscription', t.keepSubscription({ id: 1 }), 'id', /must be a string, not 1/],
  () => ['overrides', t.overrides({ userId: 5 }), 'userId', /must be a string, not 5/],
  () => ['setOverride()', t.setOverride(), 'input', /must be an object/],
  () => ['setOverride', t.setOverride(CALL), 'mode', /^input.mode must be a string/],
  () => ['removeOverride', t.removeOverride({ userId: 'ann' }), 'featureId', /must be a string/],
  () => ['credits', t.credits({ userId: 'ann', state: 1 }), 'state', /must be a string, not 1/],
  () => ['reservations', t.reservations({ userId: 5 }), 'userId', /must be a string, not 5/],
  () => ['addCredit', t.addCredit(CALL), 'amount', /^input.amount must be an integer/],
  () => ['voidCredit', t.voidCredit({ id: 1 }), 'id', /must be a string, not 1/],
  () => [
    'generateCreditLink',
    t.generateCreditLink({ userId: 'ann', priceId: 'p', quantity: 'x', successUrl: 'u', cancelUrl: 'u' }),
    'quantity',
    /must be an integer/,
  ],
  () => ['autoRecharges', t.autoRecharges({ userId: 1 }), 'userId', /must be a string, not 1/],
  () => ['setAutoRecharge()', t.setAutoRecharge(), 'input', /must be an object/],
  () => ['removeAutoRecharge', t.removeAutoRecharge({ userId: 'ann' }), 'featureId', /must be a string/],
  () => ['caps', t.caps({ userId: 1 }), 'userId', /must be a string, not 1/],
  () => ['setCap()', t.setCap(), 'input', /must be an object/],
  () => ['removeCap', t.removeCap({ userId: 'ann', featureId: 'calls' }), 'period', /must be a string/],
  () => ['reserveUsage()', t.reserveUsage(), 'input', /must be an object/],
  () => ['extendReservation', t.extendReservation({ id: 'r', add: 'x' }), 'add', /must be an integer/],
  () => ['settleReservation', t.settleReservation({ id: 'r' }), 'amount', /must be an integer/],
  () => ['releaseReservation()', t.releaseReservation(), null, /must be an object/],
  () => ['migration', t.migration({ id: 1 }), 'id', /must be a string, not 1/],
  () => [
    'migrateSubscriptions',
    t.migrateSubscriptions({ packageId: 'plan', fromVersion: '1', toVersion: 2 }),
    'fromVersion',
    /must be an integer, not "1"/,
  ],
  () => ['undoMigration', t.undoMigration({}), 'id', /must be a string/],
  () => [
    'changeSubscription',
    t.changeSubscription({ userId: 'u', packageId: 'p', quantity: '2' }),
    'quantity',
    /must be an integer, not "2"/,
  ],
  () => ['cancelScheduledChange', t.cancelScheduledChange({}), 'userId', /must be a string, not undefined/],
  () => [
    'startTrial',
    t.startTrial({ userId: 'u', packageId: 'p', days: 1.5 }),
    'days',
    /an integer, not 1.5/,
  ],
  () => ['extendTrial', t.extendTrial({ id: 's' }), 'until', /must be a string, not undefined/],
  () => ['recordUsage()', t.recordUsage(), 'input', /must be an object/],
  () => [
    'recordUsage',
    t.recordUsage({ ...CALL, delta: '1' }),
    'delta',
    /input.delta must be an integer, not "1"/,
  ],
  () => ['recordUsages()', t.recordUsages(), 'inputs', /must be a list/],
  () => [
    'recordUsages',
    t.recordUsages([{ ...CALL, delta: 1 }, null]),
    'inputs',
    /inputs\[1\] must be an object/,
  ],
  () => ['webhookEndpoints', t.webhookEndpoints(5), null, /options of a call must be an object, not 5/],
  () => ['webhookDeliveries', t.webhookDeliveries({}), 'endpointId', /must be a string/],
  () => ['createWebhookEndpoint', t.createWebhookEndpoint({}), 'url', /^input.url must be a string/],
  () => ['updateWebhookEndpoint', t.updateWebhookEndpoint({ id: 'we_1' }), 'input', /must be an object/],
  () => ['rotateWebhookSecret', t.rotateWebhookSecret({}), 'id', /must be a string/],
  () => ['deleteWebhookEndpoint', t.deleteWebhookEndpoint({ id: 1 }), 'id', /must be a string, not 1/],
  () => ['sendTestEvent', t.sendTestEvent({}), 'endpointId', /must be a string/],
  () => ['resendEvents', t.resendEvents({ endpointId: 'we_1' }), 'eventIds', /must be a list/],
  () => ['resendFailedEvents', t.resendFailedEvents({}), 'endpointId', /must be a string/],
  () => ['generateUserToken', t.generateUserToken({}), 'userId', /must be a string/],
  () => ['graphql()', t.graphql(), 'query', /must be a string/],
  () => ['options', t.users({}, 5), null, /options of a call must be an object, not 5/],
  () => ['signal', t.users({}, { signal: 'stop' }), 'signal', /must be an AbortSignal/],
  () => ['timeout', t.users({}, { timeout: -1 }), 'timeout', /positive number of milliseconds, not -1/],
  () => ['retry', t.users({}, { retry: 3 }), 'retry', /must be a function, not 3/],
  () => ['retry of graphql', t.graphql('{ a }', {}, { retry: 3 }), 'retry', /must be a function/],
  () => [
    'key',
    t.createUser({ id: 'a' }, { idempotencyKey: 'a\nb' }),
    'idempotencyKey',
    /valid HTTP header value/,
  ],
  () => ['a getter that throws', t.user(trap()), null, /cannot be serialized: Error: trap/],
  () => ['metadata', t.createUser({ id: 'a', metadata: { n: 1n } }), null, /cannot be sent.*BigInt/],
  () => ['a page’s canUse()', p.canUse(), 'featureId', /^featureId must be a string$/],
  () => ['a page’s canUse', p.canUse('a', { delta: 'many' }), 'delta', /^delta must be an integer$/],
  () => ['a page’s usage', p.usage(5, null), 'featureId', /must be a string/],
  () => ['a page’s signal', p.packages({ signal: {} }), 'signal', /must be an AbortSignal/],
]

const trap = () => ({
  get id(): string {
    throw new Error('trap')
  },
})

describe('bad arguments', () => {
  it('give an error that says which, without a request, and `onError` is called', async () => {
    for (const row of ROWS) {
      told.length = 0
      const [call, answer, field, message] = row()
      const { data, error } = await answer
      expect({ call, data, name: error?.name, code: error?.code, field: error?.field }).toEqual({
        call,
        data: null,
        name: 'Error',
        code: 'BAD_USER_INPUT',
        field,
      })
      expect(error?.response.status).toBe(400)
      expect(error?.message).toMatch(message)
      expect(told).toEqual([error])
    }
  })

  it('every operation has its row here', () => {
    const calls = ROWS.map((row) => row.toString())
    const missing = Object.keys(DOCUMENTS).filter(
      (name) => !calls.some((call) => call.includes(`t.${name}(`)),
    )
    expect(missing).toEqual([])
  })

  it('are not kept by the queue, nor do they leave anything in it', async () => {
    await t.recordUsage({ ...CALL, delta: '1' })
    expect(await tollgate.flush()).toEqual({ waiting: 0 })
  })

  it('leave others of the same request alone, in a page', async () => {
    const fetch: typeof globalThis.fetch = async () =>
      new Response(JSON.stringify({ data: { canUseFeatures: [{ featureId: 'calls', access: true }] } }))
    const client = new TollgateClient({ baseUrl: 'http://a.example', token: 'a.b.c', fetch })
    const untyped = client as unknown as Untyped<TollgateClient>
    const [good, bad] = await Promise.all([client.canUse('calls'), untyped.canUse(undefined)])
    expect(good.data?.access).toBe(true)
    expect(bad?.error?.code).toBe('BAD_USER_INPUT')
  })

  it('of null and undefined where something may be left out are no arguments at all', async () => {
    const seen: string[] = []
    const fetch: typeof globalThis.fetch = async (_, init) => {
      seen.push(String(init?.body))
      return new Response('{"data":{"users":[]}}')
    }
    const untyped = new Tollgate({ apiKey: 'k', fetch }) as unknown as Untyped<Tollgate>
    expect((await untyped.users({ first: null }, null)).error).toBeNull()
    expect((await untyped.users(undefined, { signal: null })).error).toBeNull()
    expect(seen).toHaveLength(2)
  })
})

describe('the fields that an input must have', () => {
  const schema = buildSchema(
    readFileSync(new URL('../../server/schema/admin.graphql', import.meta.url), 'utf8'),
  )
  const inputs = Object.values(DOCUMENTS).flatMap((text) => /\w+Input(?=!)/.exec(text) ?? [])

  it.each([...new Set(inputs.map(String))])('of %s are the schema’s', (name) => {
    const type = schema.getType(name)
    if (!isInputObjectType(type)) throw new Error(`${name} is no input`)
    const required = Object.values(type.getFields())
      .filter(isRequiredInputField)
      .map((field) => `$${field.name}: ${field.type}`)
    expect(
      (REQUIRED_FIELDS[name] ?? '')
        .split(/ (?=\$)/)
        .filter(Boolean)
        .toSorted(),
    ).toEqual(required.toSorted())
  })
})
