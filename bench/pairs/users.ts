import type { Client } from 'pg'
import { signedIn } from '../../server/test/harness/client.ts'
import type { Load, LoadResult } from '../load.ts'
import { oneByOne } from '../one-by-one.ts'
import { milliseconds, type Pair, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import type { Request } from '../requests.ts'
import { compare, interleave, median } from '../rounds.ts'
import { ANY_USER, APP, nameOf, userId } from '../seed.ts'
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
    {
      name: 'users by name',
      what: 'the same, searching by a surname, a part of one, and a whole name ÷ the same bare page',
      bound: '≤',
      must: 5,
      aim: null,
    },
  ],
  async run({ scale, load, subject }) {
    const { server, database } = await subject()
    const { headers } = await signedIn(server.url, OWNER)
    const loads = (searches: Search[]) =>
      searches.map(
        ({ upTo, ...search }): Omit<Load, 'seconds'> => ({
          url: `${server.url}/dashboard/graphql`,
          request: { ...search, headers },
          upTo,
          connections: 1,
        }),
      )
    const sides = {
      beginnings: loads(searchesOf(database.users)),
      names: loads(searchesByName(database.users)),
    }
    return withClient(database.url, async (client) => {
      const bare = (seconds: number) => oneByOne(seconds, () => barePage(client, database.users))
      for (const search of Object.values(sides).flat()) {
        await load.run({ ...search, seconds: scale.warmUpSeconds, lookAtAnswers: true })
      }
      await bare(scale.warmUpSeconds)
      const oneAfterTheOther = async (searches: Omit<Load, 'seconds'>[]) => {
        const results: LoadResult[] = []
        for (const search of searches) results.push(await load.run({ ...search, seconds: scale.seconds }))
        return together(results)
      }
      const rounds = await interleave(
        scale.rounds,
        {
          beginnings: () => oneAfterTheOther(sides.beginnings),
          names: () => oneAfterTheOther(sides.names),
          'bare SQL': () => bare(scale.seconds),
        },
        tellRound,
      )
      server.checkLog()
      return [rounds.beginnings, rounds.names].map((dashboard) => {
        const { a, b, ratio, range } = compare(
          dashboard.map((r) => r.p50),
          rounds['bare SQL'].map((r) => r.p50),
        )
        const p99 = median(dashboard.map((r) => r.p99))
        return { a: milliseconds(a), b: milliseconds(b), value: ratio, range, p50: a, p99 }
      })
    })
  },
}

type Search = Omit<Request, 'headers'> & { upTo: number }

/** A surname, a part from within another, and a whole name that starts with the surname. */
function searchesByName(users: number): Search[] {
  const wordsOf = (n: number) => nameOf(1 + ((n * 7_717) % users)).split(' ')
  const texts = [wordsOf(1)[1] ?? '', (wordsOf(2)[1] ?? '').slice(1, 7), wordsOf(3).reverse().join(' ')]
  return texts.map((search) => ({
    // Nothing reads the number; a load generator wants a place for one.
    body: JSON.stringify({ query: DOCUMENT, variables: { appId: APP, search, number: '@@@' } }),
    expect: '"rows":[{"id":"user-',
    upTo: 999,
  }))
}

/** Beginnings that at least a page of users have, and the highest number to put into them. */
function searchesOf(users: number): Search[] {
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
