import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { migrateJobs } from '../../src/start/background.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { openToolPool } from '../../src/store/connection/tool-connection.ts'
import { addJob } from '../../src/store/jobs/jobs.ts'
import { attachedBlocks, openPartition, preparePartitions } from '../../src/store/ledger/ledger-partitions.ts'
import { migrate } from '../../src/store/schema/migrate.ts'
import { databaseId, joinBackups } from '../../src/store/schema/tool-files.ts'
import { type Contents, withContents } from '../../src/tools/backup/contents.ts'
import { type Loaded, load } from '../../src/tools/backup/load.ts'
import { openBackup, verifyBackup } from '../../src/tools/backup/read-backup.ts'
import { RowSum } from '../../src/tools/backup/row-sum.ts'
import { takeBackup } from '../../src/tools/backup/take-backup.ts'
import { writeBackup } from '../../src/tools/backup/write-backup.ts'
import {
  createEmptyDatabase,
  createPlainDatabase,
  directly,
  rowsOf,
  type TestDatabase,
} from '../harness/database.ts'
import { retirePartition } from '../harness/retire-partition.ts'
import { startTestServer } from '../harness/server.ts'

const log = pino({ level: 'silent' })
const quiet = () => {}
/** The list of migrations in a backup. */
const MIGRATIONS = /"001-baseline"(,"\d{3}-[\w-]+")*/
const ODD = 'tab\t newline\n return\r backslash\\ \\. \\N quote\' "double" naïve 中 😀'

let folder: string
const cleanups: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
})
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await rm(folder, { recursive: true, force: true })
})

async function poolOn(make: () => Promise<TestDatabase>): Promise<Pool & { url: string }> {
  const database = await make()
  const pool = openToolPool({ connectionString: directly(database.url) }, 'DATABASE_URL')
  cleanups.push(database.drop, () => pool.end())
  return Object.assign(pool, { url: database.url })
}

/** A database with something in every kind of column. */
async function furnished(): Promise<Pool & { url: string }> {
  const pool = await poolOn(createPlainDatabase)
  await pool.query(`insert into app (id, name, origins) values ('a', $1, array['https://x.example', $1])`, [
    ODD,
  ])
  await pool.query(`insert into users (app_id, id, name, metadata)
    select 'a', 'u' || i, null, '{"k": "\\u0000 1e400"}' from generate_series(1, 1200) i`)
  await pool.query(`delete from users where id = 'u1200'`)
  await pool.query(`insert into secret (name, value) values ('s', '\\x00ff0a5c')`)
  await pool.query(
    `insert into usage_counter select 'a', uid, 'f', 'NEVER', '2026-01-01 00:00:00.123+00', 3 from users`,
  )
  await pool.query(`insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
    select 'a', uid, 'f', 'NEVER', '2026-01-01 00:00:00.123+00', 'ADD', d, 3, now() from users, unnest(array[1, 2]) d`)
  await pool.query(
    `insert into feature (app_id, id, name, type, metadata) values ('a', 'f', 'F', 'CONSUMABLE', '{}')`,
  )
  await pool.query(`insert into checkout_session (app_id, id, user_uid, provider, items, success_url, cancel_url)
    select 'a', 'ses_rcr_1_7', uid, 'stripe', '[]', '', '' from users where id = 'u1'`)
  await pool.query(
    `insert into recharge_rule (app_id, user_uid, feature_id, id, below, up_to, price_id, charges, is_on, reason)
    select 'a', uid, 'f', 'rcr_1', 5, 50, 'pack', 7, false, $1 from users where id = 'u1'`,
    [ODD],
  )
  await pool.query(`insert into recharge_attempt (app_id, session_id, user_uid, feature_id, amount, started_at, card)
    select 'a', 'ses_rcr_1_7', uid, 'f', 900, '2026-01-01 00:00:00.123+00', 'pm_1' from users where id = 'u1'`)
  await addJob(pool, 'handle-notice', { appId: 'a', seq: 7 }, 'a key')
  return pool
}

