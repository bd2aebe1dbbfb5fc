import { spawn } from 'node:child_process'
import { chown, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { isPostmaster } from '../../src/embedded-postgres/postmaster.ts'

import {
  answers,
  cleanUp,
  cleanups,
  expectKept,
  expectRefusal,
  expectRefusalLine,
  hold,
  isRoot,
  makeDataDir,
  ownerIsHeld,
  query,
  start,
  until,
  usedDataDir,
  write,
} from '../harness/clusters.ts'

afterEach(cleanUp)

describe('ownership', () => {
  it('refuses a second server while the first one lives, and takes over when it is killed', async () => {
    const dataDir = await usedDataDir()
    const first = hold(dataDir)
    const report = await first.report
    if (!report.connection) throw new Error(report.refused)
    await write(report.connection)

    const second = hold(dataDir)
    expectRefusalLine((await second.report).refused, dataDir, first.child.pid)
    expect(await second.exited).toEqual([1, null])
    expect(await answers(report.connection)).toBe(true)

    await first.end('SIGKILL')
    expect(await answers(report.connection)).toBe(true)
    const heir = await start(dataDir)
    expect(heir.pid).not.toBe(report.pid)
    expect(await isPostmaster(report.pid, dataDir)).toBe(false)
    await expectKept(heir.connection)
  })

  it('starts after both server and PostgreSQL were killed', async () => {
    const dataDir = await usedDataDir()
    const server = hold(dataDir)
    const report = await server.report
    if (!report.connection) throw new Error(report.refused)
    await write(report.connection)
    await server.end('SIGKILL')
    process.kill(report.pid, 'SIGKILL')
    await expectKept((await start(dataDir)).connection)
  })

  it('starts when another process has the id that a killed PostgreSQL left in its lock files', async () => {
    const dataDir = await usedDataDir()
    const { connection, stop } = await start(dataDir)
    await write(connection)
    const lockFile = await readFile(join(connection.host, 'postmaster.pid'), 'utf8')
    await stop()
    const { uid, gid } = await stat(connection.host)
    const stranger = spawn('sleep', ['600'], isRoot ? { uid, gid } : {})
    cleanups.push(async () => stranger.kill('SIGKILL'))
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) {
      await writeFile(join(connection.host, name), lockFile.replace(/^\d+/, `${stranger.pid}`))
      await chown(join(connection.host, name), uid, gid)
    }
    await expectKept((await start(dataDir)).connection)
    expect(stranger.exitCode).toBeNull()
    expect(stranger.signalCode).toBeNull()
  })

  it('lets exactly one of several simultaneous servers have a new folder, and then an abandoned one', async () => {
    const dataDir = await makeDataDir()
    for (let round = 0; round < 2; round++) {
      const servers = [hold(dataDir), hold(dataDir), hold(dataDir)]
      const reports = await Promise.all(servers.map((server) => server.report))
      const winner = servers[reports.findIndex((report) => report.connection)]
      const refusals = reports.flatMap((report) => report.refused ?? [])
      expect(refusals).toHaveLength(2)
      for (const line of refusals) expectRefusalLine(line, dataDir, winner?.child.pid)
      await Promise.all(servers.map((server) => server.end('SIGKILL')))
    }
  })

  it('lets exactly one win when the race is closest', async () => {
    const dataDir = await makeDataDir()
    for (let round = 0; round < 4; round++) {
      const results = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)])
      const lost = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
      expect(lost).toHaveLength(2)
      for (const error of lost) {
        expect(error).toBeInstanceOf(StartError)
        expectRefusalLine(error.message, dataDir)
      }
      for (const result of results) if (result.status === 'fulfilled') await result.value.stop()
    }
  })
})

describe('supervision', () => {
  it('starts PostgreSQL again after it was killed, and still owns the folder', async () => {
    const dataDir = await usedDataDir()
    const postgres = await start(dataDir)
    const { pid, connection } = postgres
    await write(connection)
    // A session at work outlives the postmaster for a while and keeps its shared memory in use.
    const session = new Client({ ...connection, ssl: false })
    session.on('error', () => {})
    await session.connect()
    session.query('select count(*) from generate_series(1, 3e6)').catch(() => {})
    process.kill(pid, 'SIGKILL')
    await until(async () => postgres.pid !== pid && (await answers(connection)))
    await expectKept(connection)
    await expectRefusal(dataDir, process.pid)
    await session.end().catch(() => {})
  })

  it('does not wait for a session that would go on working for ever', async () => {
    const said: unknown[] = []
    const postgres = await start(await usedDataDir(), (message, _detail, level) =>
      said.push([level, message]),
    )
    const { pid, connection } = postgres
    const session = new Client({ ...connection, ssl: false })
    session.on('error', () => {})
    await session.connect()
    session.query('do $$ begin loop perform 1; end loop; end $$').catch(() => {})
    await until(
      async () => (await query(connection, `select from pg_stat_activity where query ~ '^do'`)).length > 0,
    )
    process.kill(pid, 'SIGKILL')
    await until(async () => postgres.pid !== pid && (await answers(connection)))
    expect(said).toContainEqual(['error', 'PostgreSQL stopped unexpectedly; restarting it'])
    expect(said).toContainEqual(['warn', 'Terminating an orphaned PostgreSQL backend process'])
    await session.end().catch(() => {})
  })

  it('starts PostgreSQL again after it was told to stop', async () => {
    const postgres = await start(await usedDataDir())
    const { pid, connection } = postgres
    await write(connection)
    process.kill(pid, 'SIGTERM')
    await until(async () => postgres.pid !== pid && (await answers(connection)))
    await expectKept(connection)
  })

  it('takes the lock again when the session that held it is killed', async () => {
    const dataDir = await usedDataDir()
    const postgres = await start(dataDir)
    const { pid, admin } = postgres
    const [holder] = await query(
      admin,
      "select pid from pg_stat_activity where application_name like 'tollgate owner %'",
    )
    process.kill(Number(holder?.pid), 'SIGKILL')
    await until(() => ownerIsHeld(admin).catch(() => false))
    expect(postgres.pid).toBe(pid)
    await expectRefusal(dataDir, process.pid)
  })

  it('can be stopped while it is being started again', async () => {
    const dataDir = await usedDataDir()
    const postgres = await start(dataDir)
    process.kill(postgres.pid, 'SIGKILL')
    await sleep(40)
    await postgres.stop()
    expect(() => process.kill(postgres.pid, 0)).toThrow()
    expect(await answers(postgres.connection)).toBe(false)
  })
})
