import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster } from '../../../proof/harness/cluster.ts'
import { Trial } from '../../../proof/trial.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { NetworkProxy } from '../harness/network-proxy.ts'
import { refusedStart, startTestServer, type TestServer } from '../harness/server.ts'

// Invariants: of several servers, only one that accepts writes is used; after a failover the service is back by itself;
// an old primary that comes back is left alone, though it still accepts writes.

const BACK_MS = 5_000
/** What a busy machine may add. */
const SLACK_MS = 5_000

const trial = new Trial(
  { name: 'several servers', full: {}, faults: [] },
  { seed: 1, seconds: null, breakage: null, previous: null },
)
let old: Cluster
let standby: Cluster
let toOld: NetworkProxy
let toStandby: NetworkProxy
let server: TestServer
const urlOf = (...proxies: NetworkProxy[]) =>
  `postgresql://tollgate@${proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')}/tollgate`

beforeAll(async () => {
  old = await Cluster.make(trial)
  await old.createDatabase()
  toOld = await NetworkProxy.before({ path: old.socket })
  await old.stop()
  standby = await old.standby(trial, { host: '127.0.0.1', port: toOld.port })
  toStandby = await NetworkProxy.before({ path: standby.socket })
  await old.start()
  await standby.start()
  server = await startTestServer({ databaseUrl: urlOf(toStandby, toOld) })
  await publishPackage({ id: 'default', ...server }, 'plan', { calls: { limit: 1_000 } })
  await createUsers(server.admin, ['ada'])
  await server.admin.data('mutation { subscribe(userId: "ada", packageIds: ["plan"]) { id } }')
})
afterAll(async () => {
  await server?.stop()
  await toOld?.close()
  await toStandby?.close()
  await trial.cleanUp()
})

const CHECK = '{ canUseFeature(userId: "ada", featureId: "calls") { access } }'
const RECORD = 'mutation { recordUsage(input: { userId: "ada", featureId: "calls", delta: 1 }) { recorded } }'
const CALLS = [CHECK, RECORD, '{ users { id } }']

const recordsOn = async (cluster: Cluster) =>
  (await cluster.sql('select count(*)::int as records from usage_ledger'))[0]?.records

describe('several servers', () => {
  it('gap: failover: the one that accepts writes is found, wherever it stands in the list', async () => {
    for (const call of CALLS) expect((await server.admin.ask(call)).errors).toBeUndefined()
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })

  it('gap: failover: a start is refused where none accepts writes', async () => {
    const url = `${urlOf(toStandby)}?target_session_attrs=read-write`
    const { stderr } = await refusedStart({ DATABASE_URL: url })
    expect(stderr).toBe(
      `tollgate: DATABASE_URL does not contain a reachable primary (no server accepts writes (127.0.0.1:${toStandby.port} accepts no writes)). Start the primary, or add its address.\n`,
    )
  })

  it('gap: failover: with the primary frozen, the service goes on with the promoted standby', async () => {
    await old.freeze()
    await standby.promote()
    const began = performance.now()
    for (const call of CALLS) while ((await server.admin.ask(call)).errors) await sleep(50)
    expect(performance.now() - began).toBeLessThan(BACK_MS + SLACK_MS)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  })

  it('gap: failover: the old primary is left alone when it comes back', async () => {
    await old.thaw()
    const [before, oldBefore] = [await recordsOn(standby), await recordsOn(old)]
    // Every connection is made again, with both servers accepting writes.
    await standby.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tollgate'",
    )
    let recorded = 0
    while (recorded < 10) if (!(await server.admin.ask(RECORD)).errors) recorded++
    expect([await recordsOn(standby), await recordsOn(old)]).toEqual([Number(before) + 10, oldBefore])
    await standby.kill()
    expect((await server.admin.ask(RECORD)).errors?.[0]?.extensions.code).toBe('UNAVAILABLE')
    expect(await recordsOn(old)).toBe(oldBefore)
  })
})