async function backupOf(pool: Pool, name: string): Promise<string> {
  const file = join(folder, name)
  await takeBackup(pool, '0.0.0-test', file, quiet, [])
  return file
}

const restoreInto = async (pool: Pool, file: string): Promise<Loaded> =>
  load(await openBackup(file), { pool, setting: 'DATABASE_URL', migrateJobs }, quiet)

const everything = (pool: Pool) =>
  pool
    .query<{ xml: string }>(`select schema_to_xml('public', true, false, '')::text as xml`)
    .then(({ rows }) =>
      (rows[0]?.xml ?? '')
        .split('\n')
        .filter((line) => !/schema_migration|applied_at>/.test(line))
        .sort(),
    )

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StartError)
  expect((error as StartError).message).not.toContain('\n')
  return (error as StartError).message
}

describe('a backup', () => {
  let source: Pool & { url: string }
  let file: string
  beforeAll(async () => {
    source = await furnished()
    file = await backupOf(source, 'whole.gz')
  })

  it('is restored to the same rows, numbers and jobs', async () => {
    const target = await poolOn(createEmptyDatabase)
    const loaded = await restoreInto(target, file)
    expect(loaded.unbalanced).toBe(0)
    expect(loaded.tables.find(({ name }) => name === 'users')?.rows).toBe(1199)
    for (const table of ['recharge_rule', 'recharge_attempt'])
      expect(loaded.tables.find(({ name }) => name === table)?.rows).toBe(1)
    expect(await everything(target)).toEqual(await everything(source))
    // The number of a deleted user is not given out again.
    const { rows } = await target.query(
      `insert into users (app_id, id, metadata) values ('a', 'new', '{}') returning uid`,
    )
    expect(rows).toEqual([{ uid: 1201 }])
    const jobs = await target.query(
      `select task_identifier, key, attempts, locked_at from graphile_worker.jobs`,
    )
    expect(jobs.rows).toEqual([
      { task_identifier: 'handle-notice', key: 'a key', attempts: 0, locked_at: null },
    ])
    const server = await startTestServer({ databaseUrl: target.url })
    await server.stop()
  })

  it('can be read by its owner alone, and leaves nothing else behind', async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([])
  })

  it('does not replace a file that is there', async () => {
    const before = await readFile(file)
    expect(await refusal(backupOf(source, 'whole.gz'))).toMatch(
      /whole\.gz already exists\. Choose another name/,
    )
    expect((await readFile(file)).equals(before)).toBe(true)
  })

  it('is one snapshot, whatever is written during it', async () => {
    const writer = openPool({ connectionString: source.url }, { max: 1 }, log)
    let written = 0
    const during = join(folder, 'during.gz')
    await withContents(source, '0', 'go on', (contents: Contents) => {
      const each: Contents['each'] = (take) =>
        contents.each(async (table, pieces) => {
          // Both sides of each counter move between any two tables.
          await writer.query(`with c as (update usage_counter set used = used + 1 where user_uid <= 5 returning *)
            insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
            select app_id, user_uid, feature_id, reset_period, period_start, 'ADD', 1, used, now() from c`)
          written++
          await take(table, pieces)
        })
      return writeBackup({ path: during, owner: 'o' }, { ...contents, each }, quiet, [])
    })
    await writer.end()
    expect(written).toBeGreaterThan(10)
    const target = await poolOn(createEmptyDatabase)
    expect(await restoreInto(target, during)).toMatchObject({ unbalanced: 0 })
  })

  it('leaves nothing behind when it fails', async () => {
    const failing = withContents(source, '0', 'go on', (contents) =>
      writeBackup(
        { path: join(folder, 'failed.gz'), owner: 'o' },
        {
          ...contents,
          each: async (take) => {
            await contents.each(take)
            throw new Error('the database went away')
          },
        },
        quiet,
        [],
      ),
    )
    await expect(failing).rejects.toThrow('the database went away')
    expect((await readdir(folder)).filter((name) => name.startsWith('failed'))).toEqual([])
  })

  it('starts over what was killed, and leaves alone what is being written', async () => {
    const path = join(folder, 'again.gz')
    const owner = await databaseId(source)
    const partials = async () => (await readdir(folder)).filter((name) => /^again\.gz\..*partial$/.test(name))
    let goOn = () => {}
    const woken = new Promise<void>((resolve) => {
      goOn = resolve
    })
    // Like one that was killed, it does not count as under way; unlike one, it can be woken afterwards.
    const killed = withContents(source, '0', 'go on', (contents) => {
      const each: Contents['each'] = (take) => woken.then(() => contents.each(take))
      return writeBackup({ path, owner }, { ...contents, each }, quiet, [])
    }).catch((error: Error) => error)
    await expect.poll(partials).toHaveLength(1)
    const others = `again.gz.${await databaseId(await poolOn(createPlainDatabase))}-1.partial`
    await writeFile(join(folder, others), 'of another database')

    const session = await source.connect()
    expect(await joinBackups(session, async () => {})).toBe(true)
    expect(await refusal(backupOf(source, 'again.gz'))).toMatch(
      /Another process is writing a backup to .*again\.gz/,
    )
    await backupOf(source, 'meanwhile.gz')
    session.release(true)
    // PostgreSQL notices a moment later.
    await expect.poll(() => backupOf(source, 'again.gz').catch(() => null)).toBe(path)
    expect(await partials()).toEqual([others])
    const whole = await readFile(path)
    goOn()
    expect(await killed).toBeInstanceOf(Error)
    expect((await readFile(path)).equals(whole)).toBe(true)
    await verifyBackup(path, quiet)
    await rm(join(folder, others))
  })

  const DAMAGE: [string, (whole: Buffer) => Buffer, RegExp][] = [
    ['cut off', (whole) => whole.subarray(0, whole.length - 100), /is not a complete backup/],
    ['empty', () => Buffer.alloc(0), /is not a complete backup/],
    ['no backup', () => Buffer.from('hello'), /not a Tollgate backup/],
    ['another gzip', () => gzipSync('{"hello": 1}\n'), /not a Tollgate backup/],
    ['flipped', (whole) => flip(whole), /is not a complete backup/],
    ['a changed row', (whole) => edited(whole, 'u999', 'u998'), /checksum mismatch/],
    ['a lost row', (whole) => edited(whole, /^a\t\d+\tu17\t.*\n/m, ''), /checksum mismatch/],
    [
      'more after its end',
      (whole) => gzipSync(`${gunzipSync(whole)}more\n`),
      /unexpected data after the end/,
    ],
    [
      'a newer format',
      (whole) => edited(whole, '"version":1', '"version":2'),
      /was written by a newer version of Tollgate/,
    ],
  ]
  it.each(
    DAMAGE,
  )('that is damaged (%s) is refused before anything is touched', async (name, damage, line) => {
    const damaged = join(folder, `damaged ${name}.gz`)
    await writeFile(damaged, damage(await readFile(file)))
    expect(await refusal(verifyBackup(damaged, quiet))).toMatch(line)
  })

  it('of a newer schema is refused', async () => {
    const newer = join(folder, 'newer.gz')
    await writeFile(newer, edited(await readFile(file), '"001-baseline"', '"001-baseline","999-later"'))
    const target = await poolOn(createEmptyDatabase)
    expect(await refusal(restoreInto(target, newer))).toMatch(
      /^The data was written by a newer version .* 999-later/,
    )
    expect(await tablesIn(target)).toEqual([])
  })

  it('of an older schema is restored and brought up to date', async () => {
    const old = await poolOn(createEmptyDatabase)
    await migrate(old, { to: '001-baseline' })
    await old.query(`insert into app (id, name) values ('a', 'A')`)
    const target = await poolOn(createEmptyDatabase)
    await restoreInto(target, await backupOf(old, 'older.gz'))
    const server = await startTestServer({ databaseUrl: target.url })
    await server.stop()
    expect((await target.query(`select name from app where id = 'a'`)).rows).toEqual([{ name: 'A' }])
  })

  it('of the last version before 0.1.0 is restored, and the service goes on from there', async () => {
    const target = await poolOn(createEmptyDatabase)
    const made = fileURLToPath(new URL('../fixtures/pre-release.backup', import.meta.url))
    expect(await restoreInto(target, made)).toMatchObject({ unbalanced: 0 })
    const { rows } = await target.query(
      `select (select count(*) from users) as users, (select count(*) from subscription) as subscriptions,
         (select count(*) from usage_ledger) as entries, (select sum(used)::int from usage_counter) as used,
         (select array_agg(name order by name) from secret) as secrets,
         (select array_agg(id) from token_key where revoked_at is not null) as revoked,
         (select terms from billing_template where id = 'old') as terms,
         (select json_build_array(paid_at = made_at, price_ids, quantities, billing_state)
          from provider_subscription where ref = 'sub_old') as billed`,
    )
    expect(rows).toEqual([
      {
        users: 20,
        subscriptions: 15,
        entries: 24,
        used: 72,
        // Not those that all apps shared.
        secrets: ['known-device', 'provider-accounts', 'sandbox'],
        revoked: null,
        terms: { trialDays: null, trialNeedsCard: true, promotionCodes: false },
        billed: [true, [], [], 'active'],
      },
    ])
    const server = await startTestServer({
      databaseUrl: target.url,
      env: { TOLLGATE_MASTER_KEY: Buffer.alloc(32, 5).toString('base64') },
    })
    try {
      const { admin } = server
      const note = 'tab\tand \\ back'
      expect(await admin.data('{ user(id: "renamed") { name email metadata } }')).toEqual({
        user: { name: 'user-2', email: 'u2@example.com', metadata: { n: 1, note } },
      })
      expect(
        await admin.data(`{
          subscriptions(userId: "user-3") { status package { id } }
          overrides(userId: "user-3") { mode limit }
          canUseFeature(userId: "user-3", featureId: "sso") { access }
          none: canUseFeature(userId: "user-16", featureId: "sso") { access } }`),
      ).toEqual({
        subscriptions: [{ status: 'ACTIVE', package: { id: 'pro' } }],
        overrides: [{ mode: 'ADD', limit: 50 }],
        canUseFeature: { access: true },
        none: { access: false },
      })
    } finally {
      await server.stop()
    }
  })

  it('of a version long before 0.1.0 is refused', async () => {
    const early = join(folder, 'early.gz')
    await writeFile(early, edited(await readFile(file), MIGRATIONS, '"001-initial","020-archive"'))
    const target = await poolOn(createEmptyDatabase)
    expect(await refusal(restoreInto(target, early))).toMatch(
      /^The data is from an early version before 0\.1\.0 \(its schema is at 020-archive\)/,
    )
    expect(await tablesIn(target)).toEqual([])
  })

  it('has the partitions of the ledger as they were, and what retired ones counted', async () => {
    const parted = await furnished()
    const more = (uid: number) =>
      parted.query(`with c as (update usage_counter set used = used + 1 where user_uid = ${uid} returning *)
        insert into usage_ledger (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
        select app_id, user_uid, feature_id, reset_period, period_start, 'ADD', 1, used, now() from c`)
    for (const uid of [1, 2]) {
      await preparePartitions(parted)
      expect(await openPartition(parted, 0)).toBe(uid)
      await more(uid)
    }
    expect(await retirePartition(parted, 0, { stopping: new AbortController().signal })).toBe(true)
    const target = await poolOn(createEmptyDatabase)
    expect(await restoreInto(target, await backupOf(parted, 'parted.gz'))).toMatchObject({ unbalanced: 0 })
    expect(await attachedBlocks(target)).toEqual([1, 2])
    expect(await everything(target)).toEqual(await everything(parted))
    const server = await startTestServer({ databaseUrl: target.url })
    await server.stop()
    expect(await attachedBlocks(target)).toEqual([1, 2, 3])
    const { rows } = await target.query(`insert into usage_ledger
      (app_id, user_uid, feature_id, reset_period, period_start, action, delta, used, recorded_at)
      values ('a', 1, 'f', 'NEVER', now(), 'ADD', 1, 1, now()) returning tableoid::regclass::text as block`)
    expect(rows).toEqual([{ block: 'usage_ledger_2' }])
  })

  it('is not restored over anything', async () => {
    const target = await furnished()
    const before = await everything(target)
    expect(await refusal(restoreInto(target, file))).toMatch(
      /^The target is not empty \(\d+ Tollgate tables; app: 1, .*event_outbox: at least 1000 rows.*\)\. Nothing was changed/,
    )
    expect(await everything(target)).toEqual(before)
  })

  it('that was restored halfway keeps the service from starting', async () => {
    const target = await poolOn(createEmptyDatabase)
    const contents = await openBackup(file)
    const cut: Contents = {
      ...contents,
      each: async (take) => {
        await contents.each(take)
        throw new Error('killed')
      },
    }
    await expect(load(cut, { pool: target, setting: 'DATABASE_URL', migrateJobs }, quiet)).rejects.toThrow(
      'killed',
    )
    expect((await target.query('select from users')).rowCount).toBe(0)
    expect(await refusal(startTestServer({ databaseUrl: target.url }))).toMatch(
      /^A restore into this database did not finish/,
    )
    expect(await refusal(restoreInto(target, file))).toMatch(/^A restore into this database did not finish/)
  })

  it('moves to another database directly, while nobody can write', async () => {
    const target = await poolOn(createEmptyDatabase)
    const other = openPool({ connectionString: source.url }, { max: 1 }, log)
    await withContents(source, '0', 'wait', async (contents) => {
      await expect(
        other.query(`set lock_timeout = '50ms'; insert into app (id, name) values ('late', 'Late')`),
      ).rejects.toThrow('lock timeout')
      return load(contents, { pool: target, setting: '--to', migrateJobs }, quiet)
    })
    await other.end()
    expect(await everything(target)).toEqual(await everything(source))
  })
})

