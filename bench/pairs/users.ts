import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Client } from 'pg'
import { oneByOne } from '../one-by-one.ts'
import { milliseconds, type Pair, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import { compare, interleave, median } from '../rounds.ts'
import { APP, userId } from '../seed.ts'
import { OWNER } from '../server.ts'

const PAGE = 50

/** What the dashboard's users page asks. */
const DOCUMENT = `query Users($appId: String!, $search: String, $after: String) {
  users(appId: $appId, search: $search, after: $after) {
    next
    rows { id name email billingId createdAt }
  }
}`

interface User {
  id: string
  email: string
  billingId: string
}

/** What somebody types into the search, without the last two digits: pages are full on both sides. */
const PREFIXES: ((n: number) => { field: keyof User; search: string })[] = [
  (n) => ({ field: 'id', search: userId(n).slice(0, -2) }),
  (n) => ({ field: 'email', search: `user${n}`.slice(0, -2) }),
  (n) => ({ field: 'billingId', search: `cus_${n}`.slice(0, -2) }),
]

export const users: Pair = {
  name: 'users',
  claims: [
    {
      name: 'users',
      what: `median latency of the dashboard's search for users by the beginning of an id, address or billing id, one connection ÷ one bare page through pg: a prepared select of ${PAGE} users by their key`,
      bound: '≤',
      must: 3,
      aim: null,
    },
  ],
  async run({ scale, subject }) {
    const { server, database } = await subject()
    const search = await searcher(server.url, database.users)
    return withClient(database.url, async (client) => {
      const sides = {
        dashboard: (seconds: number) => oneByOne(seconds, search),
        'bare SQL': (seconds: number) => oneByOne(seconds, () => barePage(client, database.users)),
      }
      for (const warmUp of Object.values(sides)) await warmUp(scale.warmUpSeconds)
      const rounds = await interleave(
        scale.rounds,
        {
          dashboard: () => sides.dashboard(scale.seconds),
          'bare SQL': () => sides['bare SQL'](scale.seconds),
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

const anyOf = (users: number) => 1 + Math.floor(Math.random() * users)

/** Searches as a member who has signed in, each time for somebody else, and looks at every answer. */
async function searcher(url: string, users: number): Promise<() => Promise<void>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const post = async (body: object, cookie = '') => {
    const sent = request(`${url}/dashboard/graphql`, {
      method: 'POST',
      agent,
      headers: { 'Content-Type': 'application/json', Cookie: cookie },
    })
    sent.end(JSON.stringify(body))
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject)
    })
    return { cookie: response.headers['set-cookie']?.[0]?.split(';')[0], text: await text(response) }
  }
  const { email, password } = OWNER
  const signIn = await post({
    query:
      'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { id } }',
    variables: { email, password },
  })
  let turn = 0
  return async () => {
    const prefix = PREFIXES[turn++ % PREFIXES.length]?.(anyOf(users))
    const answer = await post(
      { query: DOCUMENT, variables: { appId: APP, search: prefix?.search } },
      signIn.cookie,
    )
    const rows: User[] = JSON.parse(answer.text).data?.users.rows ?? []
    if (!prefix || rows.length === 0 || !rows.every((row) => row[prefix.field].startsWith(prefix.search))) {
      throw new Error(`the search for ${prefix?.search} answered ${answer.text.slice(0, 500)}`)
    }
  }
}

async function barePage(client: Client, users: number): Promise<void> {
  const { rowCount } = await client.query({
    name: 'bare-page',
    text: `select id, name, email, billing_id, created_at from users
           where app_id = $1 and id collate "C" >= $2 order by id collate "C", uid limit ${PAGE}`,
    values: [APP, userId(anyOf(users - PAGE))],
  })
  if (rowCount !== PAGE) throw new Error(`a bare page had ${rowCount} users`)
}
