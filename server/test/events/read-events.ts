import { expect, vi } from 'vitest'
import type { Client, Data } from '../harness/client.ts'
import { PATIENCE_MS } from '../harness/patience.ts'

const PAGE = `query ($after: String, $types: [String!], $userId: String, $first: Int) {
  events(after: $after, types: $types, userId: $userId, first: $first) {
    nodes { id type at userId sequence data } next
  }
}`

export interface EventsRead {
  nodes: Data[]
  next: string
}

interface Asked {
  after?: string | null
  types?: string[]
  userId?: string
  first?: number
}

export const readEvents = async (admin: Client, asked: Asked = {}): Promise<EventsRead> =>
  (await admin.data(PAGE, { ...asked })).events

/** Reads on from a cursor until there are as many events as expected, and no more. */
export async function eventsFrom(
  admin: Client,
  after: string | null,
  count: number,
  asked: Asked = {},
): Promise<EventsRead> {
  const nodes: Data[] = []
  let next = after
  await vi.waitFor(
    async () => {
      const page = await readEvents(admin, { ...asked, after: next })
      nodes.push(...page.nodes)
      next = page.next
      expect(nodes.length).toBeGreaterThanOrEqual(count)
    },
    { timeout: PATIENCE_MS, interval: 50 },
  )
  expect(nodes.map(({ type }) => type)).toHaveLength(count)
  return { nodes, next: next ?? '' }
}

/** Reads on until nothing is waiting to be published. */
export async function newestCursor(admin: Client): Promise<string> {
  return (await readEvents(admin, { types: ['user.deleted'], first: 1 })).next
}
