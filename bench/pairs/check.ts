import { fileURLToPath } from 'node:url'
import { type Pair, ratioOf, tellRound } from '../pair.ts'
import { printed, start } from '../processes.ts'
import { CHECK, sampleAnswer } from '../requests.ts'
import { compare, interleave, median } from '../rounds.ts'

const CONNECTIONS = 64
const BARE_HTTP = fileURLToPath(new URL('../bare-http.ts', import.meta.url))

export const check: Pair = {
  name: 'check',
  claims: [
    {
      name: 'check',
      what: 'canUseFeature through HTTP and PostgreSQL ÷ bare node:http with JSON.parse and a constant answer of the same size, 64 connections',
      bound: '≥',
      must: 0.5,
      aim: 0.8,
    },
  ],
  async run({ scale, load, subject }) {
    const tollgate = await subject()
    const { users } = tollgate.database
    const answer = await sampleAnswer(tollgate.server, CHECK, 1)
    const child = start(process.execPath, ['--import', 'tsx', BARE_HTTP], {
      NODE_ENV: 'production',
      ANSWER: answer,
    })
    const url = await printed(child, /listening on (\S+)/)
    const bare = (seconds: number) =>
      load.run({ url, request: CHECK, upTo: users, connections: CONNECTIONS, seconds })
    await bare(scale.warmUpSeconds)
    const rounds = await interleave(
      scale.rounds,
      { tollgate: () => tollgate.check(CONNECTIONS), 'bare node:http': () => bare(scale.seconds) },
      tellRound,
    )
    await child.stop()
    const rates = {
      a: rounds.tollgate.map((r) => r.perSecond),
      b: rounds['bare node:http'].map((r) => r.perSecond),
    }
    return [
      {
        ...ratioOf(compare(rates.a, rates.b), '/s'),
        p50: median(rounds.tollgate.map((r) => r.p50)),
        p99: median(rounds.tollgate.map((r) => r.p99)),
      },
    ]
  },
}
