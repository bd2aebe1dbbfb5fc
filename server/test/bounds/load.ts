import { expect } from 'vitest'
import {
  LONG_REQUEST_DEADLINE_MS,
  MAX_REQUESTS_UNDER_WAY,
  MAX_WAITING_CALLS,
  REQUEST_DEADLINE_MS,
} from '../../src/domain/limits.ts'
import { RequestsUnderWay, UnderWay } from '../../src/http/requests-under-way.ts'
import { Deadline } from '../../src/operations/call/deadline.ts'
import { Batcher } from '../../src/operations/usage/batcher.ts'
import { readConfig } from '../../src/settings/config.ts'
import { monotonic } from '../harness/clocks.ts'
import type { Bound } from './bound.ts'

export const loadBounds: Bound[] = [
  {
    limit: 'REQUEST_DEADLINE_MS',
    what: 'how long a caller waits for an answer',
    works: async () => expect(deadline().passedBy(5 + REQUEST_DEADLINE_MS - 1)).toBe(false),
    refused: async () => expect(deadline().passedBy(5 + REQUEST_DEADLINE_MS)).toBe(true),
  },
  {
    limit: 'LONG_REQUEST_DEADLINE_MS',
    what: 'how long the caller of long work waits for an answer',
    works: async () => expect(renewed(LONG_REQUEST_DEADLINE_MS - 1_000)).toBe(false),
    refused: async () => expect(renewed(LONG_REQUEST_DEADLINE_MS + 1_000)).toBe(true),
  },
  {
    limit: 'MAX_REQUESTS_UNDER_WAY',
    what: 'how many requests are answered at once',
    works: async () => expect(begun(MAX_REQUESTS_UNDER_WAY)).toBe(true),
    refused: async () => expect(begun(MAX_REQUESTS_UNDER_WAY + 1)).toBe(false),
  },
  {
    limit: 'MAX_WAITING_CALLS',
    what: 'how many calls wait for a batch',
    works: async () => expect(await refusals(MAX_WAITING_CALLS)).toEqual([]),
    refused: async () =>
      expect(await refusals(MAX_WAITING_CALLS + 1)).toEqual([
        expect.objectContaining({ code: 'RATE_LIMITED', retryAfter: 1 }),
      ]),
  },
]

const deadline = () => new Deadline(monotonic, 5, readConfig({}).requestTimeoutMs)

function renewed(ms: number): boolean {
  const long = new Deadline(() => 5, 0, 0)
  long.renew(LONG_REQUEST_DEADLINE_MS)
  return long.passedBy(5 + ms)
}

class Waiting extends UnderWay {
  readonly arrived = 0
  readonly deadline = new Deadline(() => 0, 0, 60_000)
  expire(): void {}
}

/** Whether the last of so many requests is taken. */
function begun(count: number): boolean {
  const requests = new RequestsUnderWay(monotonic)
  const one = () => new Waiting()
  for (let i = 1; i < count; i++) requests.begin(one())
  return requests.begin(one())
}

/** What becomes of so many calls while nothing is answered. */
async function refusals(count: number): Promise<unknown[]> {
  const refused: unknown[] = []
  const batcher = new Batcher<number, never>(() => new Promise(() => {}), { monotonic, lanes: 1, most: 1 })
  for (let i = 0; i < count; i++) batcher.add(i).catch((error) => refused.push(error))
  await new Promise(setImmediate)
  return refused
}
