import { withClient } from '../../bench/postgres.ts'
import { type Recorded, type Result, Tollgate } from '../../sdk/src/node.ts'
import { FaultyProxy } from '../../sdk/test/support/faulty-proxy.ts'
import { SKIP_THE_RECEIPT } from '../breakages.ts'
import { furnish } from '../harness/app.ts'
import { Cluster } from '../harness/cluster.ts'
import { API_KEY, startNode } from '../harness/node.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const AT_ONCE = 32
const CUT_SHARE = 0.05
const CALL = { userId: 'ann', featureId: 'call', delta: 1 } as const

export const cutReplies: Scenario = {
  name: 'cut-replies',
  what: 'usage recorded by the SDK through a proxy that drops or truncates 5 % of the replies; the SDK retries',
  weight: 10,
  full: { calls: 100_000 },
  faults: ['lost', 'counted twice', 'unanswered'],
  breakage: SKIP_THE_RECEIPT,

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const databaseUrl = await cluster.createDatabase()
    const node = await startNode(trial, { DATABASE_URL: databaseUrl })
    await furnish(node, [CALL.userId])
    const proxy = await FaultyProxy.before(node.url)
    trial.atEnd(() => proxy.close())
    proxy.fate = () => (trial.random.chance(CUT_SHARE) ? trial.random.pick(['cut', 'half']) : 'pass')
    const tollgate = new Tollgate({ apiKey: API_KEY, baseUrl: proxy.url })

    const answers: Result<Recorded>[] = []
    let next = 0
    const record = async (number: number) => {
      const began = performance.now()
      const answer = await tollgate.recordUsage(CALL, { idempotencyKey: `call ${number}` })
      trial.answered(performance.now() - began)
      return answer
    }
    const work = async () => {
      while (trial.goesOn('calls', 500)) {
        const number = next++
        trial.count('calls')
        answers[number] = await record(number)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    trial.count('replies dropped', proxy.lost)

    // One in 8,000 loses all three replies: its caller gets an error, and retries with its key.
    proxy.fate = () => 'pass'
    for (const [number, { error }] of answers.entries()) if (error) answers[number] = await record(number)
    const recorded = answers.filter(({ data }) => data?.recorded === true).length
    trial.fault('unanswered', 'a call was not recorded at last', next - recorded)
    await withClient(databaseUrl, async (client) => {
      const { rows } = await client.query<{ rows: number; used: number }>(
        `select count(*)::int as rows, (select used::int from usage_counter) as used from usage_ledger`,
      )
      const { rows: ledger = 0, used = 0 } = rows[0] ?? {}
      const detail = `${next} calls were made: the ledger has ${ledger} rows, the counter says ${used}`
      trial.fault('counted twice', detail, Math.max(0, ledger - next, used - next))
      trial.fault('lost', detail, Math.max(0, next - ledger, next - used))
    })
  },
}
