import { execFile, spawnSync } from 'node:child_process'
import { chmod, cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { locateBinaries } from '../../src/embedded-postgres/places.ts'
import { connectionToRunning } from '../../src/embedded-postgres/start.ts'
import {
  answers,
  cleanUp,
  expectKept,
  hold,
  isRoot,
  query,
  start,
  usedDataDir,
  write,
} from '../harness/clusters.ts'

const refusal = (connection: Parameters<typeof query>[0]) =>
  query(connection, 'select 1').then(
    () => 'let in',
    (error: Error) => error.message,
  )

afterEach(cleanUp)

describe('who gets in', () => {
  it('needs a password from a file that only the server’s user can read', async () => {
    const dataDir = await usedDataDir()
    const { connection, admin } = await start(dataDir)
    for (const role of [connection, admin]) {
      expect(await refusal({ ...role, password: 'a guess' })).toContain('password authentication failed')
      expect(await refusal({ ...role, password: '' })).toMatch(/password/)
      expect(await answers(role)).toBe(true)
    }
    const file = join(dataDir, 'pgpass')
    const { mode, uid } = await stat(file)
    expect([mode & 0o777, uid]).toEqual([0o600, process.getuid?.()])
    expect(await readFile(join(connection.host, 'pg_hba.conf'), 'utf8')).not.toMatch(/^[^#]*\btrust\b/m)
  })

  it.runIf(isRoot)(
    'is not the account that PostgreSQL runs as, nor any other without the password',
    async () => {
      const dataDir = await usedDataDir()
      const { connection } = await start(dataDir)
      const { uid, gid } = await stat(connection.host)
      // What a program of that account can try: the socket, and the file.
      const tried = spawnSync('cat', [join(dataDir, 'pgpass')], { uid, gid })
      expect(tried.status).not.toBe(0)
      expect(String(tried.stdout)).toBe('')
      const other = spawnSync('ls', [connection.host], { uid: uid - 1, gid })
      expect(String(other.stderr)).toContain('Permission denied')
    },
  )

  it('the service is no superuser, owns its database, and cannot get at the administrator’s', async () => {
    const { connection } = await start(await usedDataDir())
    const [role] = await query(
      connection,
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
         pg_get_userbyid((select datdba from pg_database where datname = current_database())) as owner
       from pg_roles where rolname = current_user`,
    )
    expect(role).toEqual({
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
      owner: 'tollgate_service',
    })
    expect(await refusal({ ...connection, database: 'postgres' })).toContain('permission denied')
    await expect(query(connection, `select pg_read_file('pg_hba.conf')`)).rejects.toThrow('permission denied')
    await expect(query(connection, `copy (select 1) to program 'true'`)).rejects.toThrow('permission denied')
    await query(connection, 'create schema own; create table own.made (id int)')
  })

  it('an administrator finds the running one by its data folder', async () => {
    const dataDir = await usedDataDir()
    expect(await connectionToRunning(dataDir)).toBeUndefined()
    const { admin } = await start(dataDir)
    expect(await connectionToRunning(dataDir)).toEqual(admin)
    expect(await query(admin, 'select rolsuper from pg_roles where rolname = current_user')).toEqual([
      { rolsuper: true },
    ])
  })
})

/** An older cluster without passwords: anyone who reaches the socket is superuser. */
async function oldCluster(): Promise<string> {
  const dataDir = await usedDataDir()
  const cluster = join(dataDir, 'postgres')
  const { uid, gid } = await stat(cluster)
  const account = isRoot ? { uid, gid } : undefined
  const binaries = await locateBinaries(account)
  await rm(join(dataDir, 'pgpass'))
  const hba = join(cluster, 'pg_hba.conf')
  await writeFile(hba, (await readFile(hba, 'utf8')).replaceAll('scram-sha-256', 'trust'))
  const undo = [
    'alter role tollgate password null',
    'alter database tollgate owner to tollgate',
    'drop role tollgate_service',
  ]
  const things = [
    'create table kept (value int)',
    'insert into kept values (42)',
    'create schema jobs',
    "create type jobs.state as enum ('new')",
    'create type jobs.pair as (a int, b int)',
    'create domain jobs.positive as int check (value > 0)',
    'create table jobs.job (id int generated always as identity, old serial, state jobs.state) partition by list (state)',
    "create table jobs.job_new partition of jobs.job for values in ('new')",
    'create sequence jobs.free',
    'create view jobs.seen as select * from jobs.job',
    'create function jobs.add(a int) returns int language sql return a + 1',
  ]
  for (const [database, statements] of [
    ['postgres', undo],
    ['tollgate', things],
  ] as const) {
    const run = promisify(execFile)(binaries.postgres, ['--single', '-D', cluster, database], {
      cwd: '/',
      ...account,
    })
    run.child.stdin?.end(statements.map((statement) => `${statement};\n`).join(''))
    const { stderr } = await run
    expect(stderr).not.toMatch(/ERROR|FATAL/)
  }
  return dataDir
}

const owners = `
  select distinct pg_get_userbyid(owner) as owner from (
    select relowner as owner, relnamespace as space from pg_class
    union all select proowner, pronamespace from pg_proc
    union all select typowner, typnamespace from pg_type
    union all select nspowner, oid from pg_namespace where nspname <> 'public') as things
  where space::regnamespace::text in ('public', 'jobs')`

describe('a cluster from before there were passwords', () => {
  it('asks for them from the next start on, and what the superuser had is the service’s', async () => {
    const dataDir = await oldCluster()
    const first = await start(dataDir)
    await expectKept(first.connection)
    expect(await query(first.connection, owners)).toEqual([{ owner: 'tollgate_service' }])
    expect(await query(first.connection, 'select current_user as user')).toEqual([
      { user: 'tollgate_service' },
    ])
    expect(await refusal({ ...first.admin, password: 'a guess' })).toContain('password authentication failed')
    await query(first.connection, 'alter table jobs.job add more int; drop schema jobs cascade')
    await first.stop()
    await expectKept((await start(dataDir)).connection)
  })

  it('is upgraded by one of several servers that start at once', async () => {
    const dataDir = await oldCluster()
    const results = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)])
    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(won).toHaveLength(1)
    for (const { connection, admin } of won) {
      await expectKept(connection)
      expect(await answers(admin)).toBe(true)
    }
    expect((await readdir(dataDir)).filter((name) => name.startsWith('pgpass'))).toEqual(['pgpass'])
  })

  it('is upgraded although its server was killed and PostgreSQL still runs', async () => {
    const dataDir = await oldCluster()
    // A start that gets only as far as a running PostgreSQL that trusts everyone.
    const server = hold(dataDir)
    const report = await server.report
    if (!report.connection) throw new Error(report.refused)
    const hba = join(dataDir, 'postgres', 'pg_hba.conf')
    const asking = await readFile(hba, 'utf8')
    await writeFile(hba, asking.replaceAll('scram-sha-256', 'trust'))
    await query(report.admin, 'select pg_reload_conf()')
    await server.end('SIGKILL')
    await rm(join(dataDir, 'pgpass'))
    const { connection } = await start(dataDir)
    await expectKept(connection)
    expect(await refusal({ ...connection, password: 'a guess' })).toContain('password authentication failed')
    expect(await readFile(hba, 'utf8')).toBe(asking)
  })
})

describe('passwords', () => {
  it('that are lost are replaced', async () => {
    const dataDir = await usedDataDir()
    const first = await start(dataDir)
    await write(first.connection)
    await first.stop()
    await rm(join(dataDir, 'pgpass'))
    const second = await start(dataDir)
    expect(second.connection.password).not.toBe(first.connection.password)
    await expectKept(second.connection)
    expect(await refusal(first.connection)).toContain('password authentication failed')
  })

  it('a start killed before PostgreSQL had them leaves nothing that is trusted', async () => {
    const dataDir = await usedDataDir()
    await cp(join(dataDir, 'pgpass'), join(dataDir, 'pgpass.new'))
    const draft = await readFile(join(dataDir, 'pgpass.new'), 'utf8')
    await writeFile(join(dataDir, 'pgpass.new'), draft.replaceAll(/:[0-9a-f]+$/gm, `:${'ab'.repeat(24)}`))
    await chmod(join(dataDir, 'pgpass.new'), 0o600)
    const { connection } = await start(dataDir)
    expect(await answers(connection)).toBe(true)
    expect(await readdir(dataDir)).not.toContain('pgpass.new')
  })
})
