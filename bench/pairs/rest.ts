import { type Pair, ratioOf, tellRound } from '../pair.ts'
import { REST_CHECK } from '../requests.ts'
import { compare, interleave, median } from '../rounds.ts'

const CONNECTIONS = 64

export const rest: Pair = {
  name: 'rest',
  claims: [
    {
      name: 'rest',
      what: 'POST /v1/check ÷ canUseFeature at POST /graphql, the same service, 64 connections',
      bound: '≥',
      must: 0.9,
      aim: 1,
    },
  ],
  async run({ scale, load, subject }) {
    const tollgate = await subject()
    const round = {
      url: `${tollgate.server.url}/v1/check`,
      request: REST_CHECK,
      upTo: tollgate.database.users,
      distribution: scale.distribution,
      connections: CONNECTIONS,
    }
    // Every answer of the warm-up is checked.
    await load.run({ ...round, seconds: scale.warmUpSeconds, lookAtAnswers: true })
    const rounds = await interleave(
      scale.rounds,
      {
        REST: () => load.run({ ...round, seconds: scale.seconds }),
        GraphQL: () => tollgate.check(CONNECTIONS),
      },
      tellRound,
    )
    tollgate.server.checkLog()
    const rates = {
      a: rounds.REST.map((r) => r.perSecond),
      b: rounds.GraphQL.map((r) => r.perSecond),
    }
    return [
      {
        ...ratioOf(compare(rates.a, rates.b), '/s'),
        p50: median(rounds.REST.map((r) => r.p50)),
        p99: median(rounds.REST.map((r) => r.p99)),
      },
    ]
  },
}
