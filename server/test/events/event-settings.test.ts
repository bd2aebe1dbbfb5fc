import { describe, expect, it } from 'vitest'
import { newTestApp, publishPackage } from '../harness/catalogue.ts'
import type { Variables } from '../harness/client.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { eventsFrom, readEvents } from './read-events.ts'

const server = shared(startTestServer)

const RECORD = `mutation ($delta: Int!, $action: UsageAction) {
  recordUsage(input: { userId: "ann", featureId: "call", delta: $delta, action: $action }) { recorded }
}`

async function subscribed() {
  const app = await newTestApp(server)
  await publishPackage(app, 'plan', { call: { limit: 100 } })
  await app.admin.data(
    'mutation { createUser(input: { id: "ann" }) { id } subscribe(userId: "ann", packageIds: "plan") { id } }',
  )
  const asked = { types: ['usage.recorded', 'usage.threshold_reached'] }
  return { ...app, asked }
}

describe('gap: events, settings', () => {
  it('usage.recorded: each recorded call is an event once an app turns it on, and none before and after', async () => {
    const { admin, dashboard, asked } = await subscribed()
    await admin.data(RECORD, { delta: 1 })
    expect(
      await dashboard.call('updateEventSettings { usageRecorded keptDays }', { usageRecorded: true }),
    ).toEqual({
      usageRecorded: true,
      keptDays: 30,
    })
    await admin.data(RECORD, { delta: 5 })
    await admin.data(RECORD, { delta: 2, action: 'SET' })
    // Refused: no event.
    await admin.data(RECORD, { delta: 1_000 })
    await admin.data(RECORD, { delta: 80 })
    await dashboard.call('updateEventSettings { usageRecorded }', { usageRecorded: false })
    await admin.data(RECORD, { delta: 1 })
    await admin.data(RECORD, { delta: 17 })
    const { nodes } = await eventsFrom(admin, null, 5, asked)
    expect(
      nodes.map(({ type, data }) => [type, data.object.action ?? data.object.threshold, data.object.used]),
    ).toEqual([
      ['usage.recorded', 'ADD', 6],
      ['usage.recorded', 'SET', 2],
      ['usage.recorded', 'ADD', 82],
      ['usage.threshold_reached', 80, 82],
      ['usage.threshold_reached', 100, 100],
    ])
    expect(nodes[1]?.data).toMatchObject({
      object: { userId: 'ann', featureId: 'call', delta: -4 },
      previous: { used: 6 },
    })
  })

  it('the retention: from 1 to 90 days, and what is omitted stays', async () => {
    const { dashboard } = await newTestApp(server)
    const set = (change: Variables) =>
      dashboard.call('updateEventSettings { usageRecorded keptDays }', change)
    expect(await set({ keptDays: 90 })).toEqual({ usageRecorded: false, keptDays: 90 })
    expect(await set({ usageRecorded: true })).toEqual({ usageRecorded: true, keptDays: 90 })
    expect(await set({ keptDays: 1 })).toEqual({ usageRecorded: true, keptDays: 1 })
    expect(await dashboard.call('eventSettings { usageRecorded keptDays }')).toEqual({
      usageRecorded: true,
      keptDays: 1,
    })
  })

  it('the events of a user are listed newest first, in pages, of one type if asked', async () => {
    const { admin, dashboard } = await subscribed()
    for (const name of ['A', 'B', 'C'])
      await admin.data('mutation ($name: String) { updateUser(id: "ann", input: { name: $name }) { id } }', {
        name,
      })
    await eventsFrom(admin, null, 3, { types: ['user.updated'] })
    const all = (await readEvents(admin, { userId: 'ann' })).nodes.map(({ id }) => id)
    const read = (more: Variables) =>
      dashboard.call('userEvents { next rows { id type data } }', { userId: 'ann', ...more })
    expect((await read({})).rows.map(({ id }: { id: string }) => id)).toEqual(all.toReversed())
    const first = await read({ types: ['user.updated'], first: 2 })
    const second = await read({ types: ['user.updated'], first: 2, after: first.next })
    const names = [...first.rows, ...second.rows].map(({ data }) => data.object.name)
    expect([names, second.next]).toEqual([['C', 'B', 'A'], null])
  })
})
