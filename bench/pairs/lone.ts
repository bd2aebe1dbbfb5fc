import type { Client } from 'pg'
import { milliseconds, type Pair, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import { compare, interleave, median, quantile } from '../rounds.ts'
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
      await roundTrips(client, database.users, scale.warmUpSeconds)
      const rounds = await interleave(
        scale.rounds,
        {
          tollgate: () => tollgate.check(1),
          'bare SQL': () => roundTrips(client, database.users, scale.seconds),
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

async function roundTrips(client: Client, users: number, seconds: number) {
  const times: number[] = []
  const began = performance.now()
  for (let now = began; now < began + seconds * 1e3; ) {
    const { rowCount } = await client.query({
      name: 'bare-round-trip',
      text: 'select uid, name from users where app_id = $1 and id = $2',
      values: [APP, userId(1 + Math.floor(Math.random() * users))],
    })
    if (rowCount !== 1) throw new Error('a user is missing')
    const then = now
    now = performance.now()
    times.push(now - then)
  }
  const sorted = Float64Array.from(times).sort()
  return {
    requests: times.length,
    perSecond: times.length / seconds,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    bytesPerAnswer: 0,
  }
}
