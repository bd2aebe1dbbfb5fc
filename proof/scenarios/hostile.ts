import { setTimeout as sleep } from 'node:timers/promises'
import { furnish } from '../harness/app.ts'
import { ALLOWANCE_MS, DEADLINE_MS } from '../harness/caller.ts'
import { Cluster } from '../harness/cluster.ts'
import { hostileRequest } from '../harness/hostile-requests.ts'
import { startNode } from '../harness/node.ts'
import { RawConnection } from '../harness/raw-connection.ts'
import type { Scenario } from '../scenario.ts'
import type { Trial } from '../trial.ts'

const CONNECTIONS = 16
const MOST_GROWTH_MB = 150
/** Warms the service up for every kind of request before memory is measured. */
const WARM_UP = 1_000
/** What is not HTTP is mostly cut off, and otherwise not worth waiting for. */
const CUT_OFF_MS = 500

export const hostile: Scenario = {
  name: 'hostile',
  what: 'generated hostile requests: random bytes, broken JSON, deep documents, oversized and odd variables, malformed HTTP; the service has a heap of 128 MB',
  weight: 20,
  full: { requests: 1_000_000 },
  faults: ['crashed', 'wrong response', 'internal error', 'memory growth', 'unanswered'],
  breakage: {
    what: 'a body that is not JSON is answered with status 400',
    sources: [
      {
        file: 'http/graphql-handler.ts',
        find: '      exchange.answer(200, id, { errors })\n    }\n    return outcomeOf',
        replace: '      exchange.answer(400, id, { errors })\n    }\n    return outcomeOf',
      },
    ],
  },

  async run(trial: Trial) {
    const cluster = await Cluster.make(trial)
    const NODE_OPTIONS = '--max-old-space-size=128'
    const node = await startNode(trial, { DATABASE_URL: await cluster.createDatabase(), NODE_OPTIONS })
    await furnish(node, ['ann'])

    const memory = { before: null as number | null, peak: 0 }
    const connection = async () => {
      let open: RawConnection | null = null
      while (trial.goesOn('requests', WARM_UP * 2) && !node.ended) {
        if (!open || open.closed) open = new RawConnection(node.url)
        open = await send(trial, open)
        trial.count('requests')
        const done = trial.counts.get('requests') ?? 0
        if (done === WARM_UP) memory.before = await node.memory()
        if (done % 5_000 === 0) memory.peak = Math.max(memory.peak, (await node.memory()) ?? 0)
      }
      open?.destroy()
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, connection))
    await sleep(100)
    if (node.ended) trial.fault('crashed', `${JSON.stringify(node.ended)} ${node.output().slice(-500)}`)
    else await node.admin.data('{ user(id: "ann") { id } }')

    const { before, peak } = memory
    const after = await node.memory()
    if (before === null || after === null) return
    const growth = Math.max(peak, after) - before
    trial.note(
      `memory was ${before.toFixed(0)} MB after ${WARM_UP} requests, at most ${Math.max(peak, after).toFixed(0)} MB, and ${after.toFixed(0)} MB at the end`,
    )
    if (growth > MOST_GROWTH_MB) trial.fault('memory growth', `it grew by ${growth.toFixed(0)} MB`)
  },
}

/** Sends one; returns the connection if it can be used again. */
async function send(trial: Trial, connection: RawConnection): Promise<RawConnection | null> {
  const { pieces, isPost } = hostileRequest(trial.random)
  const began = performance.now()
  for (const piece of pieces) connection.write(piece)
  const answer = await connection.read(isPost ? DEADLINE_MS + ALLOWANCE_MS : CUT_OFF_MS)
  if (!isPost) {
    connection.destroy()
    return null
  }
  const sent = Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
    .toString('latin1')
    .slice(0, 300)
  if (answer === 'late') {
    trial.fault('unanswered', sent)
    connection.destroy()
    return null
  }
  if (answer === null || answer.status !== 200) {
    trial.fault('wrong response', `${answer?.status ?? 'cut off'} for ${sent}`)
    connection.destroy()
    return null
  }
  trial.answered(performance.now() - began)
  check(trial, answer.body, sent)
  return connection
}

function check(trial: Trial, body: string, sent: string): void {
  let answer: { data?: unknown; errors?: { extensions?: { code?: string } }[] }
  try {
    answer = JSON.parse(body)
  } catch {
    trial.fault('wrong response', `${body.slice(0, 100)} for ${sent}`)
    return
  }
  if (!('data' in answer) && !('errors' in answer))
    trial.fault('wrong response', `neither data nor errors for ${sent}`)
  if (answer.errors?.some(({ extensions }) => extensions?.code === 'INTERNAL_SERVER_ERROR'))
    trial.fault('internal error', `${body.slice(0, 200)} for ${sent}`)
}
