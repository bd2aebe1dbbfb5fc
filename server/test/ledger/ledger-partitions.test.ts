import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Connection } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { keepLedger } from '../../src/operations/upkeep/keep-ledger.ts'
import { retireTogether } from '../../src/operations/upkeep/retire-partition.ts'
import { openPool, type Pool, type Tx, transactionOnce } from '../../src/store/connection/database.ts'
import { openToolPool } from '../../src/store/connection/tool-connection.ts'
import { ledgerOfUser } from '../../src/store/ledger/ledger.ts'
import {
  attachedBlocks,
  currentBlock,
  ledgerPartitions,
  openPartition,
  preparePartitions,
} from '../../src/store/ledger/ledger-partitions.ts'
import { blocksToRetire } from '../../src/store/ledger/retire-partition.ts'
import { deleteUserRows } from '../../src/store/privacy/erase-user.ts'
import { unbalancedCounters } from '../../src/store/schema/tables.ts'
import { writeUsage } from '../../src/store/usage/write-usage.ts'
import { archivePartition, readArchive } from '../../src/tools/backup/ledger-archive.ts'
import type { Undo } from '../../src/tools/backup/reach-database.ts'
import { ledgerTool } from '../../src/tools/ledger-tools.ts'
import { createDatabase, directly } from '../harness/database.ts'
import { retirePartition } from '../harness/retire-partition.ts'
import { basisOf, counterAt, inItsPlace } from '../harness/store.ts'
import { outputInto } from '../harness/tool-output.ts'

// A counter equals the sums of the partitions that were retired plus the entries of the others, at every moment, whatever
// is recorded, opened, retired, deleted or killed meanwhile.

const silent = pino({ level: 'silent' })
const never = new AbortController().signal
const START = Date.UTC(2026, 0, 1)
const BLOCK = 1_099_511_627_776

const cleanups: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function poolOn(make: typeof createDatabase): Promise<Pool & { url: string }> {
  const database = await make()
  const pool = openPool(
    { connectionString: directly(database.url) },
    { max: 12, statementMs: Number.POSITIVE_INFINITY },
    silent,
  )
  cleanups.push(database.drop, () => pool.end())
  await pool.query(`insert into app (id, name) values ('a', 'A') on conflict do nothing`)
  for (let uid = 1; uid < 20; uid++) await createUser(pool, uid)
  return Object.assign(pool, { url: directly(database.url) })
}

const createUser = (pool: Pool, uid: number) =>
  pool.query(
    `insert into users (app_id, uid, id, metadata) overriding system value values ('a', $1::bigint, 'user-' || $1::bigint, '{}')
     on conflict do nothing`,
    [uid],
  )

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  cleanups.push(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Sets a counter as recordUsage does: the value it was read with must still be there. */
async function record(tx: Tx, userUid: number, featureId: string, becomes: (used: number) => number) {
  const key = { appId: 'a', userUid, featureId, resetPeriod: 'NEVER', periodStart: START } as const
  const { rows } = await tx.query<{ used: number; place: string }>(
    `select used, ctid::text as place from usage_counter
     where app_id = 'a' and user_uid = $1 and feature_id = $2`,
    [userUid, featureId],
  )
  const from = rows[0]?.used ?? null
  const to = becomes(from ?? 0)
  const delta = to - (from ?? 0)
  const entries = [{ action: 'ADD', delta, used: to, recordedAt: START } as const]
  const basis = await basisOf(tx, 'a', userUid)
  const done = await writeUsage(
    tx,
    [
      {
        key,
        ref: counterAt(rows[0]?.place ?? ''),
        basis,
        recalled: false,
        from,
        to,
        entries,
        receipts: [],
        events: [],
      },
    ],
    [],
  )
  return done.size > 0
}

async function recording<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const connection = await pool.connect()
  try {
    return await work(connection)
  } finally {
    connection.release()
  }
}

const usedBy = async (pool: Pool): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ uid: number; feature: string; used: number }>(
    `select user_uid as uid, feature_id as feature, used from usage_counter`,
  )
  return Object.fromEntries(rows.map(({ uid, feature, used }) => [`${uid} ${feature}`, used]))
}

const entriesIn = async (pool: Pool): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ block: string; count: number }>(
    `select tableoid::regclass::text as block, count(*) from usage_ledger group by 1 order by 1`,
  )
  return Object.fromEntries(rows.map(({ block, count }) => [block, count]))
}

