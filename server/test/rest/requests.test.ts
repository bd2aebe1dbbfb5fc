import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_BATCH, MAX_BODY_BYTES, MAX_PAGE } from '../../src/domain/limits.ts'
import { createUsers, newTestApp, publishPackage, type TestApp } from '../harness/catalogue.ts'
import { RestClient } from '../harness/rest.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

describe.each(['on', 'off'])('gap: REST: requests, with TOLLGATE_PLAIN_HTTP=%s', (TOLLGATE_PLAIN_HTTP) => {
  const server = shared(() => startTestServer({ env: { TOLLGATE_PLAIN_HTTP } }))
  let app: TestApp
  let rest: RestClient
  beforeAll(async () => {
    app = await newTestApp(server)
    rest = new RestClient(server.url, { ...app.admin.headers })
    await publishPackage(app, 'pro', { calls: { limit: 10 } })
    await createUsers(app.admin, ['ann', 'bob', 'a/b?c#d%', 'größe🎉'])
    await app.admin.call('subscribe', { userId: 'ann', packageIds: ['pro'] })
  })

  const CHECK = { userId: 'ann', featureId: 'calls' }
  const key = () => app.admin.headers.Authorization ?? ''

  describe('credentials', () => {
    it.each([
      ['bare', () => key()],
      ['after Bearer', () => `Bearer ${key()}`],
    ])('takes a key %s', async (_, authorization) => {
      const client = new RestClient(server.url, { Authorization: authorization() })
      expect(await client.post('/v1/check', CHECK)).toMatchObject({ status: 200, body: { access: true } })
      expect(await client.get('/v1/users/ann')).toMatchObject({ status: 200, body: { id: 'ann' } })
    })

    it.each([
      ['no key', {}],
      ['a wrong key', { Authorization: 'wrong' }],
    ])('answers 401 to %s, before it reads the request', async (_, headers: Record<string, string>) => {
      const client = new RestClient(server.url, headers)
      for (const answer of [
        await client.post('/v1/check', { nonsense: true }),
        await client.get('/v1/users?nonsense=1'),
        await client.delete('/v1/users/ann'),
      ]) {
        expect(answer).toMatchObject({
          status: 401,
          body: { code: 'UNAUTHENTICATED', title: 'Unauthenticated' },
        })
        expect(answer.headers.get('www-authenticate')).toBe('Bearer')
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
      }
    })

    it('refuses the token of a user', async () => {
      const { body } = await rest.post('/v1/user-tokens', { userId: 'ann' })
      const client = new RestClient(server.url, { Authorization: body?.token })
      expect(await client.get('/v1/users')).toMatchObject({ status: 401 })
    })
  })

  describe('routes', () => {
    it.each([
      '/v1/nothing',
      '/v1',
      '/v1/',
      '/v1/users/',
      '/v1/users/ann/',
      '/v1/users//export',
      '/v1/users/ann/nothing',
      '/v1/Users',
      '/v1/check/1',
    ])('answers 404 to %s', async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await rest.raw(method, path)
        expect(answer).toMatchObject({ status: 404, body: { code: 'NOT_FOUND', status: 404 } })
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
      }
    })

    it.each([
      ['GET', '/v1/check', 'POST'],
      ['PUT', '/v1/users', 'GET, HEAD, POST'],
      ['POST', '/v1/users/ann', 'GET, HEAD, PATCH, DELETE'],
      ['OPTIONS', '/v1/users', 'GET, HEAD, POST'],
      ['PATCH', '/v1/users/ann/overrides/calls', 'PUT, DELETE'],
      ['POST', '/v1/openapi.json', 'GET, HEAD'],
    ])('answers 405 to %s %s, and allows %s', async (method, path, allow) => {
      const answer = await rest.raw(method, path)
      expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED', status: 405 } })
      expect(answer.headers.get('allow')).toBe(allow)
    })

    it('answers a HEAD like a GET, without a body', async () => {
      const get = await rest.get('/v1/users/ann')
      const head = await rest.raw('HEAD', '/v1/users/ann')
      expect(head).toMatchObject({ status: 200, text: '' })
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
      expect(await rest.raw('HEAD', '/v1/users/nobody')).toMatchObject({ status: 404, text: '' })
    })

    it.each(['a/b?c#d%', 'größe🎉'])('finds the id %s in a path', async (id) => {
      const path = `/v1/users/${encodeURIComponent(id)}`
      expect(await rest.get(path)).toMatchObject({ status: 200, body: { id } })
      expect(await rest.patch(path, { name: 'N' })).toMatchObject({ status: 200, body: { id, name: 'N' } })
      expect(await rest.get(`${path}/overrides`)).toMatchObject({
        status: 200,
        body: { data: [], next: null },
      })
    })

    it.each(['/v1/users/%ff', '/v1/users/%', '/v1/users/a%2'])('answers 400 to %s', async (path) => {
      expect(await rest.get(path)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } })
    })

    it('serves the OpenAPI document without a key', async () => {
      const visitor = new RestClient(server.url, {})
      const answer = await visitor.get('/v1/openapi.json')
      expect(answer).toMatchObject({ status: 200, body: { openapi: '3.1.0' } })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      const etag = answer.headers.get('etag') ?? ''
      const again = await fetch(`${server.url}/v1/openapi.json`, { headers: { 'If-None-Match': etag } })
      expect(again.status).toBe(304)
      const head = await visitor.raw('HEAD', '/v1/openapi.json')
      expect(head).toMatchObject({ status: 200, text: '' })
    })
  })

  describe('bodies', () => {
    const JSON_TYPE = 'application/json'
    it.each([
      ['malformed JSON', '{"userId":', JSON_TYPE, 400, 'BAD_REQUEST'],
      ['an array', '[]', JSON_TYPE, 400, 'BAD_REQUEST'],
      ['a number', '1', JSON_TYPE, 400, 'BAD_REQUEST'],
      ['null', 'null', JSON_TYPE, 400, 'BAD_REQUEST'],
      ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), JSON_TYPE, 400, 'BAD_REQUEST'],
      ['a form', 'userId=ann', 'application/x-www-form-urlencoded', 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['text', '{}', 'text/plain;charset=UTF-8', 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['JSON of another kind', '{}', 'application/json-patch+json', 415, 'UNSUPPORTED_MEDIA_TYPE'],
      ['too much', `"${'x'.repeat(MAX_BODY_BYTES)}"`, JSON_TYPE, 413, 'CONTENT_TOO_LARGE'],
    ] as const)('refuses %s', async (_, body, type, status, code) => {
      for (const path of ['/v1/check', '/v1/users/ann/change-plan']) {
        const answer = await rest.raw('POST', path, { body, type })
        expect(answer).toMatchObject({ status, body: { code, status } })
      }
    })

    it('refuses a compressed body', async () => {
      const answer = await rest.with({ 'Content-Encoding': 'gzip' }).post('/v1/check', CHECK)
      expect(answer).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
    })

    it('accepts a Content-Type with a charset, and no body where none is needed', async () => {
      const body = JSON.stringify(CHECK)
      const type = 'Application/JSON; charset=utf-8'
      expect(await rest.raw('POST', '/v1/check', { body, type })).toMatchObject({ status: 200 })
      expect(await rest.raw('PATCH', '/v1/users/bob')).toMatchObject({ status: 200, body: { id: 'bob' } })
    })

    it.each([
      ['POST', '/v1/check', {}, 'featureId', 'featureId is required'],
      ['POST', '/v1/check', { ...CHECK, userId: null }, 'userId', 'userId must not be null'],
      ['POST', '/v1/check', { ...CHECK, userId: 5 }, 'userId', 'userId must be a string'],
      ['POST', '/v1/check', { ...CHECK, delta: 1.5 }, 'delta', 'delta must be an integer'],
      [
        'POST',
        '/v1/check',
        { ...CHECK, delta: 2 ** 31 },
        'delta',
        'delta must be between -2147483648 and 2147483647',
      ],
      ['POST', '/v1/check', { ...CHECK, delta: -1 }, 'delta', 'delta must not be negative'],
      ['POST', '/v1/check', { ...CHECK, user: 'ann' }, 'user', 'Unknown field "user"'],
      ['POST', '/v1/check', { ...CHECK, __typename: 1 }, '__typename', 'Unknown field "__typename"'],
      ['POST', '/v1/features', { id: 'x', name: 'X' }, 'type', 'type is required'],
      [
        'POST',
        '/v1/features',
        { id: 'x', name: 'X', type: 'BOTH' },
        'type',
        'type must be one of BINARY, CONSUMABLE',
      ],
      [
        'POST',
        '/v1/features',
        { id: 'x', name: 'X', type: 'BINARY', packages: [] },
        'packages',
        'Unknown field "packages"',
      ],
      ['POST', '/v1/features', { id: '', name: 'X', type: 'BINARY' }, 'id', expect.stringContaining('id')],
      [
        'POST',
        '/v1/users',
        { id: 'x', metadata: [] },
        'metadata',
        'metadata: A JSON value must be an object',
      ],
      [
        'POST',
        '/v1/packages',
        { id: 'x', name: 'X', features: [{ id: 'calls', entitlement: { limit: 1.5 } }] },
        'features[0].entitlement.limit',
        expect.stringMatching(/^features\[0\]\.entitlement\.limit: The value must be an integer/),
      ],
      [
        'POST',
        '/v1/packages',
        { id: 'x', name: 'X', features: [{}] },
        'features[0].id',
        'features[0].id is required',
      ],
      [
        'POST',
        '/v1/usage/batch',
        { events: [{ ...CHECK }] },
        'events[0].delta',
        'events[0].delta is required',
      ],
      ['POST', '/v1/usage/batch', {}, 'events', 'events is required'],
      ['POST', '/v1/usage/batch', { inputs: [] }, 'inputs', 'Unknown field "inputs"'],
      [
        'PUT',
        '/v1/users/ann/overrides/calls',
        { mode: 'DENY', featureId: 'x' },
        'featureId',
        'featureId is given by the path',
      ],
      ['PUT', '/v1/users/ann/overrides/calls', {}, 'mode', 'mode is required'],
      [
        'POST',
        '/v1/packages',
        { id: 'x', name: 'X', isAddon: 'no' },
        'isAddon',
        'isAddon must be true or false',
      ],
      [
        'POST',
        '/v1/packages',
        { id: 'x', name: 'X', features: 'calls' },
        'features',
        'features must be an object',
      ],
      [
        'POST',
        '/v1/packages',
        { id: 'x', name: 'X', features: [{ id: 'calls', entitlement: { resetPeriod: 'NOW' } }] },
        'features[0].entitlement.resetPeriod',
        expect.stringMatching(/^features\[0\]\.entitlement\.resetPeriod must be one of \w+(, \w+){5}$/),
      ],
      ['PUT', '/v1/users/ann/overrides/calls', { mode: 'ADD' }, 'limit', expect.any(String)],
      ['PATCH', '/v1/users/ann', { email: 'x@example.com' }, 'email', 'Unknown field "email"'],
      [
        'POST',
        '/v1/users/ann/start-trial',
        { packageId: 'pro', days: 'x' },
        'days',
        'days must be an integer',
      ],
    ] as const)('%s %s with %j is 400, and names %s', async (method, path, body, field, detail) => {
      const answer = await rest.send({ method, path, body })
      expect(answer).toMatchObject({ status: 400 })
      expect(answer.body).toEqual({
        type: 'urn:tollgate:error:BAD_USER_INPUT',
        title: 'Bad user input',
        status: 400,
        detail,
        code: 'BAD_USER_INPUT',
        requestId: answer.headers.get('x-request-id'),
        field,
      })
    })
  })

  describe('query strings', () => {
    it.each([
      ['/v1/users?limit=5', 'limit', 'Unknown query parameter "limit"'],
      ['/v1/users?first=x', 'first', 'first must be an integer'],
      ['/v1/users?first=', 'first', 'first must be an integer'],
      ['/v1/users?first=1.5', 'first', 'first must be an integer'],
      ['/v1/users?first=0', 'first', `first must be between 1 and ${MAX_PAGE}`],
      [`/v1/users?first=${MAX_PAGE + 1}`, 'first', `first must be between 1 and ${MAX_PAGE}`],
      ['/v1/users?first=1&first=2', 'first', 'first must be given once'],
      ['/v1/users?after=nobody', 'after', 'after must be the ID of an item of this list'],
      ['/v1/packages?includeFeatures=true', 'includeFeatures', 'Unknown query parameter "includeFeatures"'],
      ['/v1/packages?status=OLD', 'status', 'status must be one of DRAFT, PUBLISHED'],
      ['/v1/usage?userId=ann', 'featureId', 'featureId is required'],
      ['/v1/users/ann?x=1', 'x', 'Unknown query parameter "x"'],
    ])('%s is 400, and names %s', async (path, field, detail) => {
      const answer = await rest.get(path)
      expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT', field, detail } })
    })

    it('refuses them where a body is expected', async () => {
      const answer = await rest.post('/v1/check?userId=ann', CHECK)
      expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT', field: 'userId' } })
    })
  })

  describe('errors of operations', () => {
    it.each([
      ['GET', '/v1/features/none', undefined, 404, 'FEATURE_NOT_FOUND'],
      ['GET', '/v1/packages/none', undefined, 404, 'PACKAGE_NOT_FOUND'],
      ['GET', '/v1/users/none', undefined, 404, 'USER_NOT_FOUND'],
      ['GET', '/v1/subscriptions/none', undefined, 404, 'SUBSCRIPTION_NOT_FOUND'],
      ['GET', '/v1/migrations/none', undefined, 404, 'MIGRATION_NOT_FOUND'],
      ['GET', '/v1/usage?userId=none&featureId=calls', undefined, 404, 'USER_NOT_FOUND'],
      ['DELETE', '/v1/users/none', undefined, 404, 'USER_NOT_FOUND'],
      ['POST', '/v1/users', { id: 'ann' }, 400, 'BAD_USER_INPUT'],
      ['POST', '/v1/subscriptions', { userId: 'ann', packageIds: ['pro'] }, 400, 'BAD_USER_INPUT'],
      ['POST', '/v1/subscriptions', { userId: 'ann', packageIds: ['none'] }, 400, 'BAD_USER_INPUT'],
      [
        'POST',
        '/v1/payment-links',
        { templateId: 'none', successUrl: 'https://a.example', cancelUrl: 'https://a.example' },
        400,
        'SUBSCRIPTION_LINK_ERROR',
      ],
    ])('%s %s with %j is %i %s', async (method, path, body, status, code) => {
      const answer = await rest.send({ method, path, body })
      expect(answer).toMatchObject({ status, body: { status, code } })
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
    })

    it('names a rejected argument as the body does', async () => {
      const events = Array.from({ length: MAX_BATCH + 1 }, () => ({ ...CHECK, delta: 1 }))
      const answer = await rest.post('/v1/usage/batch', { events })
      expect(answer).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT', field: 'events' } })
    })

    it('repeats the caller’s request ID', async () => {
      const answer = await rest.with({ 'X-Request-Id': 'mine-1' }).get('/v1/users/none')
      expect(answer.body?.requestId).toBe('mine-1')
      expect(answer.headers.get('x-request-id')).toBe('mine-1')
    })
  })

  it('never shows one app the data of another', async () => {
    const other = await newTestApp(server)
    const stranger = new RestClient(server.url, { ...other.admin.headers })
    expect(await stranger.get('/v1/users/ann')).toMatchObject({ status: 404 })
    expect(await stranger.delete('/v1/users/ann')).toMatchObject({ status: 404 })
    expect(await stranger.get('/v1/users')).toMatchObject({ status: 200, body: { data: [], next: null } })
    expect(await stranger.get('/v1/users?after=ann')).toMatchObject({ status: 400 })
    expect(await stranger.post('/v1/check', CHECK)).toMatchObject({
      status: 200,
      body: { access: false, reasonCode: 'USER_NOT_FOUND' },
    })
    expect(await rest.get('/v1/users/ann')).toMatchObject({ status: 200 })
  })

  it('pages through a list longer than one page, without a gap', async () => {
    const { admin } = await newTestApp(server)
    const ids = Array.from({ length: 250 }, (_, i) => `u${i}`)
    await createUsers(admin, ids)
    const lister = new RestClient(server.url, { ...admin.headers })
    const pages: number[] = []
    const seen: string[] = []
    for (let after = ''; ; ) {
      const { data, next } = (await lister.get(`/v1/users${after && `?after=${after}`}`)).body ?? {}
      pages.push(data.length)
      seen.push(...data.map(({ id }: { id: string }) => id))
      if (next === null) break
      after = next
    }
    expect(pages).toEqual([100, 100, 50])
    expect(seen).toEqual(ids)
    // One page that is read from the database in several parts.
    const { body } = await lister.get('/v1/users?first=250')
    expect(body?.data.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(body?.next).toBeNull()
    expect((await lister.get('/v1/users?first=249')).body?.next).toBe('u248')
  })
})
