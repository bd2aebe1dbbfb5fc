import { spawnSync } from 'node:child_process'
import { chmod, cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { connectionToRunning } from '../../src/embedded-postgres/start.ts'
import {
  answers,
  cleanUp,
  expectKept,
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
