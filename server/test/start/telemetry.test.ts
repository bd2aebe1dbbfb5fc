import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stripeClient } from '../../src/billing/stripe/client.ts'
import { openTracing } from '../../src/telemetry/open-tracing.ts'
import { installTracing, traceHeaders, tracing } from '../../src/telemetry/tracing.ts'
import { Client } from '../harness/client.ts'
import { createDatabase, directSetting } from '../harness/database.ts'
import { API_KEY, spawnServer, startTestServer, type TestServer } from '../harness/server.ts'
import { CLIENT, FAILED, type ReceivedSpan, SERVER, startTraceReceiver } from '../harness/trace-receiver.ts'

// Spans go to a collector as OpenTelemetry's exporter sends them, over HTTP.

type Receiver = Awaited<ReturnType<typeof startTraceReceiver>>

const SETTINGS = (receiver: Receiver) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
})

const newTraceId = () => randomBytes(16).toString('hex')
const newSpanId = () => randomBytes(8).toString('hex')

const CHECK = '{ canUseFeature(userId: "ann", featureId: "calls") { access } }'
const RECORD = 'mutation { recordUsage(input: {userId: "ann", featureId: "calls", delta: 1}) { recorded } }'

/** A request that is part of a trace of its caller's. */
async function ask(url: string, query: string, { traceId = newTraceId(), flags = '01', headers = {} } = {}) {
  const callersSpan = newSpanId()
  const traceparent = `00-${traceId}-${callersSpan}-${flags}`
  const client = new Client(`${url}/graphql`, { Authorization: API_KEY, traceparent, ...headers })
  const response = await client.post(JSON.stringify({ query }))
  await response.text()
  return { traceId, callersSpan, requestId: response.headers.get('x-request-id') }
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.find((span) => span.name === name)

describe('gap: traces', () => {
  let receiver: Receiver
  let plain: TestServer
  let node: TestServer
  const warnings: string[] = []
  beforeAll(async () => {
    receiver = await startTraceReceiver()
    Object.assign(process.env, SETTINGS(receiver), {
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    })
    await openTracing({ protocol: 'http/json' }, (message) => warnings.push(message))
    plain = await startTestServer()
    node = await startTestServer({ databaseUrl: plain.databaseUrl, env: { TOLLGATE_PLAIN_HTTP: 'off' } })
  })
  afterAll(async () => {
    await node?.stop()
    await plain?.stop()
    await tracing?.close()
    installTracing(null)
    await receiver?.stop()
    expect(warnings).toEqual([])
  })

  it.for([
    ['the short path', () => plain.url],
    ['node:http', () => node.url],
  ] as const)('continue the trace of the caller, by %s', async ([, url]) => {
    const { traceId, callersSpan, requestId } = await ask(url(), CHECK)
    const spans = await receiver.trace(traceId, 3)
    const [request, operation, batch] = ['POST admin', 'canUseFeature', 'check batch'].map((name) =>
      named(spans, name),
    )
    expect(spans).toHaveLength(3)
    expect(request).toMatchObject({ parentSpanId: callersSpan, kind: SERVER, status: {} })
    expect(request?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': 'admin',
      'tollgate.outcome': 'ok',
      'tollgate.request_id': traceId,
    })
    expect(operation?.parentSpanId).toBe(request?.spanId)
    expect(batch).toMatchObject({ parentSpanId: operation?.spanId, kind: CLIENT })
    expect(batch?.attributes).toMatchObject({ 'db.system.name': 'postgresql' })
    expect(request?.resource).toMatchObject({
      'service.name': 'tollgate',
      'deployment.environment.name': 'test',
    })
    // The id that an answer and the log have leads to the trace.
    expect(requestId).toBe(traceId)
  })

  it('have the same operations below a request to REST', async () => {
    for (const { url } of [plain, node]) {
      const [traceId, callersSpan] = [newTraceId(), newSpanId()]
      const response = await fetch(`${url}/v1/check`, {
        method: 'POST',
        headers: {
          Authorization: API_KEY,
          'Content-Type': 'application/json',
          traceparent: `00-${traceId}-${callersSpan}-01`,
        },
        body: JSON.stringify({ userId: 'ann', featureId: 'calls' }),
      })
      expect([response.status, response.headers.get('x-request-id')]).toEqual([200, traceId])
      const spans = await receiver.trace(traceId, 3)
      expect(named(spans, 'POST /v1/check')?.parentSpanId).toBe(callersSpan)
      expect(named(spans, 'canUseFeature')?.parentSpanId).toBe(named(spans, 'POST /v1/check')?.spanId)
      expect(named(spans, 'check batch')?.parentSpanId).toBe(named(spans, 'canUseFeature')?.spanId)
    }
  })

  it('name the route of a request to REST, never the ids in its path', async () => {
    const traceId = newTraceId()
    await fetch(`${plain.url}/v1/users/ann/overrides`, {
      headers: { Authorization: API_KEY, traceparent: `00-${traceId}-${newSpanId()}-01` },
    })
    const [request] = (await receiver.trace(traceId, 2)).filter(({ name }) => name.startsWith('GET '))
    expect(request).toMatchObject({
      name: 'GET /v1/users/{id}/overrides',
      attributes: { 'http.route': '/v1/users/{id}/overrides' },
    })
  })

  it('keep the request id of the caller', async () => {
    const { traceId, requestId } = await ask(plain.url, RECORD, { headers: { 'X-Request-Id': 'mine-1' } })
    const spans = await receiver.trace(traceId, 3)
    expect(requestId).toBe('mine-1')
    expect(named(spans, 'POST admin')?.attributes['tollgate.request_id']).toBe('mine-1')
    expect(named(spans, 'record batch')?.parentSpanId).toBe(named(spans, 'recordUsage')?.spanId)
  })

  it('are linked by the batch that answers their calls', async () => {
    const asked = await Promise.all(Array.from({ length: 40 }, () => ask(plain.url, CHECK)))
    for (const { traceId } of asked) await receiver.trace(traceId, 2)
    const reached = new Set<string>()
    const unreached = async () => {
      for (let i = 0; i < 100; i++) {
        for (const span of receiver.spans.filter(({ name }) => name === 'check batch'))
          for (const { traceId } of [span, ...span.links]) reached.add(traceId)
        if (asked.every(({ traceId }) => reached.has(traceId))) return []
        await sleep(20)
      }
      return asked.filter(({ traceId }) => !reached.has(traceId))
    }
    expect(await unreached()).toEqual([])
  })

  it('have spans that failed only where the service did', async () => {
    const { traceId } = await ask(plain.url, '{ feature(id: "none") { id } }')
    const spans = await receiver.trace(traceId, 2)
    expect(spans.map(({ status }) => status.code ?? 0)).not.toContain(FAILED)
    expect(named(spans, 'POST admin')?.attributes['tollgate.outcome']).toBe('FEATURE_NOT_FOUND')
    expect(named(spans, 'feature')?.attributes['error.type']).toBe('FEATURE_NOT_FOUND')
    const failing = tracing?.span('failing', {}, async () => {
      throw new Error('out of order')
    })
    await expect(failing).rejects.toThrow('out of order')
    for (let i = 0; i < 100 && !named(receiver.spans, 'failing'); i++) await sleep(20)
    expect(named(receiver.spans, 'failing')?.status.code).toBe(FAILED)
  })

  it('begin here for a caller without one, or with one that makes no sense', async () => {
    for (const traceparent of [
      '',
      '00-0-0-01',
      `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`,
      'x'.repeat(500),
    ]) {
      const client = new Client(`${plain.url}/graphql`, { Authorization: API_KEY, traceparent })
      const response = await client.post(JSON.stringify({ query: '{ __typename }' }))
      const traceId = response.headers.get('x-request-id') ?? ''
      expect(traceId).toMatch(/^[0-9a-f]{32}$/)
      const [request] = await receiver.trace(traceId, 1)
      expect(request).toMatchObject({ name: 'POST admin', kind: SERVER })
      expect(request?.parentSpanId ?? '').toBe('')
    }
  })

  it('are passed on to Stripe, also one that the caller does not record', async () => {
    const heard: IncomingHttpHeaders[] = []
    const stripe = createServer((request, response) => {
      heard.push(request.headers)
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end('{"id":"cus_1","object":"customer"}')
    }).listen(0, '127.0.0.1')
    await once(stripe, 'listening')
    try {
      const client = await stripeClient(
        'sk_test_traced',
        `http://127.0.0.1:${(stripe.address() as AddressInfo).port}`,
      )
      for (const flags of ['01', '00']) {
        const traceId = newTraceId()
        const from = { traceparent: `00-${traceId}-${newSpanId()}-${flags}` }
        await tracing?.span('asking', { from }, () => client.customers.retrieve('cus_1'))
        const [, sentTrace, sentSpan, sentFlags] = String(heard.at(-1)?.traceparent).split('-')
        expect([sentTrace, sentFlags]).toEqual([traceId, flags])
        const spans = await receiver.trace(traceId, flags === '01' ? 2 : 0)
        if (flags === '00') continue
        expect(named(spans, 'GET Stripe')).toMatchObject({ kind: CLIENT, spanId: sentSpan })
        expect(named(spans, 'GET Stripe')?.attributes['http.response.status_code']).toBe(200)
      }
      expect(heard).toHaveLength(2)
      // Outside a request there is nothing to pass on.
      expect(traceHeaders()).toEqual({})
    } finally {
      stripe.close()
    }
  })
})

