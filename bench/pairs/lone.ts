import type { Client } from 'pg'
import { anyUser, type Distribution } from '../distribution.ts'
import { oneByOne } from '../one-by-one.ts'
import { milliseconds, type Pair, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import { compare, interleave, median } from '../rounds.ts'
import { APP, userId } from '../seed.ts'

export const lone: Pair = {
  name: 'lone',
  claims: [
    {
      name: 'lone',
      what: 'median latency of canUseFeature, one connection ÷ one bare round trip to PostgreSQL: a prepared select of one user by its key, through pg',
      bound: '≤',
      must: 3,
      aim: 2,
    },
  ],
  async run({ scale, subject }) {
    const tollgate = await subject()
    const { database } = tollgate
    return withClient(database.url, async (client) => {
      const bare = (seconds: number) => roundTrips(client, database.users, scale.distribution, seconds)
      await bare(scale.warmUpSeconds)
      // A lone call uses a separate statement, which no earlier load has warmed up.
      await tollgate.check(1)
      const rounds = await interleave(
        scale.rounds,
        {
          tollgate: () => tollgate.check(1),
          'bare SQL': () => bare(scale.seconds),
        },
        tellRound,
      )
      const latency = {
        a: rounds.tollgate.map((r) => r.p50),
        b: rounds['bare SQL'].map((r) => r.p50),
      }
      const { a, b, ratio, range } = compare(latency.a, latency.b)
      return [
        {
          a: milliseconds(a),
          b: milliseconds(b),
          value: ratio,
          range,
          p50: a,
          p99: median(rounds.tollgate.map((r) => r.p99)),
        },
      ]
    })
  },
}

function roundTrips(client: Client, users: number, distribution: Distribution, seconds: number) {
  return oneByOne(seconds, async () => {
    const { rowCount } = await client.query({
      name: 'bare-round-trip',
      text: 'select uid, name from users where app_id = $1 and id = $2',
      values: [APP, userId(anyUser(users, distribution))],
    })
    if (rowCount !== 1) throw new Error('a user is missing')
  })
}
