import { describe, expect, it, vi } from 'vitest'
import type { Data } from '../harness/client.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { createApp, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { newestCursor, readEvents } from './read-events.ts'

// Server-sent events: each event once and in order, with an id from which any process continues.

const server = shared(startTestServer)

interface Message {
  id: string
  event: Data
}

/** A client that collects messages until the stream ends. */
class Stream {
  readonly messages: Message[] = []
  /** the id received last, also without an event */
  lastId: string | null = null
  readonly ended: Promise<void>
  readonly response: Response
  readonly #stopping: AbortController

  private constructor(response: Response, stopping: AbortController) {
    this.response = response
    this.#stopping = stopping
    this.ended = this.#read()
    this.ended.catch(() => {})
  }

  static async open(url: string, key: string, { query = '', last = '' } = {}): Promise<Stream> {
    const stopping = new AbortController()
    const headers = { Authorization: key, ...(last && { 'Last-Event-ID': last }) }
    const response = await fetch(`${url}/v1/events/stream${query}`, { headers, signal: stopping.signal })
    return new Stream(response, stopping)
  }

  async #read(): Promise<void> {
    let text = ''
    for await (const chunk of this.response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
    }
  }

  #take(block: string): void {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)))
    this.lastId = fields.id
    if (fields.data) this.messages.push({ id: fields.id, event: JSON.parse(fields.data) })
  }

  async has(count: number): Promise<void> {
    await vi.waitFor(() => expect(this.messages.length).toBeGreaterThanOrEqual(count), {
      timeout: PATIENCE_MS,
      interval: 20,
    })
  }

  get userIds(): string[] {
    return this.messages.map(({ event }) => event.userId)
  }

  close(): void {
    this.#stopping.abort()
  }
}

let apps = 0
async function newApp() {
  const admin = await createApp(server, `streamed${++apps}`)
  return { admin, key: admin.headers.Authorization ?? '' }
}

const createUsers = async (admin: { data: typeof server.admin.data }, ...ids: string[]) => {
  for (const id of ids)
    await admin.data('mutation ($id: String!) { createUser(input: { id: $id }) { id } }', { id })
}

describe('gap: event stream', () => {
  it('begins with the next event, and continues after the last id or a cursor', async () => {
    const { admin, key } = await newApp()
    await createUsers(admin, 'before')
    await vi.waitFor(async () => expect((await readEvents(admin)).nodes).toHaveLength(1), PATIENCE_MS)
    const stream = await Stream.open(server.url, key)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    await createUsers(admin, 'a', 'b', 'c')
    await stream.has(3)
    expect(stream.userIds).toEqual(['a', 'b', 'c'])
    const { nodes } = await readEvents(admin)
    expect(stream.messages.map(({ event }) => event.id)).toEqual(nodes.slice(1).map(({ id }) => id))
    expect(stream.messages.map(({ id }) => id)).toEqual(stream.messages.map(({ event }) => event.cursor))
    stream.close()

    const [first] = stream.messages
    for (const how of [{ last: first?.id ?? '' }, { query: `?after=${first?.id}` }]) {
      const again = await Stream.open(server.url, key, how)
      await again.has(2)
      expect(again.messages).toEqual(stream.messages.slice(1))
      again.close()
    }
  })

  it('has only the types and the user asked for, of this app', async () => {
    const { admin, key } = await newApp()
    const other = await newApp()
    await createUsers(admin, 'a', 'b')
    const since = `after=${await newestCursor(admin)}`
    const ofB = await Stream.open(server.url, key, { query: `?${since}&userId=b&types=user.updated` })
    const update = (id: string, name: string) =>
      admin.data(
        'mutation ($id: String!, $name: String) { updateUser(id: $id, input: { name: $name }) { id } }',
        { id, name },
      )
    await update('a', 'A')
    await createUsers(other.admin, 'b')
    await update('b', 'B')
    await update('b', 'C')
    await ofB.has(2)
    expect(ofB.messages.map(({ event }) => event.data.object.name)).toEqual(['B', 'C'])
    ofB.close()
  })

  it('ends cleanly when its process stops, and loses nothing at another one', async () => {
    const { admin, key } = await newApp()
    const leaving = await startTestServer({ databaseUrl: server.databaseUrl })
    const stream = await Stream.open(leaving.url, key)
    const ids = Array.from({ length: 30 }, (_, i) => `u${String(i).padStart(2, '0')}`)
    const creating = createUsers(admin, ...ids)
    await stream.has(1)
    await leaving.stop()
    await stream.ended
    await creating
    const rest = await Stream.open(server.url, key, { last: stream.lastId ?? '' })
    await rest.has(ids.length - stream.messages.length)
    expect([...stream.userIds, ...rest.userIds]).toEqual(ids)
    rest.close()
  })

  it('ends when its key is revoked', async () => {
    const { admin, key } = await newApp()
    const stream = await Stream.open(server.url, key)
    const appId = `streamed${apps}`
    const { apiKeys } = await server.dashboard.data(
      'query ($appId: String!) { apiKeys(appId: $appId) { id } }',
      { appId },
    )
    for (const { id } of apiKeys) await server.dashboard.call('revokeApiKey { id }', { appId, id })
    // It is noticed with the next publication.
    const other = await newApp()
    await createUsers(other.admin, 'x')
    await stream.ended
    expect(stream.messages).toEqual([])
    expect(await admin.error('{ features { id } }')).toMatchObject({
      extensions: { code: 'UNAUTHENTICATED' },
    })
  })

  it.each([
    ['?types=user.exploded', 400, 'BAD_USER_INPUT'],
    ['?after=nonsense', 400, 'BAD_USER_INPUT'],
    ['?first=3', 400, 'BAD_USER_INPUT'],
    ['?nothing=3', 400, 'BAD_USER_INPUT'],
    ['?after=e1', 410, 'EVENTS_EXPIRED'],
  ])('rejects %s', async (query, status, code) => {
    const { admin, key } = await newApp()
    await createUsers(admin, 'a')
    await vi.waitFor(async () => expect((await readEvents(admin)).nodes).toHaveLength(1), PATIENCE_MS)
    const answer = await fetch(`${server.url}/v1/events/stream${query}`, { headers: { Authorization: key } })
    expect([answer.status, ((await answer.json()) as Data).code]).toEqual([status, code])
  })

  it('requires a key with the scope READ, and the method GET', async () => {
    const url = `${server.url}/v1/events/stream`
    const { admin } = await newApp()
    const ask = (key: string, method = 'GET') => fetch(url, { method, headers: { Authorization: key } })
    expect((await ask('nobody')).status).toBe(401)
    const posted = await ask(admin.headers.Authorization ?? '', 'POST')
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
    const { createApiKey } = await server.dashboard.data(
      `mutation { createApiKey(appId: "streamed${apps}", name: "usage", scope: USAGE) { secret } }`,
    )
    const refused = await ask(createApiKey.secret)
    expect([refused.status, ((await refused.json()) as Data).code]).toEqual([403, 'FORBIDDEN'])
  })
})
