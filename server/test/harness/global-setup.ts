import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'
import { addCells, evenly, moveBuckets } from '../../src/operations/upkeep/cells.ts'
import { migrateJobs } from '../../src/start/background.ts'
import { readBuckets } from '../../src/store/cells/move-users.ts'
import { openPool, type Pool } from '../../src/store/connection/database.ts'
import { migrate } from '../../src/store/schema/migrate.ts'
import { allowWritingByHand, TEST_CELLS } from './cells-by-hand.ts'
import { clusterDatabase, distributeCells, dropCluster, makeTemplate, serversOf } from './citus.ts'
import { copyFolder } from './copy-folder.ts'
import { buildScripts } from './scripts.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** a PostgreSQL in which tests may make databases of their own */
    postgresUrl: string
    /** the same through a pooler; empty: there is none */
    poolerUrl: string
    /** a database there to make copies of: the schema and nothing else */
    schemaDatabase: string
    /** the servers of a Citus cluster whose coordinator that PostgreSQL is; empty: it is none */
    clusterUrls: string[]
    /** the same with one cell, also where the run has several */
    plainDatabase: string
    /** a data folder that a service's own PostgreSQL has used, to make copies of */
    usedDataDir: string
  }
}

type Teardown = () => Promise<void>

/**
 * One PostgreSQL for the whole run: the one that TOLLGATE_TEST_DATABASE_URL names, or an embedded one. Where that URL leads
 * to a pooler, TOLLGATE_TEST_DIRECT_URL is the way past it. Vitest calls this for each project in turn; the first call
 * starts it for all.
 */
export default async function setup(project: TestProject): Promise<Teardown | undefined> {
  const wholeRun = project.vitest.getRootProject()
  if (wholeRun.getProvidedContext().postgresUrl) return
  await buildScripts()
  const used = await makeDataDir()
  wholeRun.provide('usedDataDir', used.path)
  const { TOLLGATE_TEST_DATABASE_URL: named = '', TOLLGATE_TEST_DIRECT_URL: direct = '' } = process.env
  const { TOLLGATE_TEST_CITUS_URL: citus = '' } = process.env
  const cluster = citus ? await serversOf(citus) : []
  const given = citus || direct || named
  const { url, stop } = given ? { url: given, stop: async () => {} } : await startPostgres(used.path)
  const plainDatabase = `test_schema_${randomBytes(8).toString('hex')}`
  const schemaDatabase = TEST_CELLS > 1 ? `${plainDatabase}_cells` : plainDatabase
  wholeRun.provide('postgresUrl', url)
  wholeRun.provide('poolerUrl', direct && named)
  wholeRun.provide('schemaDatabase', schemaDatabase)
  wholeRun.provide('plainDatabase', plainDatabase)
  wholeRun.provide('clusterUrls', cluster)
  await execute(url, `create database ${plainDatabase}`)
  await on(url, plainDatabase, makeSchema)
  if (schemaDatabase !== plainDatabase) {
    await execute(url, `create database ${schemaDatabase} template ${plainDatabase}`)
    if (citus) await clusterDatabase(cluster, schemaDatabase)
    await on(url, schemaDatabase, makeCells)
    if (citus) await makeTemplate(cluster, schemaDatabase)
  }
  return async () => {
    if (citus) await dropCluster(cluster, schemaDatabase)
    for (const name of new Set([schemaDatabase, plainDatabase]))
      await execute(url, `drop database if exists ${name}`)
    await stop()
    await used.remove()
  }
}

/** Setting up the files takes PostgreSQL two seconds of CPU: it is done once. */
async function makeDataDir(): Promise<{ path: string; remove: Teardown }> {
  const folder = await openFolder()
  const path = join(folder, 'data')
  await (await startEmbeddedPostgres({ dataDir: path, log: () => {} })).stop()
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** As root, PostgreSQL runs under another account, which must be able to get in. */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  await chmod(folder, 0o755)
  return folder
}

async function startPostgres(used: string): Promise<{ url: string; stop: Teardown }> {
  const folder = await openFolder()
  const dataDir = join(folder, 'data')
  await copyFolder(used, dataDir)
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
  const { host, port, user, password, database } = postgres.admin
  const url = `postgresql://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  // The machine does not fail during a run. Tests that kill a PostgreSQL have one of their own.
  await execute(
    url,
    'alter system set fsync = off',
    'alter system set full_page_writes = off',
    // The kernel copies the files of a new database, at half the cost.
    'alter system set file_copy_method = clone',
    'select pg_reload_conf()',
    // Thousands of connections are opened, and each would hash the password 4096 times on both sides.
    'set scram_iterations = 1',
    `alter role ${user} password '${password}'`,
  )
  return {
    url,
    async stop() {
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function on(server: string, name: string, work: (pool: Pool) => Promise<void>): Promise<void> {
  const url = new URL(server)
  url.pathname = `/${name}`
  await withPool(url.href, work)
}

async function makeSchema(pool: Pool): Promise<void> {
  await migrate(pool)
  await migrateJobs(pool)
}

async function makeCells(pool: Pool): Promise<void> {
  await addCells(pool, TEST_CELLS - 1, () => {})
  if (process.env.TOLLGATE_TEST_CITUS_URL) await distributeCells(pool)
  const moves = evenly(await readBuckets(pool), TEST_CELLS)
  const stopping = new AbortController().signal
  await moveBuckets(pool, moves, { stopping, progress: () => {}, waiting: () => {} })
  await allowWritingByHand(pool)
}

const execute = (url: string, ...statements: string[]): Promise<void> =>
  withPool(url, async (pool) => {
    for (const statement of statements) await pool.query(statement)
  })

async function withPool(connectionString: string, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = openPool({ connectionString }, { max: 2 }, pino({ level: 'silent' }))
  await work(pool).finally(() => pool.end())
}
