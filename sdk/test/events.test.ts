import { describe, expect, it } from 'vitest'
import { createApp, startTestServer } from '../../server/test/harness/server.ts'
import { shared } from '../../server/test/harness/shared.ts'
import { type Event, Tollgate } from '../src/node.ts'

// The iterator returns every event once, in order, also over an interruption, and resumes after any event.

const server = shared(startTestServer)
let apps = 0
async function newApp() {
  const admin = await createApp(server, `app-${++apps}`)
  const apiKey = admin.headers.Authorization ?? ''
  return { tollgate: new Tollgate({ apiKey, baseUrl: server.url }), apiKey }
}

async function take(events: AsyncIterable<Event>, count: number): Promise<Event[]> {
  const taken: Event[] = []
  for await (const event of events) {
    taken.push(event)
    if (taken.length === count) break
  }
  return taken
}

const types = ['user.created'] as const

describe('gap: events: the iterator of the SDK', () => {
  it('returns what is there and then what happens, and resumes after any event', async () => {
    const { tollgate } = await newApp()
    for (const id of ['a', 'b', 'c']) await tollgate.createUser({ id })
    const taking = take(tollgate.events({ types: [...types], first: 2 }), 5)
    for (const id of ['d', 'e']) await tollgate.createUser({ id })
    const events = await taking
    expect(events.map(({ userId }) => userId)).toEqual(['a', 'b', 'c', 'd', 'e'])
    for (const [i, { cursor }] of events.slice(0, -1).entries()) {
      const [next] = await take(tollgate.events({ types: [...types], after: cursor }), 1)
      expect(next).toEqual(events[i + 1])
    }
  })

  it('waits while the service is unreachable, and loses nothing', async () => {
    const { tollgate, apiKey } = await newApp()
    for (const id of ['a', 'b']) await tollgate.createUser({ id })
    let calls = 0
    const flaky = new Tollgate({
      apiKey,
      baseUrl: server.url,
      retry: () => false,
      fetch: (...request) => {
        calls++
        return calls % 2 === 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(...request)
      },
    })
    const events = await take(flaky.events({ types: [...types], first: 1 }), 2)
    expect(events.map(({ userId }) => userId)).toEqual(['a', 'b'])
    expect(calls).toBeGreaterThan(2)
  })

  it('ends when it is aborted, and throws what a retry would not help', async () => {
    const { tollgate } = await newApp()
    const stopping = new AbortController()
    const all = take(tollgate.events({}, { signal: stopping.signal }), 1)
    setTimeout(() => stopping.abort(), 300)
    expect(await all).toEqual([])
    await expect(take(tollgate.events({ after: 'nonsense' }), 1)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    })
  })

  it('is one page when it is awaited', async () => {
    const { tollgate } = await newApp()
    await tollgate.createUser({ id: 'a' })
    await take(tollgate.events({ types: [...types] }), 1)
    const { data, error } = await tollgate.events({ types: [...types] })
    expect(error).toBeNull()
    expect(data?.nodes.map(({ userId, cursor }) => [userId, cursor])).toEqual([
      ['a', expect.stringMatching(/^e/)],
    ])
  })
})
