import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { beforeAll, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import { seedUsers } from '../harness/seed.ts'
import { API_KEY, startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { watchStatements } from '../harness/statements.ts'

// What may happen to a long list while it is on its way: more rows, a caller who leaves, a database that fails.

const USERS = 6000
const BYTES_EACH = 2_000

const server = shared(startTestServer)
beforeAll(async () => {
  await publishPackage({ id: 'default', ...server }, 'plan', {})
  await seedUsers(server.databaseUrl, 'default', USERS, BYTES_EACH)
})

const LIST = '{ users { id metadata } }'
const seeded = Array.from({ length: USERS }, (_, i) => `u${i + 1}`)

async function listed(): Promise<string[]> {
  const { users } = await server.admin.data('{ users { id } }')
  return users.map(({ id }: { id: string }) => id)
}

/** Requests a list and returns the answer as soon as it starts. */
async function begin(): Promise<IncomingMessage> {
  const asked = request(`${server.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: API_KEY, 'Content-Type': 'application/json' },
  })
  asked.end(JSON.stringify({ query: LIST }))
  const [response] = await once(asked, 'response')
  return response
}

it('gap: lists: while users are created, none of the earlier ones is missing and none comes twice', async () => {
  let made = 0
  let listing = true
  const create = async () => {
    while (listing) await server.admin.data(`mutation { createUser(input: { id: "new${++made}" }) { id } }`)
  }
  const creating = Promise.all([create(), create(), create(), create()])
  for (let round = 0; round < 5; round++) {
    const ids = await listed()
    expect(ids.slice(0, USERS)).toEqual(seeded)
    const later = ids.slice(USERS)
    expect(new Set(later).size).toBe(later.length)
    expect(later.filter((id) => !id.startsWith('new'))).toEqual([])
  }
  listing = false
  await creating
  expect((await listed()).length).toBe(USERS + made)
})

it('gap: lists: leaves no listener behind, however many chunks it takes', async () => {
  const warnings: string[] = []
  const note = (warning: Error) => warnings.push(warning.message)
  process.on('warning', note)
  const { users } = await server.admin.data(LIST)
  process.off('warning', note)
  expect(users.length).toBeGreaterThanOrEqual(USERS)
  expect(warnings).toEqual([])
})

it('gap: lists: a caller that hangs up does no harm', async () => {
  let chunks = 0
  const stop = watchStatements(({ name }) => {
    if (name === 'list-users') chunks++
    return undefined
  })
  for (let i = 0; i < 10; i++) {
    const response = await begin()
    await once(response, 'data')
    response.destroy()
  }
  expect((await listed()).length).toBeGreaterThanOrEqual(USERS)
  stop()
  // Nobody reads on for a caller who is gone: the lists of those ten were never read to their ends.
  expect(chunks).toBeLessThan(11 * (USERS / 100))
})

it.each([2, 3, 12])('gap: lists: a fault in chunk %i of it breaks the connection', async (failing) => {
  let chunks = 0
  const stop = watchStatements(({ name }) =>
    name === 'list-users' && ++chunks === failing ? new Error('the database went away') : undefined,
  )
  let text = ''
  const answered = async () => {
    const response = await begin()
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    await once(response, 'end')
  }
  await expect(answered()).rejects.toThrow(/aborted|socket hang up/)
  stop()
  expect(chunks).toBe(failing)
  if (failing > 2) expect(text).toContain('{"data":{"users":[{"id":"u1",')
  expect(() => JSON.parse(text)).toThrow()
  expect((await listed()).length).toBeGreaterThanOrEqual(USERS)
})
