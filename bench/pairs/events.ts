import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { signedIn } from '../../server/test/harness/client.ts'
import { type Measurement, type Pair, ratioOf, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import { say } from '../progress.ts'
import { RECORD, sampleAnswer } from '../requests.ts'
import { compare, interleave } from '../rounds.ts'
import { APP, FEATURE } from '../seed.ts'
import { OWNER } from '../server.ts'
import type { Subject } from '../subject.ts'

const CONNECTIONS = 64
const DRAIN_MS = 120_000
const WAITING = 5_000
/** Together they may have all attempts of a process. */
const ENDPOINTS = 20

/** What is an event while usage is recorded. */
const SIDES = {
  none: { thresholds: [] as number[], usageRecorded: false },
  threshold: { thresholds: [80, 100], usageRecorded: false },
  'usage.recorded': { thresholds: [] as number[], usageRecorded: true },
}

export const events: Pair = {
  name: 'events',
  claims: [
    {
      name: 'record, thresholds',
      what: 'recordUsage of a feature with two thresholds ÷ of one without, at 64 connections',
      bound: '≥',
      must: 0.9,
      aim: 0.98,
    },
    {
      name: 'record, usage.recorded',
      what: 'recordUsage with an event for each call ÷ without events, at 64 connections; the events are published meanwhile',
      bound: '≥',
      must: 0.75,
      aim: 0.9,
    },
    {
      name: 'check p99, deliveries',
      what: 'p99 of canUseFeature while 5,000 deliveries to 20 endpoints wait and are attempted again and again, each answered with an error ÷ without deliveries, at 64 connections',
      bound: '≤',
      must: 1.5,
      aim: 1.2,
    },
  ],
  async run(bench) {
    const subject = await bench.start(await bench.database(bench.scale.sizes[0] ?? 10_000), {
      TOLLGATE_WEBHOOK_ALLOW_PRIVATE: 'on',
    })
    const sides = Object.entries(SIDES).map(([name, side]) => [
      name,
      async () => {
        await set(subject, side)
        const result = await subject.record(CONNECTIONS)
        await drained(subject)
        return result
      },
    ])
    const rounds = await interleave(bench.scale.rounds, Object.fromEntries(sides), tellRound)
    const deliveries = await withDeliveries(subject, bench.scale.rounds)
    await set(subject, SIDES.none)
    await subject.server.stop()
    const speeds = (side: string) => (rounds[side] ?? []).map(({ perSecond }) => perSecond)
    return [
      ...['threshold', 'usage.recorded'].map((side) => ratioOf(compare(speeds(side), speeds('none')), '/s')),
      deliveries,
    ]
  },
}

/** Checks, with and without deliveries that wait. */
async function withDeliveries(subject: Subject, rounds: number): Promise<Measurement> {
  const { server, database, check } = subject
  let attempts = 0
  const receiver = createServer((request, response) => {
    attempts++
    request.resume()
    response.writeHead(500).end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  for (let i = 0; i < ENDPOINTS; i++)
    await server.admin.data(
      'mutation ($url: String!) { createWebhookEndpoint(input: { url: $url, types: "usage.recorded" }) { id } }',
      { url: `http://127.0.0.1:${port}/${i}` },
    )
  await set(subject, SIDES['usage.recorded'])
  for (let i = 1; i <= WAITING / ENDPOINTS; i++) await sampleAnswer(server, RECORD, i)
  await drained(subject)
  await set(subject, SIDES.none)
  const change = (text: string) => withClient(database.url, (client) => client.query(text))
  const [none, waiting] = ['without deliveries', 'deliveries'] as const
  const measured = await interleave(
    rounds,
    {
      [none]: async () => {
        await change(`update webhook_delivery set state = 'FAILED', due_at = null, lease = null`)
        return check(CONNECTIONS)
      },
      [waiting]: async () => {
        const { rowCount } = await change(
          `update webhook_delivery set state = 'PENDING', attempts = 0, due_at = now(), lease = null`,
        )
        if (rowCount !== WAITING) throw new Error(`${rowCount} deliveries wait instead of ${WAITING}`)
        attempts = 0
        const result = await check(CONNECTIONS)
        say(`     ${attempts.toLocaleString('en')} attempts`)
        return result
      },
    },
    tellRound,
  )
  receiver.closeAllConnections()
  receiver.close()
  const p99 = (side: typeof none | typeof waiting) => measured[side].map((result) => result.p99)
  return ratioOf(compare(p99(waiting), p99(none)), 'ms')
}

async function set(
  { server }: Subject,
  { thresholds, usageRecorded }: (typeof SIDES)['none'],
): Promise<void> {
  await server.admin.data(
    'mutation ($id: String!, $thresholds: [Int!]) { updateFeature(id: $id, input: { thresholds: $thresholds }) { id } }',
    { id: FEATURE, thresholds },
  )
  const dashboard = await signedIn(server.url, OWNER)
  await dashboard.data(
    'mutation ($appId: String!, $on: Boolean) { updateEventSettings(appId: $appId, usageRecorded: $on) { usageRecorded } }',
    { appId: APP, on: usageRecorded },
  )
}

/** The next side must not publish the events of this one. */
async function drained({ database }: Subject): Promise<void> {
  await withClient(database.url, async (client) => {
    for (let waited = 0; ; waited += 100) {
      const { rowCount } = await client.query('select from event_outbox limit 1')
      if (rowCount === 0) return
      if (waited > DRAIN_MS) throw new Error('the events are not published')
      await sleep(100)
    }
  })
}
