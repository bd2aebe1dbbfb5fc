import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishPackage } from '../harness/catalogue.ts'
import type { Data } from '../harness/client.ts'
import { rowsOf } from '../harness/database.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { openServers, type Servers } from '../harness/servers.ts'

// Counts that are right for a few must be right for many, and what the server holds must not grow with them. How long
// it takes is measured by bench/scale.ts.

const USERS = 100_000
const SUBSCRIBERS = 20_000
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

/** So that it collects its garbage soon: what it lets lie otherwise depends on how busy the machine is. */
const V8_LIMITS = '--max-old-space-size=64 --max-semi-space-size=2'

let servers: Servers
beforeAll(async () => {
  servers = await openServers(1, { NODE_OPTIONS: V8_LIMITS })
  await sql(
    `insert into users (app_id, id, email, billing_id, metadata)
     select 'default', 'u' || i, 'u' || i || '@old.example', 'old_' || i, '{}' from generate_series(0, $1::int - 1) i
     order by i`,
    [USERS],
  )
})
afterAll(() => servers?.close())

const sql = <Row extends Data>(text: string, values: unknown[] = []) =>
  rowsOf<Row>({ connectionString: servers.database.url }, text, values)

/** The most that the server ever held, where the system tells. */
function peakMb(): number | null {
  try {
    const status = readFileSync(`/proc/${servers.processes[0]?.process.pid}/status`, 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  } catch {
    return null
  }
}

/** Does it, and has the server hold no more than that much more than before. */
async function withinMb<T>(most: number, work: () => Promise<T>): Promise<T> {
  const before = peakMb()
  const result = await work()
  const after = peakMb()
  if (before !== null && after !== null) expect(after - before).toBeLessThan(most)
  return result
}

describe('spec §2 UpdateUserInput: a CSV import of many rows', () => {
  type Kind = 'changed' | 'unchanged' | 'BAD_EMAIL' | 'UNKNOWN_USER' | 'BILLING_ID_TAKEN' | 'DUPLICATE_ID'
  function kindOf(i: number): Kind {
    if (i % 1000 === 1) return 'BAD_EMAIL'
    if (i % 1000 === 2) return 'UNKNOWN_USER'
    if (i % 1000 === 3) return 'BILLING_ID_TAKEN'
    // The one before names the same.
    if (i % 1000 === 5) return 'DUPLICATE_ID'
    return i % 2 === 0 ? 'changed' : 'unchanged'
  }
  // Long enough that holding them all would be seen.
  const domain = `${'x'.repeat(200)}.example`
  const ROWS: Record<Kind, (i: number) => string> = {
    changed: (i) => `u${i},u${i}@${domain},new_${i}`,
    unchanged: (i) => `u${i},u${i}@old.example,`,
    BAD_EMAIL: (i) => `u${i},none,`,
    UNKNOWN_USER: (i) => `nobody${i},n@${domain},`,
    BILLING_ID_TAKEN: (i) => `u${i},,old_${i + 1}`,
    DUPLICATE_ID: (i) => `u${i - 1},again@${domain},`,
  }
  const of = (kind: Kind) => numbers(USERS).filter((i) => kindOf(i) === kind)
  const usersNow = () =>
    sql<{ changed: string; old: string }>(
      `select count(*) filter (where email = id || '@' || $1 and billing_id = 'new_' || substr(id, 2)) as changed,
         count(*) filter (where email = id || '@old.example' and billing_id = 'old_' || substr(id, 2)) as old
       from users where app_id = 'default'`,
      [domain],
    ).then(([row]) => ({ changed: Number(row?.changed), old: Number(row?.old) }))

  /** Starts it and waits until it is through. */
  async function move(mutation: string): Promise<Data> {
    const { dashboard } = servers.app
    await dashboard.data(`mutation { ${mutation}(appId: "default", id: "many") { state } }`)
    for (;;) {
      const { userImport } = await dashboard.data(
        '{ userImport(appId: "default", id: "many") { state rows bad unchanged changed applied refused undone kept } }',
      )
      if (!/ING$/.test(userImport.state)) return userImport
      await delay(50)
    }
  }

  it(`${USERS} rows: every one is classified, applied and undone, in bounded memory`, async () => {
    const changed = of('changed').length
    const bad = numbers(USERS).filter((i) => !['changed', 'unchanged'].includes(kindOf(i)))
    const file = ['id,email,billingId', ...numbers(USERS).map((i) => ROWS[kindOf(i)](i))].join('\n')
    const counts = { rows: USERS, changed, unchanged: of('unchanged').length, bad: bad.length }
    await withinMb(80, async () => {
      const cookie = await sessionCookie({ url: servers.url(0) })
      const query = { app: 'default', import: 'many', dryRun: '1' }
      const answer = await upload({ url: servers.url(0) }, cookie, query, file)
      expect(answer).toMatchObject({ status: 200, ...counts, badRowsLeftOut: 0 })
      // The first row is on the second line.
      const told = bad.map((i) => `${i + 2} ${kindOf(i)}`)
      expect(answer.badRows.map((row: Data) => `${row.line} ${row.problem}`)).toEqual(told)
      expect(await usersNow()).toEqual({ changed: 0, old: USERS })

      // One is changed meanwhile, and one billing id is taken.
      await sql(`update users set email = 'meanwhile@x.example' where id = 'u10'`)
      await sql(`update users set billing_id = 'new_12' where id = 'u11'`)
      const applied = { ...counts, applied: changed - 2, refused: 2, undone: 0, kept: 0 }
      expect(await move('applyUserImport')).toEqual({ state: 'APPLIED', ...applied })
      expect(await usersNow()).toEqual({ changed: changed - 2, old: USERS - changed })

      await sql(`update users set email = 'later@x.example' where id = 'u20'`)
      const undone = { undone: changed - 3, kept: 1 }
      expect(await move('undoUserImport')).toEqual({ state: 'UNDONE', ...applied, ...undone })
      expect(await usersNow()).toEqual({ changed: 0, old: USERS - 3 })
    })
    const rows = await servers.app.dashboard.data(`{
      refused: userImportRows(appId: "default", id: "many", outcome: REFUSED) { rows { userId problem } }
      kept: userImportRows(appId: "default", id: "many", outcome: KEPT) { rows { userId problem } }
      applied: userImportRows(appId: "default", id: "many", outcome: APPLIED) { rows { line } }
    }`)
    expect(rows).toEqual({
      refused: {
        rows: [
          { userId: 'u10', problem: 'CHANGED_SINCE' },
          { userId: 'u12', problem: 'BILLING_ID_TAKEN' },
        ],
      },
      kept: { rows: [{ userId: 'u20', problem: 'CHANGED_SINCE' }] },
      applied: { rows: [] },
    })
  })
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
    await app.dashboard.data(
      `mutation { editPackage(appId: "default", id: "plan", input: { features: [
        { id: "calls", entitlement: { limit: 5, resetPeriod: NEVER } }, { id: "seats" }] }) { id } }`,
    )
  })

  it(`${SUBSCRIBERS} subscribers: all are counted and all who lose are listed, in bounded memory`, async () => {
    const fits = (i: number, limit: number) => used(i) + 1 <= limit + (hasAddon(i) ? 5 : 0)
    const losing = numbers(SUBSCRIBERS).filter((i) => fits(i, 10) && !fits(i, 5))
    expect(losing.length).toBeGreaterThan(0)
    const { dashboard } = servers.app
    await withinMb(30, async () => {
      const { publishPreview } = await dashboard.data(
        `{ publishPreview(appId: "default", packageId: "plan", first: 500) { subscribers gain lose
          features { featureId gain lose } touched { next rows { userId } } } }`,
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
