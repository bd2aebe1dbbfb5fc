import { expect, it } from 'vitest'
import { Router } from './router.ts'

const routes = [
  { route: { method: 'GET', path: '/v1/a' }, inPath: [] },
  { route: { method: 'POST', path: '/v1/a' }, inPath: [] },
  { route: { method: 'GET', path: '/v1/a/{id}' }, inPath: ['id'] },
  { route: { method: 'POST', path: '/v1/a/batch' }, inPath: [] },
  { route: { method: 'PUT', path: '/v1/a/{id}/b/{other}' }, inPath: ['id', 'other'] },
] as const
const router = new Router(routes)

it.each([
  ['GET', '/v1/a', 0, {}],
  ['HEAD', '/v1/a', 0, {}],
  ['POST', '/v1/a', 1, {}],
  ['GET', '/v1/a/x%2Fy', 2, { id: 'x/y' }],
  ['GET', '/v1/a/__proto__', 2, { id: '__proto__' }],
  ['POST', '/v1/a/batch', 3, {}],
  ['PUT', '/v1/a/1/b/%C3%B6', 4, { id: '1', other: 'ö' }],
] as const)('gap: REST: %s %s is found', (method, path, index, values) => {
  expect(router.match(method, path)).toEqual({ found: routes[index], path: values })
})

it.each([
  ['DELETE', '/v1/a', ['GET', 'HEAD', 'POST']],
  ['GET', '/v1/a/batch', ['POST']],
  ['get', '/v1/a', ['GET', 'HEAD', 'POST']],
] as const)('gap: REST: %s %s is another method', (method, path, allow) => {
  expect(router.match(method, path)).toEqual({ found: null, allow })
})

it.each([
  '/v1',
  '/v1/',
  '/v1/a/',
  '/v1/b',
  '/v1/a/1/b',
  '/v1/a//b/2',
  '/v1/A',
  'v1/a',
  '',
])('gap: REST: %s is unknown', (path) => {
  expect(router.match('GET', path)).toBeNull()
})

it('gap: REST: a value that is not UTF-8 is not taken for another', () => {
  expect(router.match('GET', '/v1/a/%ff')).toEqual({ found: routes[2], path: null })
})

it('gap: REST: two operations cannot have one route', () => {
  expect(() => new Router([...routes, routes[0]])).toThrow('two operations have the route GET /v1/a')
})