describe('gap: traces of the built service', () => {
  it('are sent before it stops, and the log names them', async () => {
    const receiver = await startTraceReceiver()
    const database = await createDatabase()
    const server = await spawnServer({
      ...SETTINGS(receiver),
      ...directSetting(database.url),
      OTEL_BSP_SCHEDULE_DELAY: '60000',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_SERVICE_NAME: 'entitlements',
      DATABASE_URL: database.url,
      TOLLGATE_LOG_LEVEL: 'debug',
      TOLLGATE_LOG_FORMAT: 'json',
    })
    try {
      const { traceId } = await ask(server.url, CHECK)
      expect(await server.kill('SIGTERM')).toBe(0)
      const spans = await receiver.trace(traceId, 3)
      expect(spans.map(({ name }) => name).sort()).toEqual(['POST admin', 'canUseFeature', 'check batch'])
      expect(spans[0]?.resource['service.name']).toBe('entitlements')
      const lines = server.output().split('\n')
      const answered = lines.find((line) => line.includes('request answered') && line.includes(traceId))
      expect(JSON.parse(answered ?? '{}')).toMatchObject({
        traceId,
        spanId: named(spans, 'POST admin')?.spanId,
        outcome: 'ok',
      })
    } finally {
      await server.kill('SIGKILL')
      await database.drop()
      await receiver.stop()
    }
  })

  it.for([
    ['is not loaded without its variables', false],
    ['is loaded with them, and sends protobuf unless told otherwise', true],
  ] as const)('OpenTelemetry %s', async ([, loaded]) => {
    const receiver = await startTraceReceiver()
    const database = await createDatabase()
    const coverage = await mkdtemp(join(tmpdir(), 'tollgate-loaded-'))
    const server = await spawnServer({
      ...(loaded ? SETTINGS(receiver) : { OTEL_SERVICE_NAME: 'entitlements' }),
      ...directSetting(database.url),
      DATABASE_URL: database.url,
      // Node writes down every script that it has loaded.
      NODE_V8_COVERAGE: coverage,
    })
    try {
      const { requestId, traceId } = await ask(server.url, CHECK)
      expect(requestId === traceId).toBe(loaded)
      expect(await server.kill('SIGTERM')).toBe(0)
      const files = await Promise.all(
        (await readdir(coverage)).map((name) => readFile(join(coverage, name), 'utf8')),
      )
      const urls = files.flatMap((text) => JSON.parse(text).result.map(({ url }: { url: string }) => url))
      expect(urls.some((url: string) => url.endsWith('/dist/main.js'))).toBe(true)
      expect(urls.some((url: string) => /opentelemetry|telemetry\.js/.test(url))).toBe(loaded)
      expect(receiver.requests.map(({ url, headers }) => [url, headers['content-type']])).toEqual(
        loaded ? [['/v1/traces', 'application/x-protobuf']] : [],
      )
    } finally {
      await server.kill('SIGKILL')
      await database.drop()
      await receiver.stop()
      await rm(coverage, { recursive: true })
    }
  })

  it('does without a collector, and says so in the log', async () => {
    const database = await createDatabase()
    const server = await spawnServer({
      ...directSetting(database.url),
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      DATABASE_URL: database.url,
      TOLLGATE_LOG_FORMAT: 'json',
    })
    try {
      for (let i = 0; i < 20; i++) expect((await ask(server.url, CHECK)).requestId).toBeTruthy()
      expect(await server.kill('SIGTERM')).toBe(0)
      expect(server.output()).toMatch(/OpenTelemetry: |the last traces/)
    } finally {
      await server.kill('SIGKILL')
      await database.drop()
    }
  })
})
