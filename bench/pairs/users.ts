import type { Client } from 'pg'
import { signedIn } from '../../server/test/harness/client.ts'
import type { Load, LoadResult } from '../load.ts'
import { oneByOne } from '../one-by-one.ts'
import { milliseconds, type Pair, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import type { Request } from '../requests.ts'
import { compare, interleave, median } from '../rounds.ts'
import { ANY_USER, APP, userId } from '../seed.ts'
import { OWNER } from '../server.ts'

const PAGE = 50

/** What the dashboard's users page asks. */
const DOCUMENT = `query Users($appId: String!, $search: String, $after: String) {
  users(appId: $appId, search: $search, after: $after) {
    next
    rows { id name email billingId createdAt }
  }
}`

export const users: Pair = {
  name: 'users',
  claims: [
    {
      name: 'users',
      what: `median latency of the dashboard's search for users, one connection, the mean of those by the beginning of an id, an address and a billing id ÷ one bare page through pg: a prepared select of ${PAGE} users by their key`,
      bound: '≤',
      must: 3,
      aim: null,
    },
  ],
  async run({ scale, load, subject }) {
    const { server, database } = await subject()
    const { headers } = await signedIn(server.url, OWNER)
    const searches = searchesOf(database.users).map(
      ({ upTo, ...search }): Omit<Load, 'seconds'> => ({
        url: `${server.url}/dashboard/graphql`,
        request: { ...search, headers },
        upTo,
        connections: 1,
      }),
    )
    return withClient(database.url, async (client) => {
      const bare = (seconds: number) => oneByOne(seconds, () => barePage(client, database.users))
      for (const search of searches) {
        await load.run({ ...search, seconds: scale.warmUpSeconds, lookAtAnswers: true })
      }
      await bare(scale.warmUpSeconds)
      const rounds = await interleave(
        scale.rounds,
        {
          dashboard: async () => {
            const results: LoadResult[] = []
            for (const search of searches) results.push(await load.run({ ...search, seconds: scale.seconds }))
            return together(results)
          },
          'bare SQL': () => bare(scale.seconds),
        },
        tellRound,
      )
      server.checkLog()
      const { a, b, ratio, range } = compare(
        rounds.dashboard.map((r) => r.p50),
        rounds['bare SQL'].map((r) => r.p50),
      )
      const p99 = median(rounds.dashboard.map((r) => r.p99))
      return [{ a: milliseconds(a), b: milliseconds(b), value: ratio, range, p50: a, p99 }]
    })
  },
}

/** Beginnings that at least a page of users have, and the highest number to put into them. */
function searchesOf(users: number): (Omit<Request, 'headers'> & { upTo: number })[] {
  // Ids have leading zeros, the rest has none.
  const digits = String(users).length - 4
  const begin = (search: string, upTo: number) => ({
    body: JSON.stringify({ query: DOCUMENT, variables: { appId: APP, search } }),
    expect: '"rows":[{"id":"user-',
    upTo,
  })
  return [
    begin(userId(ANY_USER).slice(0, -2), users / 100 - 1),
    begin(`user1${'@'.repeat(digits)}`, 10 ** digits - 1),
    begin(`cus_1${'@'.repeat(digits)}`, 10 ** digits - 1),
  ]
}

function together(results: readonly LoadResult[]): LoadResult {
  const sum = (of: (result: LoadResult) => number) => results.reduce((total, result) => total + of(result), 0)
  return {
    requests: sum((r) => r.requests),
    perSecond: sum((r) => r.perSecond) / results.length,
    p50: sum((r) => r.p50) / results.length,
    p99: Math.max(...results.map((r) => r.p99)),
    bytesPerAnswer: sum((r) => r.bytesPerAnswer) / results.length,
  }
}

async function barePage(client: Client, users: number): Promise<void> {
  const first = 1 + Math.floor(Math.random() * (users - PAGE))
  const { rowCount } = await client.query({
    name: 'bare-page',
    text: `select id, name, email, billing_id, created_at from users
           where app_id = $1 and id collate "C" >= $2 order by id collate "C", uid limit ${PAGE}`,
    values: [APP, userId(first)],
  })
  if (rowCount !== PAGE) throw new Error(`a bare page had ${rowCount} users`)
}