describe('partitions', () => {
  let pool: Pool & { url: string }
  beforeAll(async () => {
    pool = await poolOn(createDatabase)
  })

  it('are opened when their time has come, and entries follow', async () => {
    await preparePartitions(pool)
    expect(await openPartition(pool, 0)).toBe(null) // nothing has been recorded
    await recording(pool, (tx) => record(tx, 1, 'f', (used) => used + 1))
    expect(await openPartition(pool, 3_600)).toBe(null)
    expect(await openPartition(pool, 0)).toBe(1)
    await recording(pool, (tx) => record(tx, 1, 'f', (used) => used + 1))
    expect(await entriesIn(pool)).toEqual({ usage_ledger_0: 1, usage_ledger_1: 1 })
    // The next is not ready: the current one goes on.
    expect(await openPartition(pool, 0)).toBe(null)
    await preparePartitions(pool)
    expect(await attachedBlocks(pool)).toEqual([0, 1, 2])
    expect(
      (await ledgerOfUser(pool, 'a', 1, ['f'], Number.MAX_SAFE_INTEGER, 9)).map(({ seq }) => seq),
    ).toEqual([BLOCK, 1])
  })

  it('are noted where whoever opened one was killed before noting it', async () => {
    await pool.query(`select setval(pg_get_serial_sequence('usage_ledger', 'seq'), $1::bigint, false)`, [
      2 * BLOCK,
    ])
    expect((await ledgerPartitions(pool)).at(-1)).toMatchObject({ block: 2, openedAt: null })
    await preparePartitions(pool)
    const [, before, opened, ahead] = await ledgerPartitions(pool)
    expect(before?.closedAt).toBe(opened?.openedAt)
    expect(opened?.openedAt).toBeTypeOf('number')
    expect(ahead).toMatchObject({ block: 3, openedAt: null })
    expect(await currentBlock(pool)).toEqual({ block: 2, isEmpty: true })
  })

  it('are made and opened once by several processes at once', async () => {
    await recording(pool, (tx) => record(tx, 1, 'f', (used) => used + 1))
    const settings = { partitionSeconds: 0, keptSeconds: null }
    const rounds = await Promise.all([1, 2, 3, 4].map(() => keepLedger([pool], settings, never)))
    expect(rounds.filter(({ opened }) => opened !== null)).toEqual([{ opened: 3, retired: [] }])
    await keepLedger([pool], settings, never)
    expect(await attachedBlocks(pool)).toEqual([0, 1, 2, 3, 4])
  })

  it('are retired by the retention setting once they have been closed for so long', async () => {
    const settings = { partitionSeconds: 86_400, keptSeconds: 86_400 }
    expect(await keepLedger([pool], settings, never)).toEqual({ opened: null, retired: [] })
    await pool.query(`update ledger_partition set opened_at = opened_at - interval '2 days' where block <= 2`)
    expect(await keepLedger([pool], settings, never)).toEqual({ opened: null, retired: [0, 1] })
    expect(await attachedBlocks(pool)).toEqual([2, 3, 4])
    expect(await unbalancedCounters(pool)).toBe(0)
    const { rows } = await pool.query(`select block, delta, entries from ledger_base order by block`)
    expect(rows).toEqual([
      { block: 0, delta: 1, entries: 1 },
      { block: 1, delta: 1, entries: 1 },
    ])
  })

  it('are neither opened nor retired while the server of another cell cannot be reached', async () => {
    await pool.query(`update ledger_partition set opened_at = opened_at - interval '2 days' where block <= 3`)
    await recording(pool, (tx) => record(tx, 1, 'f', (used) => used + 1))
    const other = openPool({ connectionString: pool.url }, { max: 1 }, silent)
    await other.end()
    const before = await ledgerPartitions(pool)
    const settings = { partitionSeconds: 0, keptSeconds: 86_400 }
    await expect(keepLedger([pool, other], settings, never)).rejects.toThrow()
    const ledgersOfBoth = [{ pool }, { pool: other }]
    await expect(retireTogether(ledgersOfBoth, 2, { stopping: never })).rejects.toThrow()
    expect(await ledgerPartitions(pool)).toEqual(before)
    const alone = await keepLedger([pool], { ...settings, partitionSeconds: 864_000 }, never)
    expect(alone).toEqual({ opened: null, retired: [2] })
  })

  it('wait for entries that are on their way', async () => {
    const slow = await pool.connect()
    await slow.query('begin')
    await record(slow, 2, 'f', (used) => used + 5)
    await preparePartitions(pool)
    expect(await openPartition(pool, 0)).toBe(4)
    let retired = false
    let told = () => {}
    const waits = new Promise<void>((resolve) => {
      told = resolve
    })
    const retiring = retirePartition(pool, 3, { stopping: never, waiting: told }).then((done) => {
      retired = done
    })
    await waits
    expect(retired).toBe(false)
    await slow.query('commit')
    slow.release()
    await retiring
    expect(retired).toBe(true)
    expect(await usedBy(pool)).toMatchObject({ '2 f': 5 })
    expect(await unbalancedCounters(pool)).toBe(0)
  })
})

