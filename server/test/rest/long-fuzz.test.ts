import { expect, it } from 'vitest'
import { restOperations } from '../../src/rest/operations.ts'
import { MASTER_KEY_SETTINGS, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { fuzz } from './fuzz.ts'

const server = shared(() => startTestServer({ env: MASTER_KEY_SETTINGS }))
const SEED = Number(process.env.TOLLGATE_FUZZ_SEED ?? 1)

it('gap: REST: answers 10,000 requests made from the OpenAPI document as it says', async () => {
  const statuses = await fuzz(server, { requests: 10_000, seed: SEED })
  // Without successes, the requests would only try the refusals.
  const refused = restOperations().filter(({ name }) => {
    const counts = statuses.get(name)
    return !counts?.has(200) && !counts?.has(201)
  })
  expect(refused.length / restOperations().length, refused.map(({ name }) => name).join()).toBeLessThan(0.1)
  expect([...statuses.values()].flatMap((counts) => [...counts.keys()])).toEqual(
    expect.arrayContaining([200, 201, 400, 404, 409, 415]),
  )
}, 1_800_000)
