import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { moveBuckets } from '../../src/operations/upkeep/cells.ts'
import { keepLedger } from '../../src/operations/upkeep/keep-ledger.ts'
import { moveToWorker } from '../../src/operations/upkeep/remote-cells.ts'
import { bucketOf } from '../../src/store/cells/cells.ts'
import { readBuckets } from '../../src/store/cells/move-users.ts'
import { findWorkers, nameOfWorker, workersOfCells } from '../../src/store/cells/remote-cells.ts'
import type { Pool } from '../../src/store/connection/database.ts'
import { endedForAnother } from '../../src/store/connection/refusals.ts'
import { openPartition } from '../../src/store/ledger/ledger-partitions.ts'
import { unbalancedCounters } from '../../src/store/schema/tables.ts'
import { createUsers } from '../harness/catalogue.ts'
import { type CellServers, MOVING, openCellServers, openLedgers } from '../harness/cells.ts'
import { createDatabase } from '../harness/database.ts'
import { PATIENCE_MS } from '../harness/patience.ts'
import { retirePartition } from '../harness/retire-partition.ts'
import { createApp, type TestServer } from '../harness/server.ts'

// The ledgers of cells on other servers, by Citus: two of the four cells of such a run are on workers.

const TOOLS = fileURLToPath(new URL('../../dist/data-tools.js', import.meta.url))
const never = new AbortController().signal
const REMOTE = [2, 3]
const hasCitus = inject('clusterUrls').length > 0
if (!hasCitus)
  console.log('Not run without a Citus cluster (TOLLGATE_TEST_CITUS_URL): ledgers on other servers.')

