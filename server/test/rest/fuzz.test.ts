import { expect, it } from 'vitest'
import { restOperations } from '../../src/rest/operations.ts'
import { MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { fuzz } from './fuzz.ts'

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))

it('gap: REST: answers 400 requests made from the OpenAPI document as it says', async () => {
  const statuses = await fuzz(server, { requests: 400, seed: 31 })
  expect(statuses.size).toBe(restOperations().length)
})
