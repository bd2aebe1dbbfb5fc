import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApp, startTestServer, type TestServer } from './harness/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

it('answers', async () => {
  const app = await createApp(server, 'x', { testClock: true })
  expect(await app.data('{ features { id } }')).toEqual({ features: [] })
})
