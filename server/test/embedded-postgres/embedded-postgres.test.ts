import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { StartError } from '../../src/domain/errors.ts'
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'

import {
  answers,
  cleanUp,
  expectKept,
  expectRefusal,
  hold,
  isRoot,
  locationOf,
  makeDataDir,
  nobody,
  othersMayRead,
  query,
  start,
  usedDataDir,
  write,
} from '../harness/clusters.ts'

afterEach(cleanUp)

describe('starting', () => {
  it('sets up a durable UTF-8 database that is not on the network', async () => {
    const dataDir = await makeDataDir()
    const { connection } = await start(dataDir)
    const [settings] = await query(
      connection,
      `select current_setting('server_version_num')::int / 10000 as version, current_setting('fsync') as fsync,
        current_setting('synchronous_commit') as commit, current_setting('data_checksums') as checksums,
        current_setting('listen_addresses') as addresses, current_setting('server_encoding') as encoding,
        upper('äß') as upper, current_user as user, current_database() as database`,
    )
    expect(settings).toEqual({
      version: 18,
      fsync: 'on',
      commit: 'on',
      checksums: 'on',
      addresses: '',
      encoding: 'UTF8',
      upper: 'Äß',
      user: 'tollgate_service',
      database: 'tollgate',
    })
    const { mode, uid } = await stat(connection.host)
    expect(mode & 0o777).toBe(0o700)
    if (isRoot) expect(uid).not.toBe(0)
  })

  it('keeps the data over a stop, leaves nothing running and starts again at once', async () => {
    const dataDir = await usedDataDir()
    const first = await start(dataDir)
    await write(first.connection)
    await Promise.all([first.stop(), first.stop()])
    await first.stop()
    expect(() => process.kill(first.pid, 0)).toThrow()

    const began = performance.now()
    const second = await start(dataDir)
    // Half of the time for which a start waits for a folder that is still in use.
    expect(performance.now() - began).toBeLessThan(30_000)
    await expectKept(second.connection)
  })

  it('cleans up after a start that was killed while it set up the files', async () => {
    const dataDir = await makeDataDir()
    await mkdir(join(dataDir, 'postgres.new-killed', 'base'), { recursive: true })
    await start(dataDir)
    expect((await readdir(dataDir)).filter((name) => name.includes('.new-'))).toEqual([])
  })

  it('puts the socket elsewhere when the path of the data folder is too long', async () => {
    const dataDir = await makeDataDir('long'.repeat(20), 'with, "odd" names')
    const first = await start(dataDir)
    expect(first.connection.host.length).toBeLessThan(90)
    await write(first.connection)
    await first.stop()
    expect(existsSync(first.connection.host)).toBe(false)
    await expectKept((await start(dataDir)).connection)
  })

  it('accepts a data folder whose path has blanks, commas and quotes', async () => {
    const { connection } = await start(await usedDataDir('a, "b" c'))
    expect(await answers(connection)).toBe(true)
  })

  it('works below a folder that only its owner may enter', async () => {
    const dataDir = await makeDataDir('private')
    await mkdir(dirname(dataDir), { mode: 0o700 })
    const messages: string[] = []
    const first = await start(dataDir, (message) => messages.push(message))
    await write(first.connection)
    await expectRefusal(dataDir)
    await first.stop()
    if (isRoot) {
      expect(messages.filter((message) => message.includes(locationOf(dataDir) ?? '?'))).toHaveLength(1)
      expect(await stat(join(locationOf(dataDir) ?? '', 'postgres'))).toMatchObject(nobody)
    }
    await expectKept((await start(dataDir)).connection)
  })

  it('says in one line that a folder cannot be used', async () => {
    const dataDir = await makeDataDir()
    await mkdir(dirname(dataDir), { recursive: true })
    await writeFile(dataDir, 'a file')
    const error = await startEmbeddedPostgres({ dataDir, log: () => {} }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StartError)
    expect((error as StartError).message).toMatch(/^.*TOLLGATE_DATA_DIR.*$/)
  })

  // As another user than root there is nothing to switch to: then every other test covers this.
  it.runIf(othersMayRead)('works for an ordinary user', async () => {
    const dataDir = await makeDataDir()
    await mkdir(dataDir)
    await chown(dataDir, nobody.uid, nobody.gid)
    const env = { ...process.env, TMPDIR: dataDir }
    const server = hold(dataDir, { ...nobody, env })
    const report = await server.report
    expect(report.refused).toBeUndefined()
    expect(await stat(join(dataDir, 'postgres'))).toMatchObject(nobody)
    if (report.connection) await write(report.connection)
    expect(await server.end('SIGTERM')).toEqual([0, null])
    // Root carries on with that user's files, as that user.
    await expectKept((await start(dataDir)).connection)
  })
})