const tablesIn = (pool: Pool & { url: string }) =>
  rowsOf({ connectionString: pool.url }, `select from pg_tables where schemaname = 'public'`)

function flip(whole: Buffer): Buffer {
  const flipped = Buffer.from(whole)
  const at = Math.floor(whole.length / 2)
  flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at)
  return flipped
}

function edited(whole: Buffer, what: string | RegExp, by: string): Buffer {
  const before = gunzipSync(whole).toString()
  const after = before.replace(what, by)
  expect(after).not.toBe(before)
  return gzipSync(after)
}

describe('the sum of rows', () => {
  const sumOf = (...lines: string[]) => {
    const sum = new RowSum('t')
    for (const line of lines) sum.add(Buffer.from(line))
    return sum.result()
  }
  it('does not depend on their order, nor on the pieces they come in', () => {
    expect(sumOf('a\nb\nc\n')).toEqual(sumOf('c\n', 'a\nb\n'))
  })
  it.each([
    ['a\nb\n'],
    ['a\nb\nc\nc\n'],
    ['a\nb\nd\n'],
    ['a\nb\n\n'],
    ['ab\nc\n'],
  ])('tells %j apart', (other) => {
    expect(sumOf(other).sum).not.toBe(sumOf('a\nb\nc\n').sum)
  })
})