/** A pool whose user is killed after so many statements; its transactions are undone. */
function dying(pool: Pool, statements: number): Pool {
  let left = statements
  const limited = <T extends object>(of: T): T =>
    new Proxy(of, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (name === 'connect') return async () => limited(await pool.connect())
        if (typeof value !== 'function') return value
        if (name !== 'query') return value.bind(target)
        return (...args: unknown[]) => {
          if (left-- <= 0) return Promise.reject(new Error('killed'))
          return value.apply(target, args)
        }
      },
    })
  return limited(pool)
}

describe('retiring', () => {
  it('keeps every counter equal to its sums and entries, whatever happens when', async () => {
    const pool = await poolOn(createDatabase)
    const path = await folder()
    const expected: Record<string, number> = {}
    let archives = 0
    let kills = 0
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          what: fc.constant('record' as const),
          uid: fc.integer({ min: 1, max: 3 }),
          feature: fc.constantFrom('f', 'g'),
          set: fc.option(fc.integer({ min: 0, max: 9 })),
          add: fc.integer({ min: 0, max: 1_000_000_000_000 }),
        }),
      },
      { weight: 2, arbitrary: fc.record({ what: fc.constant('open' as const) }) },
      {
        weight: 3,
        arbitrary: fc.record({
          what: fc.constant('retire' as const),
          file: fc.boolean(),
          statements: fc.integer({ min: 0, max: 40 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ what: fc.constant('sample' as const), late: fc.boolean() }) },
    )
    // Random steps alone may archive nothing, or kill nobody.
    const add = { what: 'record', uid: 1, feature: 'f', set: null, add: 1 } as const
    const archived = { what: 'retire', file: true, statements: 1_000 } as const
    const killed = { ...archived, statements: 3 }
    const first = [add, { what: 'open' } as const, archived, add, { what: 'open' } as const, killed]
    const retire = async (by: Pool, file: boolean) => {
      const [block] = await blocksToRetire(pool, 0)
      if (block === undefined) return
      const archive = async (totals: { entries: bigint; delta: bigint }) => {
        const head = { app: '0', block, openedAt: null, closedAt: null }
        const file = join(path, `${block}.gz`)
        const write = () => archivePartition(by, file, head, totals, () => {}, [])
        return write().catch(async (error: Error) => {
          // Of an attempt that was killed before entries were deleted.
          if (!/different content/.test(error.message)) throw error
          await rm(file)
          return write()
        })
      }
      const done = await retirePartition(by, block, {
        stopping: never,
        pagesAtOnce: 1,
        ...(file && { archive }),
      })
      if (done && file) archives++
    }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
        for (const one of steps) {
          if (one.what === 'record') {
            const becomes = (used: number) => one.set ?? used + one.add
            const key = `${one.uid} ${one.feature}`
            expected[key] = becomes(expected[key] ?? 0)
            await recording(pool, (tx) => record(tx, one.uid, one.feature, becomes))
          } else if (one.what === 'open') {
            await preparePartitions(pool)
            await openPartition(pool, 0)
          } else if (one.what === 'retire') {
            const attempt = retire(dying(pool, one.statements), one.file).catch((error: Error) => {
              if (error.message !== 'killed') throw error
              kills++
            })
            // Beside others who record.
            await recording(pool, (tx) => record(tx, 9, 'f', (used) => used + 1))
            expected['9 f'] = (expected['9 f'] ?? 0) + 1
            await attempt
          } else {
            // A user of the sample goes with all usage, also while a partition with it is being retired.
            await createUser(pool, 7)
            await recording(pool, (tx) => record(tx, 7, 'f', (used) => used + 1))
            await pool.query(
              `insert into sample_item (app_id, kind, id) values ('a', 'user', '7') on conflict do nothing`,
            )
            await preparePartitions(pool)
            if (one.late) await openPartition(pool, 0)
            const retiring = one.late ? retire(pool, false) : null
            await transactionOnce(pool, (tx) => deleteUserRows(inItsPlace(tx), 'a', 7))
            await retiring
          }
          expect(await unbalancedCounters(pool)).toBe(0)
          expect(await usedBy(pool)).toEqual(expected)
        }
      }),
      { numRuns: 8, endOnFailure: true, examples: [[first]] },
    )
    expect(archives).toBeGreaterThan(0)
    expect(kills).toBeGreaterThan(0)
    // What was archived is in the files, entry by entry.
    const { rows } = await pool.query<{ file: string; entries: number }>(
      `select file, entries from ledger_partition where file is not null`,
    )
    expect(rows).toHaveLength(archives)
    for (const { file, entries } of rows) {
      let read = 0
      await readArchive(file, () => void read++)
      expect(read).toBe(entries)
    }
  })
})

