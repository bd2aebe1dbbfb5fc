import { beforeAll, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { openServers } from '../harness/servers.ts'
import { shared } from '../harness/shared.ts'
import { type Crowd, fillCrowd, importMany, numbers, V8_LIMITS, withinMb } from './import-of-many.ts'

// Counts that are right for a few must be right for many, and what the server holds must not grow with them. How long
// it takes is measured by bench/scale.ts.

/** `npm run proof -- --only import` has 100,000. */
const USERS = 20_000
const SUBSCRIBERS = 20_000

const servers = shared(() => openServers(1, { NODE_OPTIONS: V8_LIMITS }))
let crowd: Crowd
beforeAll(async () => {
  const { app, processes, url } = servers
  crowd = { users: USERS, url: url(0), dashboard: app.dashboard, pid: processes[0]?.process.pid, sql }
  await fillCrowd(crowd)
})

const sql = <Row>(text: string, values: unknown[] = []) =>
  rowsOf<Data>({ connectionString: servers.database.url }, text, values) as Promise<Row[]>

describe('spec §2 UpdateUserInput: a CSV import of many rows', () => {
  it(`${USERS} rows: every one is classified, applied and undone, in bounded memory`, () => importMany(crowd))
})

describe('gap: what publishing would do to many', () => {
  const used = (i: number) => i % 20
  const hasAddon = (i: number) => i % 4 === 0

  beforeAll(async () => {
    const { app } = servers
    const never = { resetPeriod: 'NEVER' }
    await publishPackage(app, 'plan', { calls: { limit: 10, ...never }, seats: {} })
    await publishPackage(app, 'extra', { calls: { limit: 5, ...never } }, true)
    const subscribe = (name: string, isAddon: boolean, which: string) =>
      sql(
        `insert into subscription (app_id, id, user_uid, package_id, is_addon, started_at, anchor)
         select app_id, '${name}' || id, uid, '${name}', ${isAddon}, now(), now() from users
         where app_id = 'default' and substr(id, 2)::int < $1 and ${which} order by uid`,
        [SUBSCRIBERS],
      )
    await subscribe('plan', false, 'true')
    await subscribe('extra', true, 'substr(id, 2)::int % 4 = 0')
    await sql(
      `insert into usage_counter (app_id, user_uid, feature_id, reset_period, period_start, used)
       select app_id, uid, 'calls', 'NEVER', to_timestamp(0), substr(id, 2)::int % 20 from users
       where app_id = 'default' and substr(id, 2)::int < $1`,
      [SUBSCRIBERS],
    )
    await app.dashboard.call('editPackage', {
      appId: 'default',
      id: 'plan',
      input: {
        features: [{ id: 'calls', entitlement: { limit: 5, resetPeriod: 'NEVER' } }, { id: 'seats' }],
      },
    })
  })

  it(`${SUBSCRIBERS} subscribers: all are counted and all who lose are listed, in bounded memory`, async () => {
    const fits = (i: number, limit: number) => used(i) + 1 <= limit + (hasAddon(i) ? 5 : 0)
    const losing = numbers(SUBSCRIBERS).filter((i) => fits(i, 10) && !fits(i, 5))
    expect(losing.length).toBeGreaterThan(0)
    const { dashboard } = servers.app
    await withinMb(crowd.pid, 30, async () => {
      const publishPreview = await dashboard.call(
        'publishPreview { subscribers gain lose features { featureId gain lose } touched { next rows { userId } } }',
        { appId: 'default', packageId: 'plan', first: 500 },
      )
      expect(publishPreview).toMatchObject({
        subscribers: SUBSCRIBERS,
        gain: 0,
        lose: losing.length,
        features: [{ featureId: 'calls', gain: 0, lose: losing.length }],
      })
      const seen: string[] = []
      for (let page = publishPreview.touched; ; ) {
        seen.push(...page.rows.map((row: Data) => row.userId))
        if (page.next === null) break
        const rest = await dashboard.data(
          `query ($after: String!) { publishTouched(appId: "default", packageId: "plan", first: 500, after: $after) {
            next rows { userId } } }`,
          { after: page.next },
        )
        page = rest.publishTouched
      }
      expect(seen).toEqual(losing.map((i) => `u${i}`))
    })
  })
})
