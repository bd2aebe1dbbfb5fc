import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { moveBuckets } from '../../src/operations/upkeep/cells.ts'
import { distribute, moveToWorker } from '../../src/operations/upkeep/remote-cells.ts'
import { bucketOf } from '../../src/store/cells/cells.ts'
import { findWorkers, nameOfWorker, workersOfCells } from '../../src/store/cells/remote-cells.ts'
import { unbalancedCounters } from '../../src/store/schema/tables.ts'
import { createUsers, publishPackage } from '../harness/catalogue.ts'
import { MOVING, openCellServers } from '../harness/cells.ts'
import type { Data } from '../harness/client.ts'
import { createDatabase } from '../harness/database.ts'
import { sessionCookie, upload } from '../harness/import.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import type { TestServer } from '../harness/server.ts'
import { shared } from '../harness/shared.ts'

// Cells on other servers, by Citus. Two of the four cells of such a run are on workers.

const TOOLS = fileURLToPath(new URL('../../dist/data-tools.js', import.meta.url))
const quiet = () => {}
const hasCitus = inject('clusterUrls').length > 0
if (!hasCitus)
  console.log('Not run without a Citus cluster (TOLLGATE_TEST_CITUS_URL): cells on other servers.')

describe.runIf(hasCitus)('gap: cells on other servers', () => {
  const cells = shared(() => openCellServers(createDatabase()))
  const users = Array.from({ length: 24 }, (_, i) => `u${i}`)
  beforeAll(async () => {
    await createUsers(cells.app.admin, users)
    for (const id of users)
      await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
  })

  const schemaOfUser = async (id: string) => (await cells.cellsOfUser(id))[0] ?? ''
  const isRemote = (schema: string) => schema === 'c2' || schema === 'c3'
  const remoteUsers = async () => {
    const homes = await Promise.all(users.map(schemaOfUser))
    return users.filter((_, i) => isRemote(homes[i] ?? ''))
  }

  it('has users on workers and on the coordinator, and all of them in one list, in order', async () => {
    const homes = new Set(await Promise.all(users.map(schemaOfUser)))
    expect([...homes].sort()).toEqual(['c0', 'c1', 'c2', 'c3'])
    const places = await workersOfCells(cells.pool)
    expect(new Set([...places.values()].map(nameOfWorker)).size).toBe(2)
    const { users: listed } = await cells.app.admin.data('{ users { id } }')
    expect(listed.map(({ id }: Data) => id)).toEqual(users)
    const { subscriptions } = await cells.app.admin.data('{ subscriptions { userId } }')
    expect(subscriptions.map(({ userId }: Data) => userId)).toEqual(users)
  })

  it('counts every record once, while the users of both servers use something', async () => {
    await Promise.all(
      users.map(async (id, i) => {
        for (let n = 1; n <= 5; n++) {
          const { admin } = cells.servers[(i + n) % 2] as TestServer
          expect([id, await cells.record(admin, id)]).toEqual([id, n])
          expect([id, await cells.usedBy(cells.app.admin, id)]).toEqual([id, n])
        }
      }),
    )
    expect(await unbalancedCounters(cells.pool)).toBe(0)
    // The entries of a counter are numbered in their order.
    const { rows } = await cells.pool.query(
      `select user_uid, string_agg(used::text, ' ' order by seq) as used from usage_ledger group by 1`,
    )
    expect(new Set(rows.map(({ used }) => used))).toEqual(new Set(['1 2 3 4 5']))
  })

  it('writes receipts with the usage, and answers the same again', async () => {
    const [id] = await remoteUsers()
    const before = await cells.usedBy(cells.app.admin, id ?? '')
    const send = (key: string) =>
      cells.app.admin
        .with({ 'Idempotency-Key': key })
        .data(
          `mutation { recordUsage(input: { userId: "${id}", featureId: "call", delta: 1 }) { recorded } }`,
        )
    await Promise.all(['one', 'one', 'one', 'other', 'other'].map(send))
    expect(await cells.usedBy(cells.app.admin, id ?? '')).toBe(before + 2)
  })

  it('takes a user from server to server whose id changes, with everything that is theirs', async () => {
    await createUsers(cells.app.admin, ['anna'])
    // PostgreSQL stores it and refuses to look into it.
    const metadata = { note: 'a\u0000b', half: '\ud800' }
    await cells.app.admin.call('updateUser', { id: 'anna', input: { metadata } })
    await cells.app.admin.data('mutation { subscribe(userId: "anna", packageIds: ["plan", "more"]) { id } }')
    const homes = new Set<string>()
    for (let i = 0, name = 'anna'; i < 12; i++) {
      await cells.app.admin.data(`mutation { updateUser(id: "${name}", input: { id: "anna-${i}" }) { id } }`)
      name = `anna-${i}`
      expect(await cells.record(cells.servers[1].admin, name)).toBe(i + 1)
      const subscriptions = await cells.app.admin.call('subscriptions { package { id } userId }', {
        userId: name,
      })
      expect(subscriptions.map((s: Data) => [s.package.id, s.userId])).toEqual([
        ['plan', name],
        ['more', name],
      ])
      const { user } = await cells.app.admin.data(`{ user(id: "${name}") { metadata } }`)
      expect(user.metadata).toEqual(metadata)
      homes.add(await schemaOfUser(name))
    }
    expect([...homes].filter(isRemote)).not.toEqual([])
    expect(homes.size).toBeGreaterThan(2)
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })

  it('gives a billing id to one user only, whatever servers they are on', async () => {
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        users.map((id, i) =>
          (cells.servers[i % 2] as TestServer).dashboard.ask(
            `mutation { updateUser(appId: "default", id: "${id}", input: { billingId: "cus_${round}" }) { id } }`,
          ),
        ),
      )
      expect(answers.filter(({ errors }) => !errors)).toHaveLength(1)
      for (const { errors } of answers)
        if (errors) expect(errors[0]?.message).toContain('Another user already has the billingId')
    }
    const { rows } = await cells.pool.query('select count(*) as noted from user_billing_id')
    const { rows: known } = await cells.pool.query(
      'select count(*) as noted from users where billing_id is not null',
    )
    expect(rows).toEqual(known)
  })

  it('keeps a package that somebody on another server is subscribed to', async () => {
    const [id] = await remoteUsers()
    await publishPackage(cells.app, 'kept', { call: { limit: 1 } }, true)
    await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["kept"]) { id } }`)
    const { errors } = await cells.app.dashboard.ask(
      'mutation { deletePackage(appId: "default", id: "kept") { id } }',
    )
    expect(errors).toHaveLength(1)
  })

  it('applies and undoes an import of users of all servers', async () => {
    const some = users.slice(0, 12)
    const csv = ['id,email,billingId', ...some.map((id) => `${id},${id}@new.example,new_${id}`)].join('\n')
    const [server] = cells.servers
    const query = { app: 'default', dryRun: 'true' }
    const id = 'imported'
    await upload(server, await sessionCookie(server), { ...query, import: id }, csv)
    const move = async (way: 'apply' | 'undo', done: string) => {
      await cells.app.dashboard.data(`mutation { ${way}UserImport(appId: "default", id: "${id}") { state } }`)
      const state = async () =>
        (await cells.app.dashboard.data(`{ userImport(appId: "default", id: "${id}") { state } }`)).userImport
          .state
      await vi.waitFor(async () => expect(await state()).toBe(done), PATIENCE_MS)
    }
    await move('apply', 'APPLIED')
    const read = async () =>
      (await cells.app.admin.data('{ users(first: 12) { email billingId } }')).users as Data[]
    expect((await read()).map(({ email, billingId }) => [email, billingId])).toEqual(
      some.map((id) => [`${id}@new.example`, `new_${id}`]),
    )
    await move('undo', 'UNDONE')
    expect((await read()).filter(({ email }) => email !== null)).toEqual([])
    const { rows } = await cells.pool.query(
      `select from user_billing_id where starts_with(billing_id, 'new_')`,
    )
    expect(rows).toEqual([])
  })

  it('erases a user of another server', async () => {
    const id = (await remoteUsers()).at(-1) ?? ''
    await cells.app.dashboard.call('updateUser', { appId: 'default', id, input: { billingId: 'cus_gone' } })
    await cells.app.admin.data(`mutation { deleteUser(id: "${id}") { id } }`)
    users.splice(users.indexOf(id), 1)
    expect(await cells.cellsOfUser(id)).toEqual([])
    const { rows } = await cells.pool.query(`select from user_billing_id where billing_id = 'cus_gone'`)
    expect(rows).toEqual([])
  })

  it('changes users of other servers while one server hangs', async () => {
    const homes = await Promise.all(users.map(schemaOfUser))
    const usersIn = (schema: string) => users.filter((_, i) => homes[i] === schema)
    const change = (id: string, name: string) =>
      cells.app.admin.ask(
        'mutation ($id: String!, $name: String) { updateUser(id: $id, input: { name: $name }) { name } }',
        { id, name },
      )
    const hanging = await cells.pool.connect()
    await hanging.query('begin; lock table c2.users in access exclusive mode')
    let answered = 0
    const there = usersIn('c2')
    const held = Array.from({ length: 12 }, (_, i) => there[i % there.length] as string).flatMap((id, i) => [
      change(id, `${id} ${i}`),
      cells.app.admin.ask(`{ user(id: "${id}") { name } }`),
      cells.app.admin.ask('{ users(first: 1) { name } }'),
    ])
    const ends = held.map((call) => call.finally(() => answered++))
    try {
      for (const id of [...usersIn('c0'), ...usersIn('c1'), ...usersIn('c3')]) {
        const { data } = await change(id, `${id} changed`)
        expect([id, data?.updateUser.name]).toEqual([id, `${id} changed`])
      }
      expect(answered).toBe(0)
    } finally {
      await hanging.query('rollback')
      hanging.release()
    }
    for (const { data, errors } of await Promise.all(ends))
      expect(data ? 'answered' : errors?.[0]?.extensions.code).toMatch(/^(answered|UNAVAILABLE)$/)
  })

  it('loses nothing while users and whole cells go from server to server', async () => {
    const used = new Map<string, number>()
    for (const id of users) used.set(id, await cells.usedBy(cells.app.admin, id))
    let [going, calls] = [true, 0]
    const load = Promise.all(
      users.map(async (id, i) => {
        for (let n = 0; going; n++) {
          const { admin } = cells.servers[(i + n) % 2] as TestServer
          const next = (used.get(id) ?? 0) + 1
          expect([id, await cells.record(admin, id)]).toEqual([id, next])
          used.set(id, next)
          calls++
        }
      }),
    )
    let failed: unknown = null
    load.catch((error: unknown) => {
      failed = error
    })
    const reach = async (count: number) => {
      await vi.waitUntil(() => failed || calls >= count, { timeout: PATIENCE_MS, interval: 10 })
      if (failed) throw failed
    }
    const [one, other] = (await findWorkers(cells.pool)).map(nameOfWorker)
    for (const to of [one, other, one]) {
      await reach(calls + 50)
      await moveToWorker(cells.pool, 2, to ?? '')
      const buckets = new Set(users.map((id) => bucketOf('default', id)))
      const target = to === one ? 3 : 0
      await moveBuckets(
        cells.pool,
        [...buckets].map((bucket) => ({ bucket, to: target })),
        MOVING,
      )
    }
    await reach(calls + 50)
    going = false
    await load
    for (const id of users)
      for (const { admin } of cells.servers)
        expect([id, await cells.usedBy(admin, id)]).toEqual([id, used.get(id)])
    expect(await unbalancedCounters(cells.pool)).toBe(0)
  })

  it('refuses what cannot be done, in one sentence', async () => {
    await expect(distribute(cells.pool, 0, quiet)).rejects.toThrow('Cell 0 cannot be moved to another server')
    await expect(distribute(cells.pool, 2, quiet)).rejects.toThrow('Cell 2 is already on another server')
    await expect(moveToWorker(cells.pool, 2, 'nowhere:1')).rejects.toThrow('Citus has no worker nowhere:1')
    await expect(
      moveToWorker(cells.pool, 1, nameOfWorker((await findWorkers(cells.pool))[0] ?? { host: '', port: 0 })),
    ).rejects.toThrow('Cell 1 is on this server')
    const refused = async (...args: string[]) => {
      const env = { ...process.env, DATABASE_URL: cells.servers[0].databaseUrl }
      const tool = promisify(execFile)(process.execPath, [TOOLS, ...args], { env })
      return tool.then(
        () => 'done',
        ({ stderr }: { stderr: string }) => stderr,
      )
    }
    expect(await refused('backup', join(tmpdir(), 'never-written'))).toContain(
      'Some cells are on other servers, so a consistent backup is not possible. Back up each server separately.',
    )
  })
})