describe('an archive', () => {
  let pool: Pool & { url: string }
  let path: string
  beforeAll(async () => {
    pool = await poolOn(createDatabase)
    path = await folder()
    await recording(pool, async (tx) => {
      for (const uid of [1, 2]) await record(tx, uid, 'naïve 中\u2028', (used) => used + uid)
      await record(tx, 2, 'naïve 中\u2028', () => 0)
    })
    await preparePartitions(pool)
    await openPartition(pool, 0)
  })
  const head = { app: '0', block: 0, openedAt: null, closedAt: null }
  const write = async (name: string, totals = { entries: 3n, delta: 1n }) => {
    const archived = await archivePartition(pool, join(path, name), head, totals, () => {}, [])
    await archived.settle()
    return archived
  }

  it('has every entry, on a line of its own', async () => {
    await write('whole.gz')
    const lines = gunzipSync(await readFile(join(path, 'whole.gz')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { format: 'tollgate-ledger', version: 1, block: 0 },
      {
        appId: 'a',
        userUid: 1,
        featureId: 'naïve 中\u2028',
        seq: 1,
        delta: 1,
        used: 1,
        recordedAt: expect.any(String),
      },
      { userUid: 2, seq: 2, action: 'ADD', delta: 2, used: 2 },
      { userUid: 2, seq: 3, delta: -2, used: 0, resetPeriod: 'NEVER' },
      { entries: '3', delta: '1' },
    ])
    expect(Date.now() - Date.parse(lines[1].recordedAt)).toBeLessThan(3_600_000)
  })

  it('is used again by the next attempt if it is the same, and never replaced', async () => {
    const { sha256 } = await write('whole.gz')
    await writeFile(join(path, 'other.gz'), gzipSync('something else\n'))
    await expect(write('other.gz')).rejects.toThrow('not a complete ledger archive')
    const other = (await readFile(join(path, 'whole.gz'))).toString('latin1')
    await pool.query('update usage_ledger set used = used + 1 where seq = 1')
    await expect(write('whole.gz')).rejects.toThrow('already exists with different content')
    await pool.query('update usage_ledger set used = used - 1 where seq = 1')
    expect((await readFile(join(path, 'whole.gz'))).toString('latin1')).toBe(other)
    expect((await readArchive(join(path, 'whole.gz'), () => {})).sha256).toBe(sha256)
  })

  it('that does not agree with the sums is removed, and the entries stay', async () => {
    await expect(write('short.gz', { entries: 4n, delta: 1n })).rejects.toThrow('does not match the ledger')
    expect(await readdir(path)).not.toContain('short.gz')
    expect((await entriesIn(pool)).usage_ledger_0).toBe(3)
  })

  it.each([
    ['is cut short', (bytes: Buffer) => gzipSync(gunzipSync(bytes).subarray(0, -120)), 'truncated'],
    ['is torn off', (bytes: Buffer) => bytes.subarray(0, -40), 'damaged or truncated'],
    [
      'has another number',
      (bytes: Buffer) => gzipSync(gunzipSync(bytes).toString().replace('"used":2', '"used":3')),
      'checksum mismatch',
    ],
    [
      'goes on',
      (bytes: Buffer) => gzipSync(Buffer.concat([gunzipSync(bytes), Buffer.from('{}\n')])),
      'unexpected data after the end',
    ],
    ['is something else', () => gzipSync('{"format":"x"}\n'), 'not a ledger archive'],
    ['is no file of ours', () => Buffer.from('hello'), 'damaged'],
  ])('that %s is refused', async (name, damage, why) => {
    const file = join(path, `${name}.gz`)
    await writeFile(file, damage(await readFile(join(path, 'whole.gz'))))
    await expect(readArchive(file, () => {})).rejects.toThrow(why)
  })
})