describe.runIf(hasCitus)('gap: ledgers on other servers', () => {
  let cells: CellServers
  let ledgers: [Pool, ...Pool[]]
  let folder: string
  const users = Array.from({ length: 16 }, (_, i) => `u${i}`)
  const counted = new Map(users.map((id) => [id, 0]))

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-ledger-'))
    cells = await openCellServers(createDatabase())
    await createUsers(cells.app.admin, users)
    for (const id of users)
      await cells.app.admin.data(`mutation { subscribe(userId: "${id}", packageIds: ["plan"]) { id } }`)
    ledgers = await openLedgers(cells)
  })
  afterAll(async () => {
    for (const ledger of ledgers ?? []) await ledger.end()
    await cells?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const ledgerOf = (cell: number) => ledgers[cell] as Pool
  const cellOf = async (id: string) => (await readBuckets(cells.pool))[bucketOf('default', id)] ?? 0
  const moveTo = async (id: string, to: number) =>
    moveBuckets(cells.pool, [{ bucket: bucketOf('default', id), to }], MOVING)
  /** With a key, in every other call. */
  const record = async (id: string, server: number) => {
    const n = (counted.get(id) ?? 0) + 1
    counted.set(id, n)
    const { admin } = cells.servers[server % 2] as TestServer
    const client = n % 2 ? admin : admin.with({ 'Idempotency-Key': `${id} ${n}` })
    await cells.record(client, id)
  }
  /** What was acknowledged is what is counted, and each counter is the sum of what the ledger has of it. */
  const expectSound = async () => {
    for (const id of users)
      expect([id, await cells.usedBy(cells.app.admin, id)]).toEqual([id, counted.get(id)])
    expect(await unbalancedCounters(cells.pool)).toBe(0)
    for (const ledger of ledgers) expect(await unbalancedCounters(ledger)).toBe(0)
  }
  /** Closes the current partition, and returns its block. */
  const closed = async () => {
    const { opened } = await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: null }, never)
    return (opened ?? 0) - 1
  }
  const retireAll = () => keepLedger(ledgers, { partitionSeconds: 86_400, keptSeconds: 0 }, never)
  const tool = (...args: string[]) =>
    promisify(execFile)(process.execPath, [TOOLS, 'ledger', ...args], {
      env: { ...process.env, DATABASE_URL: cells.servers[0].databaseUrl },
    })

  it('delete what is too old, and count it still, wherever its user is moved', async () => {
    for (const id of users) await record(id, 0)
    const block = await closed()
    for (const id of users) await record(id, 1)
    expect(await retireAll()).toEqual({ opened: null, retired: [block] })
    await expectSound()
    for (const ledger of ledgers) {
      const { rows } = await ledger.query('select count(*) as entries from usage_ledger')
      const { rows: base } = await ledger.query(
        'select coalesce(sum(entries), 0)::int as entries from ledger_base',
      )
      expect(base).toEqual(rows)
    }
    for (const to of [2, 0, 3, 2]) {
      await moveTo('u1', to)
      await record('u1', to)
      await expectSound()
    }
  })

  it('are archived into files that have all entries', async () => {
    for (const id of users) await record(id, 0)
    const block = await closed()
    const status = async () => (await tool('status')).stdout.split('\n')
    for (const cell of REMOTE)
      expect((await status()).find((line) => line.startsWith(`cell ${cell}\t${block}\t`))).toMatch(
        /\t0\.\d MB$/,
      )
    const { stdout } = await tool('archive', '--to', folder, '--older-than', '0')
    const files = (await readdir(folder)).filter((name) => name.includes(`-000${block}-`))
    expect(files).toHaveLength(ledgers.length)
    expect(stdout.match(/^Archived /gm)).toHaveLength(files.length)
    let read = 0
    for (const file of files) {
      expect((await tool('check', join(folder, file))).stdout).toContain('is valid')
      const { stdout: lines } = await tool('read', join(folder, file))
      read += lines.split('\n').filter(Boolean).length
    }
    const { rows } = await cells.pool.query(
      `select sum(entries)::int as entries from ledger_base where block = $1`,
      [block],
    )
    expect(rows).toEqual([{ entries: read }])
    expect(read).toBeGreaterThanOrEqual(users.length)
    for (const cell of REMOTE)
      expect((await status()).find((line) => line.startsWith(`cell ${cell}\t${block}\t`))).toContain(
        'archived in',
      )
    await expectSound()
  })

  it.each([
    ['comes into', 0, 2],
    ['comes from another server into', 3, 2],
    ['leaves', 2, 0],
    ['leaves for another server', 2, 3],
  ])('lose no entry of a user who %s a cell whose partition is being retired', async (_, from, to) => {
    await moveTo('u3', from)
    for (const id of users) await record(id, 0)
    const block = await closed()
    let archived = 0
    const retired = await retirePartition(ledgerOf(2), block, {
      stopping: never,
      async archive() {
        if (archived++ === 0) await moveTo('u3', to)
        return { file: 'file', sha256: '' }
      },
    })
    expect({ retired, archived }).toEqual({ retired: true, archived: 2 })
    await retireAll()
    expect(await cellOf('u3')).toBe(to)
    await expectSound()
  })

  it('are summed up again when a cell has gone to another worker meanwhile', async () => {
    for (const id of users) await record(id, 0)
    const block = await closed()
    const workers = (await findWorkers(cells.pool)).map(nameOfWorker)
    const place = (await workersOfCells(cells.pool)).get('c2')
    const other = workers.find((name) => place && name !== nameOfWorker(place)) ?? ''
    let archived = 0
    await retirePartition(ledgerOf(2), block, {
      stopping: never,
      async archive() {
        if (archived++ === 0) await moveToWorker(cells.pool, 2, other)
        return { file: 'file', sha256: '' }
      },
    })
    expect(archived).toBe(2)
    await retireAll()
    await expectSound()
  })

  it.each([
    ['the sample is removed', 'mutation { removeSample(appId: "sampled") { users } }'],
    ['a user of the sample is deleted', ''],
  ])('are summed up again when %s meanwhile', async (_, removal) => {
    const { dashboard } = cells.servers[0]
    const app = removal ? 'sampled' : 'other'
    await createApp(cells.servers[0], app)
    for (const id of users) await record(id, 0)
    await dashboard.data(`mutation { loadSample(appId: "${app}") { users } }`)
    const { rows: sampled } = await ledgerOf(2).query(
      'select id from users u where app_id = $1 and exists (select 1 from usage_ledger l where l.app_id = $1 and l.user_uid = u.uid) order by uid limit 1',
      [app],
    )
    const block = await closed()
    let archived = 0
    await retirePartition(ledgerOf(2), block, {
      stopping: never,
      async archive() {
        if (archived++ === 0)
          await dashboard.data(
            removal || `mutation { deleteUser(appId: "${app}", id: "${sampled[0].id}") { id } }`,
          )
        return { file: 'file', sha256: '' }
      },
    })
    expect(archived).toBe(2)
    await retireAll()
    await expectSound()
  })

  it('wait for entries that are on their way, and refuse those that come too late', async () => {
    await createUsers(cells.app.admin, ['late'])
    await cells.app.admin.data('mutation { subscribe(userId: "late", packageIds: ["plan"]) { id } }')
    await cells.record(cells.app.admin, 'late')
    await moveTo('late', 2)
    const { rows } = await ledgerOf(2).query<{ uid: number; seq: number; start: string }>(
      `select l.user_uid as uid, max(l.seq) as seq, max(l.period_start)::text as start from usage_ledger l join users u
       on u.app_id = l.app_id and u.uid = l.user_uid where u.id = 'late' group by 1`,
    )
    const { uid = 0, seq = 0, start = '' } = rows[0] ?? {}
    /** What a process does that took its number long ago. */
    const write = (db: Pick<Pool, 'query'>, was: number) =>
      db.query(`select c2.write_usage(array['default'], array[${uid}]::bigint[], array['call'], array['MONTH'],
        array['${start}']::timestamptz[], array[${was}]::bigint[], array[${was + 1}]::bigint[], array['default'],
        array[${uid}]::bigint[], array['call'], array['MONTH'], array['${start}']::timestamptz[],
        array[${seq + was}]::bigint[], array['ADD'], array[1]::bigint[], array[${was + 1}]::bigint[],
        array[now()]::timestamptz[], array[1], '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`)
    /** Whoever is refused so takes new numbers and tries again. */
    const refusalOf = (writing: Promise<unknown>) =>
      writing.then(
        () => 'none',
        (error: Error) => (endedForAnother(error) ? error.message : 'another'),
      )
    const block = await closed()
    const slow = await ledgerOf(2).connect()
    await slow.query('begin')
    await write(slow, 1)
    let told = () => {}
    const waits = new Promise<void>((resolve) => {
      told = resolve
    })
    const retiring = retirePartition(ledgerOf(2), block, {
      stopping: never,
      waiting: told,
      async archive() {
        expect(await refusalOf(write(ledgerOf(2), 2))).toBe('the partition of the ledger is being retired')
        return { file: 'file', sha256: '' }
      },
    })
    await waits
    await slow.query('commit')
    slow.release()
    expect(await retiring).toBe(true)
    expect(await refusalOf(write(ledgerOf(2), 2))).toMatch(/^no partition of relation/)
    expect(await cells.usedBy(cells.app.admin, 'late')).toBe(2)
    expect(await cells.record(cells.app.admin, 'late')).toBe(3)
    await retireAll()
    await expectSound()
  })

  it('lose nothing while usage is recorded, users move and partitions come and go', async () => {
    let over = false
    const until = <T>(work: () => Promise<T>) =>
      (async () => {
        while (!over) await work()
      })()
    let [rounds, moves] = [0, 0]
    const working = [
      ...users.map((id, i) => until(() => record(id, i + (counted.get(id) ?? 0)))),
      until(async () => {
        await moveTo(users[moves % users.length] as string, (moves * 7) % 4)
        moves++
      }),
      until(async () => {
        await openPartition(ledgers[0], 0)
        await keepLedger(ledgers, { partitionSeconds: 0, keptSeconds: 0 }, never)
        rounds++
      }),
    ]
    const enough = () => rounds >= 4 && moves >= 12
    const ends = performance.now() + PATIENCE_MS * 4
    while (!enough() && performance.now() < ends) await Promise.race([delay(200), Promise.all(working)])
    over = true
    await Promise.all(working)
    expect({ rounds, moves, enough: enough() }).toMatchObject({ enough: true })
    await retireAll()
    await expectSound()
  })
})
