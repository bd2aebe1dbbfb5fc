import { paced } from '../paced.ts'
import { figure, type Pair, perSecond, tellRound } from '../pair.ts'
import { CHECK } from '../requests.ts'
import { compare, interleave, median } from '../rounds.ts'

const CONNECTIONS = 64
const SHARES = [25, 50, 75]

export const pacing: Pair = {
  name: 'pacing',
  claims: SHARES.map((share) => ({
    name: `pacing ${share} %`,
    what: `latency of canUseFeature with calls at random times (open loop), counted from the time a call was due; as many calls per second as ${share} % of what 64 connections reach in a closed loop`,
    bound: '≥',
    must: null,
    aim: null,
  })),
  async run({ scale, subject }) {
    const { server, database, check } = await subject()
    const { limit } = await interleave(scale.rounds, { limit: () => check(CONNECTIONS) }, tellRound)
    const most = limit.map((r) => r.perSecond)
    const load = {
      url: `${server.url}/graphql`,
      request: CHECK,
      upTo: database.users,
      distribution: scale.distribution,
      connections: CONNECTIONS,
      seconds: scale.seconds,
    }
    const rounds = await interleave(
      scale.rounds,
      Object.fromEntries(
        SHARES.map((share) => [
          `${share} %`,
          () => paced({ ...load, perSecond: (median(most) * share) / 100 }),
        ]),
      ),
      tellRound,
    )
    server.checkLog()
    return SHARES.map((share) => {
      const results = rounds[`${share} %`] ?? []
      const { a, b, ratio, range } = compare(
        results.map((r) => r.perSecond),
        most,
      )
      const late = figure({ value: median(results.map((r) => r.late)), unit: 'ms' })
      return {
        a: perSecond(a),
        b: perSecond(b),
        value: ratio,
        range,
        p50: median(results.map((r) => r.p50)),
        p99: median(results.map((r) => r.p99)),
        note: `the sender woke at most ${late} late for 99 % of the calls; the latencies include this`,
      }
    })
  },
}