describe('npm run ledger', () => {
  let pool: Pool & { url: string }
  let path: string
  beforeAll(async () => {
    pool = await poolOn(createDatabase)
    path = join(await folder(), 'archives')
    await pool.query(`update users set id = case uid when 1 then 'ann' else 'bob' end where uid in (1, 2)`)
    for (const block of [1, 2]) {
      await recording(pool, async (tx) => {
        for (const uid of [1, 2]) await record(tx, uid, 'f', (used) => used + 10 * block + uid)
      })
      await preparePartitions(pool)
      expect(await openPartition(pool, 0)).toBe(block)
    }
    await preparePartitions(pool)
  })

  /** What it prints, or the line that it refuses with. */
  async function ledger(...args: string[]): Promise<string[]> {
    const printed: string[] = []
    const undo: Undo = []
    const tool = {
      installation: { database: { url: pool.url, setting: 'DATABASE_URL' as const }, dataDir: '' },
      version: '0.0.0-test',
      undo,
      monotonic: () => 0,
      named: (file: string) => file,
      ...outputInto(printed),
    }
    try {
      await ledgerTool(tool, args)
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      return [error.message]
    } finally {
      for (const step of undo.reverse()) await step()
    }
    return printed
  }
  const nameOf = async (block: number) => {
    const found = (await ledgerPartitions(pool)).find((partition) => partition.block === block)
    return `ledger-000${block}-from-${new Date(found?.openedAt ?? 0).toISOString().slice(0, 10)}.ndjson.gz`
  }
  const firstFile = async () => join(path, (await readdir(path)).sort()[0] ?? '')

  it('archives what is old enough, reads it back, and says what became of it', async () => {
    expect(await ledger('archive', '--to', path)).toEqual([
      'No ledger partition was closed more than 90 days ago. Nothing to do.',
    ])
    await pool.query(
      `update ledger_partition set opened_at = opened_at - interval '100 days' where block < 2`,
    )
    expect(await ledger('archive', '--to', path)).toEqual([
      expect.stringMatching(
        /^Archived 2 entries in .*ledger-0000-from-\d{4}-\d\d-\d\d\.ndjson\.gz \(0\.0 MB\)/,
      ),
    ])
    expect(await unbalancedCounters(pool)).toBe(0)
    const file = await firstFile()
    expect(await readdir(path)).toHaveLength(1)
    expect(await ledger('check', file)).toEqual([
      `${file} is valid: 2 entries of partition 0, written by Tollgate 0.0.0-test.`,
    ])
    const deltas = async (...filter: string[]) =>
      (await ledger('read', file, ...filter)).map((line) => JSON.parse(line).delta)
    expect(await deltas()).toEqual([11, 12])
    expect(await deltas('--app', 'a', '--user', 'bob')).toEqual([12])
    expect(await deltas('--uid', '1')).toEqual([11])
    expect(await deltas('--app', 'b')).toEqual([])
    expect(await ledger('status')).toEqual([
      expect.stringMatching(/^0\t.*\t2 entries archived in .*\.ndjson\.gz on /),
      expect.stringMatching(/^1\t.* to .*MB(\tabout \d+ entries)?$/),
      expect.stringMatching(/^2\t.* to now\t/),
      '3\tnot yet in use',
    ])
  })

  it('leaves everything as it was where it cannot write', async () => {
    const blocked = join(path, 'no folder')
    await writeFile(blocked, '')
    expect(await ledger('archive', '--to', blocked, '--older-than', '0')).toEqual([
      expect.stringMatching(/no folder cannot be created/),
    ])
    // The name is taken by something else.
    await writeFile(join(path, await nameOf(1)), gzipSync('mine\n'))
    expect(await ledger('archive', '--to', path, '--older-than', '0')).toEqual([
      expect.stringContaining('is not a complete ledger archive'),
    ])
    expect((await entriesIn(pool)).usage_ledger_1).toBe(2)
    expect(await unbalancedCounters(pool)).toBe(0)
  })

  it('starts over what was killed, and nothing of two attempts mixes', async () => {
    const archives = await folder()
    const name = await nameOf(1)
    const [openedAt, closedAt] = ['2026-01-01T00:00:00.000Z', null]
    let [writing, goOn] = [() => {}, () => {}]
    const begun = new Promise<void>((resolve) => (writing = resolve))
    const woken = new Promise<void>((resolve) => (goOn = resolve))
    // Like one that was killed, it has no lock and never comes to an end; unlike one, it can be woken afterwards.
    const stuck = {
      query: async (text: string, values: unknown[]) => {
        if (!text.includes('row_to_json')) return pool.query(text, values)
        writing()
        await woken
        return { rows: [{ line: '{"appId":"a","userUid":1,"delta":7}' }] }
      },
    } as unknown as Pool
    const head = { app: '0', block: 1, openedAt, closedAt }
    const attempt = archivePartition(
      stuck,
      join(archives, name),
      head,
      { entries: 1n, delta: 7n },
      () => {},
      [],
    )
    const failed = attempt.then(
      () => null,
      (error: Error) => error,
    )
    await begun
    expect(await readdir(archives)).toHaveLength(1)
    expect(await ledger('archive', '--to', archives, '--older-than', '0')).toEqual([
      expect.stringMatching(/^Archived 2 entries in /),
    ])
    expect(await readdir(archives)).toEqual([name])
    const whole = await readFile(join(archives, name))
    goOn()
    expect(await failed).toBeInstanceOf(Error)
    expect(await readdir(archives)).toEqual([name])
    expect((await readFile(join(archives, name))).equals(whole)).toBe(true)
  })

  it('leaves no statement behind when it is killed', async () => {
    const other = await pool.connect()
    await other.query('begin; lock table ledger_base in share mode')
    const tools = openToolPool({ connectionString: pool.url }, 'DATABASE_URL')
    const client = await tools.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pid = rows[0]?.pid
    const running = client.query('delete from ledger_base').catch((error: Error) => error)
    const waiting = async () => {
      const found = await pool.query(
        `select wait_event_type as "for" from pg_stat_activity where pid = $1 and state = 'active'`,
        [pid],
      )
      return found.rows.map((row) => row.for)
    }
    await expect.poll(waiting).toEqual(['Lock'])
    // As the end of its process would.
    ;(client as unknown as { connection: Connection }).connection.stream.destroy()
    await expect.poll(waiting).toEqual([])
    expect(await running).toBeInstanceOf(Error)
    client.release(true)
    await tools.end()
    await other.query('rollback')
    other.release()
  })

  it('is the only one at it', async () => {
    const other = await pool.connect()
    await other.query(`select pg_advisory_lock(hashtext('tollgate ledger retirement'))`)
    expect(await ledger('archive', '--to', path, '--older-than', '0')).toEqual([
      'Another process is archiving or deleting old entries. Retry when it is done.',
    ])
    const settings = { partitionSeconds: 86_400, keptSeconds: 0 }
    expect(await keepLedger([pool], settings, never)).toMatchObject({ retired: [] })
    other.release(true)
  })

  it.each([
    [['archive']],
    [['archive', '--to', 'x', 'y']],
    [['status', 'x']],
    [['read']],
    [['read', 'x', '--user', 'a', '--uid', '1']],
    [['check', 'x', '--app', 'a']],
    [['--what']],
    [[]],
  ])('says how it is used instead of %j', async (args) => {
    expect((await ledger(...args)).join()).toMatch(
      /^These arguments are not valid\.\nUsage: tollgate ledger status/,
    )
  })

  it.each([
    [
      ['archive', '--to', 'x', '--older-than', 'soon'],
      /^--older-than must be a number of days from 0 to 36500\.$/,
    ],
    [['read', 'x', '--user', 'ann'], /^--user requires --app/],
    [['read', 'x', '--app', 'a', '--user', 'eve'], /^The app a has no user "eve"\.$/],
    [['check', '/nowhere/x'], /^\/nowhere\/x cannot be read/],
  ])('refuses %j', async (args, line) => {
    expect((await ledger(...args)).join()).toMatch(line)
  })
})
