import { beforeAll, describe, expect, it } from 'vitest'
import { askFast } from '../harness/burst.ts'
import { createUsers } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { openServers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'

// Invariants, on two processes at once: usage never passes the highest limit that was in force meanwhile; once a limit
// is answered, nothing new is recorded beyond it; no override is lost.

const SET = 'mutation ($input: OverrideInput!) { setOverride(input: $input) { limit } }'
const RECORD = `mutation ($input: CreateUsageEventInput!) {
  recordUsage(input: $input) { recorded consumption { used } }
}`

const servers = shared(() => openServers(2, { TOLLGATE_REQUEST_TIMEOUT_MS: '60000' }))
beforeAll(async () => {
  await servers.app.admin.data(
    `mutation { ${['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
      .map((id) => `${id}: createFeature(input: { id: "${id}", name: "F", type: CONSUMABLE }) { id }`)
      .join(' ')} }`,
  )
})

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

async function setLimit(turn: number, userId: string, limit: number): Promise<void> {
  const input = { userId, featureId: 'a', mode: 'REPLACE', limit }
  const { errors } = await askFast(servers.url(turn), SET, { input })
  expect(errors).toBeUndefined()
}

/** How many of 64 concurrent records of 1 were counted, and the highest count that any of them was told. */
async function recordMany(userId: string, meanwhile: () => Promise<void> = async () => {}) {
  const [answers] = await Promise.all([
    Promise.all(
      times(64, (i) => askFast(servers.url(i), RECORD, { input: { userId, featureId: 'a', delta: 1 } })),
    ),
    meanwhile(),
  ])
  const recorded = answers.flatMap(({ data }) => (data?.recordUsage.recorded ? [data.recordUsage] : []))
  expect(answers.filter(({ errors }) => errors)).toEqual([])
  return { recorded: recorded.length, highest: Math.max(0, ...recorded.map((r) => r.consumption.used)) }
}

describe('gap: overrides under race', () => {
  it('64 records while the limit is raised and lowered, for each of 4 users', {
    timeout: 120_000,
  }, async () => {
    const users = times(4, (i) => `racer-${i}`)
    await createUsers(servers.app.admin, users)
    for (const userId of users) {
      await setLimit(0, userId, 10)
      const first = await recordMany(userId, async () => {
        for (const [turn, limit] of [40, 5, 30, 50, 20].entries()) await setLimit(turn, userId, limit)
      })
      expect(first.highest).toBe(first.recorded)
      expect(first.recorded).toBeLessThanOrEqual(50)
      const second = await recordMany(userId)
      expect(first.recorded + second.recorded).toBe(Math.max(first.recorded, 20))
    }
  })

  it('overrides of different features that are set at once are all kept', async () => {
    const users = times(6, (i) => `many-${i}`)
    await createUsers(servers.app.admin, users)
    const features = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    // Those of the first user change the catalogue too, each by another reset period; later ones lock only the user.
    const periods = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NEVER', 'HOUR', 'DAY']
    for (const userId of users) {
      const answers = await Promise.all(
        features.map((featureId, i) =>
          askFast(servers.url(i), SET, {
            input: { userId, featureId, mode: 'ADD', limit: i, resetPeriod: periods[i] },
          }),
        ),
      )
      expect(answers.filter(({ errors }) => errors)).toEqual([])
      const overrides = await servers.app.admin.call('overrides { featureId limit }', { userId })
      const kept = overrides.map(({ featureId, limit }: Data) => `${featureId} ${limit}`).sort()
      expect(kept).toEqual(features.map((featureId, i) => `${featureId} ${i}`))
    }
  })
})
