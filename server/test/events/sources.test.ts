import { beforeEach, describe, expect, it } from 'vitest'
import { bulkChanges, TO_PRO, USERS } from '../harness/bulk.ts'
import { publishPackage } from '../harness/catalogue.ts'
import { type ClockedApp, clockedApp, midnight } from '../harness/clocked-app.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { startTestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'
import { eventsFrom } from './read-events.ts'

// Changes that no single call of the Admin API makes have the same events.

const server = shared(startTestServer)
const bulk = bulkChanges(() => server)
let app: ClockedApp
let cursor: string

/** The next events, as `[type, user]`; those of one user keep their order. */
async function next(...expected: [type: string, userId: string | null][]): Promise<void> {
  const read = await eventsFrom(app.admin, cursor, expected.length)
  cursor = read.next
  const byUser = (a: unknown[], b: unknown[]) => String(a[1]).localeCompare(String(b[1]))
  expect(read.nodes.map(({ type, userId }) => [type, userId]).sort(byUser)).toEqual(expected)
}

beforeEach(async () => {
  app = await clockedApp(server)
  await app.advance(midnight('2091-03-10'))
  await publishPackage(app, 'free', { call: { limit: 1 } })
  await publishPackage(app, 'pro', { call: { limit: 2 } })
  await app.subscribe('free')
  cursor = (await eventsFrom(app.admin, null, 6)).next
})

describe('gap: events, whatever made the change', () => {
  it('an import that creates users', async () => {
    const file = 'id,email,plan\nbob,bob@example.com,free\n'
    expect(
      await upload(server, await sessionCookie(server), { app: app.id, create: '1' }, file),
    ).toMatchObject({
      created: 1,
    })
    await next(['user.created', 'bob'], ['subscription.created', 'bob'], ['entitlements.changed', 'bob'])
  })

  it('a bulk change, and its undoing', async () => {
    const { id } = await bulk.start(app.id, { of: USERS, ...TO_PRO })
    await bulk.settled(app.id, id)
    const change = [
      ['subscription.ended', 'ann'],
      ['subscription.created', 'ann'],
      ['subscription.changed', 'ann'],
      ['entitlements.changed', 'ann'],
    ] as [string, string][]
    await bulk.begin('apply', app.id, id)
    await next(...change)
    await bulk.begin('undo', app.id, id)
    await next(...change)
  })

  it('a publication that was scheduled', async () => {
    const features = [{ id: 'call', entitlement: { limit: 5 } }]
    await app.dashboard.call('editPackage { id }', { id: 'free', input: { features } })
    await app.dashboard.call('publishPackage { id }', { id: 'free', at: midnight('2091-03-20') })
    await app.advance(midnight('2091-03-21'))
    await next(['entitlements.changed', 'ann'], ['package.published', null])
  })
})
