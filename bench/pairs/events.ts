import { setTimeout as sleep } from 'node:timers/promises'
import { signedIn } from '../../server/test/harness/client.ts'
import { type Pair, ratioOf, tellRound } from '../pair.ts'
import { withClient } from '../postgres.ts'
import { compare, interleave } from '../rounds.ts'
import { APP, FEATURE } from '../seed.ts'
import { OWNER } from '../server.ts'
import type { Subject } from '../subject.ts'

const CONNECTIONS = 64
const DRAIN_MS = 120_000

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
  ],
  async run(bench) {
    const subject = await bench.start(await bench.database(bench.scale.sizes[0] ?? 10_000))
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
    await set(subject, SIDES.none)
    await subject.server.stop()
    const speeds = (side: string) => (rounds[side] ?? []).map(({ perSecond }) => perSecond)
    return ['threshold', 'usage.recorded'].map((side) => ratioOf(compare(speeds(side), speeds('none')), '/s'))
  },
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
